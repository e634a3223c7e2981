/**
 * Asks the daemon for what a view shows, and asks again when something changed. It promises that what was shown stays
 * while the next is on its way, and that a lost connection is told of by the page's banner alone.
 */
import { untracked, useSignal, useSignalEffect, type ReadonlySignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { createLoader, type Loaded, type Loader } from "./loader.ts";
import { usePage } from "./page.ts";

/**
 * What `load` gives, asked anew whenever `key` changes and, with `live`, whenever the daemon tells of a
 * change. An answer for another key is not kept.
 */
export function useLoad<Answer>(
  key: string,
  load: (signal: AbortSignal) => Promise<Answer>,
  options: { readonly live?: boolean; readonly keepAcrossKeys?: boolean } = {},
): ReadonlySignal<Loaded<Answer>> {
  const { connection } = usePage();
  const { live = true, keepAcrossKeys = false } = options;
  const loaded = useSignal<Loaded<Answer>>({ answer: null, refused: null, loading: true });
  const wanted = useSignal(key);
  const loadNow = useRef(load);
  loadNow.current = load;
  const loader = useRef<Loader | null>(null);
  loader.current ??= createLoader<Answer>({
    load: async (signal) => loadNow.current(signal),
    onLoaded: (next) => {
      loaded.value = next;
    },
    onError: connection.report,
    keepAcrossKeys,
  });

  useEffect(() => {
    wanted.value = key;
  }, [key, wanted]);
  useSignalEffect(() => {
    // Both are read here, so that a change of either asks again.
    const [asked] = [wanted.value, live ? connection.revision.value : 0];
    untracked(() => loader.current?.want(asked));
  });
  useEffect(() => () => loader.current?.close(), []);
  return loaded;
}
