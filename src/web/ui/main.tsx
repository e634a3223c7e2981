/** Puts the page on the screen, once its scripts are there. */
import { render } from "preact";
import { App } from "./app.tsx";
import { createPage, PageContext } from "./page.ts";

const root = document.getElementById("page");
if (root !== null) {
  const page = createPage();
  render(
    <PageContext.Provider value={page}>
      <App />
    </PageContext.Provider>,
    root,
  );
}
