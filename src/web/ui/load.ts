/**
 * Asks the daemon for what a view shows, and asks again when something changed. It promises that an older
 * answer never replaces a newer one, that what was shown stays while the next is on its way, and that a lost
 * connection is told of by the page's banner alone.
 */
import { useSignal, useSignalEffect, type ReadonlySignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { RequestError } from "./api-client.ts";
import { usePage } from "./page.ts";

export interface Loaded<Answer> {
  /** The newest answer; null until the first. */
  readonly answer: Answer | null;
  /** Why the newest request was refused; null when it was not. */
  readonly refused: RequestError | null;
  /** True while an answer is on its way. */
  readonly loading: boolean;
}

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
  const pending = useRef<AbortController | null>(null);
  const shownKey = useRef(key);

  useEffect(() => {
    wanted.value = key;
  }, [key, wanted]);
  useSignalEffect(() => {
    // Both are read here, so that a change of either asks again.
    const [asked] = [wanted.value, live ? connection.revision.value : 0];
    pending.current?.abort();
    const controller = new AbortController();
    pending.current = controller;
    const kept = asked === shownKey.current || keepAcrossKeys ? loaded.peek().answer : null;
    shownKey.current = asked;
    loaded.value = { answer: kept, refused: null, loading: true };
    loadNow.current(controller.signal).then(
      (answer) => {
        if (controller.signal.aborted) return;
        loaded.value = { answer, refused: null, loading: false };
      },
      (error: unknown) => {
        if (controller.signal.aborted) return;
        connection.report(error);
        const refused = error instanceof RequestError && error.failure === "refused" ? error : null;
        loaded.value = { ...loaded.peek(), refused, loading: false };
      },
    );
  });
  useEffect(() => () => pending.current?.abort(), []);
  return loaded;
}
