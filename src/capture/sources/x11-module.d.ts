/** The part of npm `x11` that is used here; the package has no types of its own. */
declare module "x11" {
  import type { EventEmitter } from "node:events";
  import type { Duplex } from "node:stream";

  /** A reply callback must return true, or the library emits the error a second time on the client. */
  export type Reply<T> = (error: Error | null | undefined, value: T) => boolean;

  export interface Property {
    readonly type: number;
    /** Bits per element: 8, 16 or 32. */
    readonly format: number;
    readonly bytesAfter: number;
    readonly data: Buffer;
  }

  export interface XEvent {
    readonly name: string;
    readonly wid: number;
    /** Of a window that was moved or restacked: which one; `wid` is then the one that heard of it. */
    readonly wid1?: number;
    readonly atom?: number;
    /** For focus events: where the change stands relative to the window (`NotifyAncestor` 0 … `NotifyDetailNone` 7). */
    readonly detail?: number;
    /** Of a window that was mapped: whether no window manager is to touch it. */
    readonly overrideRedirect?: boolean;
  }

  export interface GeometryReply {
    readonly xPos: number;
    readonly yPos: number;
    readonly width: number;
    readonly height: number;
  }

  export interface ScreenSaver {
    readonly QueryInfo: (
      drawable: number,
      reply: Reply<{ readonly idle: number; readonly state: number }>,
    ) => void;
  }

  export interface RandR {
    readonly GetScreenResourcesCurrent: (
      window: number,
      reply: Reply<{ readonly outputs: readonly number[] }>,
    ) => void;
    readonly GetOutputInfo: (
      output: number,
      configTime: number,
      reply: Reply<{ readonly name: string | Buffer }>,
    ) => void;
  }

  export interface Screen {
    readonly root: number;
  }

  export interface XClient extends EventEmitter {
    /** Names to atoms. The library shares one object among all connections, see x11-connection.ts. */
    atoms: Record<string, number>;
    readonly InternAtom: (onlyIfExists: boolean, name: string, reply: Reply<number>) => void;
    readonly GetProperty: (
      remove: 0 | 1,
      window: number,
      property: number,
      type: number,
      offsetWords: number,
      maxWords: number,
      reply: Reply<Property>,
    ) => void;
    readonly ChangeWindowAttributes: (
      window: number,
      values: { readonly eventMask: number },
      reply: Reply<unknown>,
    ) => void;
    readonly GetInputFocus: (reply: Reply<{ readonly focus: number }>) => void;
    readonly QueryTree: (
      window: number,
      reply: Reply<{ readonly parent: number; readonly children: readonly number[] }>,
    ) => void;
    readonly GetGeometry: (window: number, reply: Reply<GeometryReply>) => void;
    readonly QueryPointer: (window: number, reply: Reply<{ readonly child: number }>) => void;
    readonly QueryExtension: (name: string, reply: Reply<{ readonly present: number }>) => void;
    readonly require: {
      (name: "screen-saver", reply: Reply<ScreenSaver>): void;
      (name: "randr", reply: Reply<RandR>): void;
    };
  }

  export interface X11Module {
    readonly createClient: (
      options: {
        readonly display: string;
        readonly stream: Duplex;
        /** Given also when empty: without it the library reads files and writes to the console. */
        readonly auth: { readonly name: string; readonly data: string };
        readonly disableBigRequests: boolean;
        /** Requests wait for each other until the event loop looks for input again. */
        readonly bufferRequests?: { readonly flushOnReply: boolean };
      },
      ready: (
        error: Error | null | undefined,
        display: { readonly client: XClient; readonly screen: readonly Screen[] },
      ) => void,
    ) => XClient;
  }

  const x11: X11Module;
  export default x11;
}
