/**
 * What lies over the whole X screen and is no window to the window manager: a screen locker. It hides how such a window is
 * known, and promises that one which lies under the windows, as some desktops' backgrounds do, is none.
 */
import { WindowGone, type X11Connection, type XEvent } from "./x11-connection.ts";

export interface CoverWatch {
  /** Takes an event of the root window. Resolves true when something came to cover the screen, moved, or left it. */
  readonly take: (event: XEvent) => Promise<boolean>;
  /** The window that covers the screen above `window`, which may lie in a frame of the window manager's; 0: none does. */
  readonly above: (window: number) => Promise<number>;
}

/** Needs the events of the root window's children (`SubstructureNotify`). */
export function createCoverWatch(connection: X11Connection): CoverWatch {
  const { root } = connection;
  const covers = new Set<number>();

  /** Windows that no window manager is to touch (override-redirect) are menus and hints, but for those as large as the screen. */
  async function isCover(window: number): Promise<boolean> {
    const [screen, own, name] = await Promise.all([
      connection.geometry(root),
      connection.geometry(window),
      // What does not say what it is cannot be told of.
      connection.property(window, "wmClass", 4),
    ]);
    return (
      name !== null &&
      own.x <= 0 &&
      own.y <= 0 &&
      own.x + own.width >= screen.width &&
      own.y + own.height >= screen.height
    );
  }

  async function frameOf(window: number): Promise<number> {
    for (let frame = window; ;) {
      const parent = await connection.parentOf(frame);
      if (parent === root || parent === 0) return frame;
      frame = parent;
    }
  }

  return {
    take: async ({ name, wid, wid1 = 0, overrideRedirect }) => {
      if (name === "UnmapNotify" || name === "DestroyNotify") return covers.delete(wid);
      // It may have gone below the windows.
      if (name === "ConfigureNotify") return covers.has(wid1);
      if (name !== "MapNotify" || overrideRedirect !== true) return false;
      try {
        if (!(await isCover(wid))) return false;
        covers.add(wid);
        return true;
      } catch {
        // It closed at once, or the connection broke, which is told otherwise.
        return false;
      }
    },
    above: async (window) => {
      if (covers.size === 0 || window === 0) return 0;
      try {
        const [frame, stack] = await Promise.all([frameOf(window), connection.childrenOf(root)]);
        return stack.findLast((each, at) => covers.has(each) && at > stack.indexOf(frame)) ?? 0;
      } catch (error) {
        if (error instanceof WindowGone) return 0;
        throw error;
      }
    },
  };
}
