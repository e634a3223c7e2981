/**
 * Notices when the settings are saved. It hides how editors save (a new file in the place of the old one, in
 * several steps) and promises one call a moment after the last of them, also when the file comes to be or goes.
 */
import { mkdirSync, watch, type FSWatcher } from "node:fs";
import { basename, dirname } from "node:path";
import { reasonForLog, type Log } from "../log.ts";

/** Editors write, move and set the rights of a file within so long. */
const SETTLE_MS = 200;

/** Calls `onSaved` after each change of `file`, whose folder is made if need be, until it is closed. */
export function watchSettings(
  file: string,
  onSaved: () => void,
  log: Log,
): { readonly close: () => void } {
  let timer: NodeJS.Timeout | null = null;
  let watcher: FSWatcher | null = null;
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    watcher = watch(dirname(file), { persistent: false }, (_event, name) => {
      if (name !== null && name !== basename(file)) return;
      timer ??= setTimeout(() => {
        timer = null;
        onSaved();
      }, SETTLE_MS);
      timer.refresh();
    });
    watcher.on("error", giveUp);
  } catch (thrown) {
    giveUp(thrown);
  }
  return {
    close: () => {
      if (timer !== null) clearTimeout(timer);
      watcher?.close();
    },
  };

  /** Such as on a file system without notices: then new rules count after a restart, as all other settings. */
  function giveUp(thrown: unknown): void {
    log.warn("changes of the settings are not noticed", { reason: reasonForLog(thrown) });
  }
}
