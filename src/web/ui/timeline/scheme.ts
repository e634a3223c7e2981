/** Whether the page is light or dark now, as the owner's system wishes. */
import { useEffect, useState } from "preact/hooks";
import type { Scheme } from "./colours.ts";

export function useScheme(): Scheme {
  const [dark, setDark] = useState(() => matchMedia(DARK).matches);
  useEffect(() => {
    const query = matchMedia(DARK);
    const onChange = (): void => setDark(query.matches);
    query.addEventListener("change", onChange);
    return () => query.removeEventListener("change", onChange);
  }, []);
  return dark ? "dark" : "light";
}

const DARK = "(prefers-color-scheme: dark)";
