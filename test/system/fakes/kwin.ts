/**
 * A stand-in for KWin on a private bus. It loads and runs scripts as KWin does, in an engine of their own,
 * with the names of Plasma 5 or of Plasma 6.
 */
import { readFileSync } from "node:fs";
import { createContext, runInContext } from "node:vm";
import { type BusService, openBusService } from "./bus-service.ts";

export interface FakeWindow {
  readonly setCaption: (caption: string) => void;
  readonly activate: () => void;
  /** Its signals throw from now on, as those of a deleted object do. */
  readonly destroy: () => void;
}

export interface FakeKwin {
  readonly service: BusService;
  readonly addWindow: (
    caption: string,
    resourceClass: string,
    options?: { readonly pid?: number; readonly desktopWindow?: boolean },
  ) => FakeWindow;
  readonly activateNothing: () => void;
  /** Names of the scripts that run. */
  readonly scripts: () => readonly string[];
  readonly unloadAll: () => void;
  readonly callCount: () => number;
  readonly close: () => void;
}

interface Signal {
  readonly connect: (listener: (argument: unknown) => void) => void;
  readonly disconnect: (listener: (argument: unknown) => void) => void;
  readonly emit: (argument?: unknown) => void;
}

export async function openFakeKwin(
  address: string,
  plasma: 5 | 6,
  options: { readonly silent?: boolean } = {},
): Promise<FakeKwin> {
  const service = await openBusService(address);
  const activated = createSignal();
  const workspace: Record<string, unknown> =
    plasma === 6
      ? { windowActivated: activated, activeWindow: null }
      : { clientActivated: activated, activeClient: null };
  const activeName = plasma === 6 ? "activeWindow" : "activeClient";
  /** File by name. */
  const loaded = new Map<string, string>();
  const running = new Set<string>();
  let windowCount = 0;
  let calls = 0;

  const run = (file: string): void => {
    const context = createContext({
      workspace,
      QTimer: FakeTimer,
      callDBus: (
        destination: string,
        path: string,
        iface: string,
        member: string,
        ...args: unknown[]
      ) => {
        calls += 1;
        if (options.silent === true) return;
        const [focused, caption, name, pid, id] = args;
        void service.call(destination, path, iface, member, "bssis", [
          focused,
          caption,
          name,
          pid,
          id,
        ]);
      },
    });
    runInContext(readFileSync(file, "utf8"), context);
  };

  service.answer("org.kde.kwin.Scripting.loadScript", "i", ([file, name]) => {
    if (loaded.has(String(name))) return [-1];
    loaded.set(String(name), String(file));
    return [loaded.size - 1];
  });
  service.answer("org.kde.kwin.Scripting.unloadScript", "b", ([name]) => {
    running.delete(String(name));
    return [loaded.delete(String(name))];
  });
  service.answer("org.kde.kwin.Scripting.isScriptLoaded", "b", ([name]) => [
    loaded.has(String(name)),
  ]);
  service.answer("org.kde.kwin.Scripting.start", "", () => {
    for (const [name, file] of loaded) {
      // As KWin does: the file is read after the answer, and what runs already goes on.
      if (!running.has(name)) setImmediate(() => run(file));
      running.add(name);
    }
    return [];
  });
  await service.own("org.kde.KWin");

  const activate = (window: unknown): void => {
    workspace[activeName] = window;
    activated.emit(window);
  };
  return {
    service,
    addWindow: (caption, resourceClass, { pid = 0, desktopWindow = false } = {}) => {
      const captionChanged = createSignal();
      const internalId = `{${String((windowCount += 1))}}`;
      const window = { caption, resourceClass, pid, desktopWindow, captionChanged, internalId };
      return {
        setCaption: (next) => {
          window.caption = next;
          captionChanged.emit();
        },
        activate: () => activate(window),
        destroy: () => {
          Object.defineProperty(window, "captionChanged", {
            get: () => {
              throw new TypeError("the object was deleted");
            },
          });
        },
      };
    },
    activateNothing: () => activate(null),
    scripts: () => [...loaded.keys()],
    unloadAll: () => loaded.clear(),
    callCount: () => calls,
    close: service.close,
  };
}

function createSignal(): Signal {
  const listeners = new Set<(argument: unknown) => void>();
  return {
    connect: (listener) => void listeners.add(listener),
    disconnect: (listener) => void listeners.delete(listener),
    emit: (argument) => {
      for (const listener of listeners) listener(argument);
    },
  };
}

/** As much of QTimer as scripts see. */
class FakeTimer {
  readonly timeout = createSignal();
  singleShot = false;
  interval = 0;
  active = false;

  start(): void {
    this.active = true;
    const timer = setTimeout(() => {
      this.active = false;
      this.timeout.emit();
    }, this.interval);
    timer.unref();
  }
}
