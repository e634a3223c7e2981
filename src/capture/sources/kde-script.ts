/**
 * The script that KWin runs for us. It hides the names that changed between Plasma 5 and 6 and promises one
 * D-Bus call per change of focus, and at most two a second for a title that never stops changing.
 *
 * https://develop.kde.org/docs/plasma/kwin/api/
 */

/** Where the script reports to, on our own connection. */
export const KWIN_SINK = {
  path: "/org/activityd/Focus",
  interface: "org.activityd.Focus",
  member: "Active",
} as const;

/** Titles are told at once and then not again for this long. */
const TITLE_PAUSE_MS = 500;

/**
 * The script for a connection with this unique name. It calls
 * `Active(focused: boolean, caption: string, class: string, pid: number, window: string)`, where `window` is
 * the same for the same window.
 */
export function renderKwinScript(uniqueName: string): string {
  return `"use strict";
(function () {
  const target = ${JSON.stringify([uniqueName, KWIN_SINK.path, KWIN_SINK.interface, KWIN_SINK.member])};
  const activated = workspace.windowActivated || workspace.clientActivated;
  let current = null;
  let changed = false;
  const pause = new QTimer();
  pause.singleShot = true;
  pause.interval = ${TITLE_PAUSE_MS};

  function tell() {
    changed = false;
    const window = current;
    if (window === null) {
      callDBus(target[0], target[1], target[2], target[3], false, "", "", 0, "");
      return;
    }
    const name = String(window.resourceClass || window.resourceName || "");
    callDBus(
      target[0], target[1], target[2], target[3],
      true, String(window.caption), name, window.pid | 0, String(window.internalId)
    );
  }

  function onCaption() {
    if (pause.active) {
      changed = true;
      return;
    }
    tell();
    pause.start();
  }

  pause.timeout.connect(function () {
    if (!changed) return;
    tell();
    pause.start();
  });

  function onActivated(window) {
    if (current !== null) {
      try {
        current.captionChanged.disconnect(onCaption);
      } catch (error) {
        // The window is closed and took its signals with it.
      }
    }
    // The desktop itself has the focus when nothing else has.
    current = window && !window.desktopWindow ? window : null;
    if (current !== null) current.captionChanged.connect(onCaption);
    tell();
  }

  activated.connect(onActivated);
  onActivated(workspace.activeWindow || workspace.activeClient || null);
})();
`;
}
