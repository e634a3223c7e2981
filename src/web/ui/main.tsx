/** Puts the page on the screen, once its scripts are there. */
import type { ReadonlySignal } from "@preact/signals";
import { render, type JSX } from "preact";
import { App } from "./app.tsx";
import { createPage, PageContext, type Page } from "./page.ts";

const root = document.getElementById("page");
if (root !== null) render(<Root pages={createPage()} />, root);

function Root(props: { readonly pages: ReadonlySignal<Page> }): JSX.Element {
  const page = props.pages.value;
  return (
    <PageContext.Provider value={page}>
      {/* In another zone everything begins anew: no view holds a time that it read by the clock of before. */}
      <App key={page.formats.timeZone} />
    </PageContext.Provider>
  );
}
