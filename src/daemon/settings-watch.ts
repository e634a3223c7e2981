/**
 * Notices when the settings are saved. It hides how editors save (a new file in the place of the old one, in
 * several steps) and promises one call a moment after the last of them, also when the file comes to be or goes.
 */
import { statSync, watch, type FSWatcher } from "node:fs";
import { basename, dirname } from "node:path";
import { configTarget } from "../config.ts";
import { reasonForLog, type Log } from "../log.ts";
import { makeFolder } from "../make-folder.ts";

/** Editors write, move and set the rights of a file within so long. */
const SETTLE_MS = 200;

export interface SettingsWatch {
  /** Watches the folders anew that are others than those that are watched, and tells it as a change. Says whether any is. */
  readonly keep: () => boolean;
  readonly close: () => void;
}

/** Calls `onSaved` after each change of `file`, whose folder is made if need be, until it is closed. */
export function watchSettings(file: string, onSaved: () => void, log: Log): SettingsWatch {
  let timer: NodeJS.Timeout | null = null;
  /** What is watched: the file's own folder, and that of the file which it is a link to. */
  const watchers = new Map<
    string,
    { readonly watcher: FSWatcher; readonly folder: string | null }
  >();
  try {
    makeFolder(dirname(file));
    watchAll();
  } catch (thrown) {
    giveUp(thrown);
  }
  return {
    keep: () => {
      const gone = [...watchers].filter(([path, { folder }]) => markOf(dirname(path)) !== folder);
      // One that is not there yet is watched when it comes.
      const back = gone.filter(([path]) => markOf(dirname(path)) !== null);
      if (back.length === 0) return false;
      for (const [path, { watcher }] of back) {
        watcher.close();
        watchers.delete(path);
      }
      watchAll();
      onSaved();
      return true;
    },
    close: () => {
      if (timer !== null) clearTimeout(timer);
      for (const { watcher } of watchers.values()) watcher.close();
    },
  };

  function watchAll(): void {
    const wanted = [...new Set([file, configTarget(file)])];
    for (const [path, { watcher }] of watchers) {
      if (wanted.includes(path)) continue;
      watcher.close();
      watchers.delete(path);
    }
    for (const path of wanted) {
      if (watchers.has(path)) continue;
      watchers.set(path, { folder: markOf(dirname(path)), watcher: watchOne(path) });
    }
  }

  function watchOne(path: string): FSWatcher {
    const watcher = watch(dirname(path), { persistent: false }, (_event, name) => {
      if (name !== null && name !== basename(path)) return;
      timer ??= setTimeout(() => {
        timer = null;
        try {
          // It may be a link now, or one to elsewhere.
          watchAll();
        } catch (thrown) {
          giveUp(thrown);
        }
        onSaved();
      }, SETTLE_MS);
      timer.refresh();
    });
    watcher.on("error", giveUp);
    return watcher;
  }

  /** Such as on a file system without notices: then new rules count after a restart, as all other settings. */
  function giveUp(thrown: unknown): void {
    log.warn("changes of the settings are not noticed", { reason: reasonForLog(thrown) });
  }
}

/** A folder as the system numbers it: one that was put in its place is another. Null when there is none. */
function markOf(folder: string): string | null {
  const stat = statSync(folder, { bigint: true, throwIfNoEntry: false });
  return stat === undefined ? null : `${stat.dev}:${stat.ino}`;
}
