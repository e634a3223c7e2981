/** What only the tests use of npm `x11`: making windows, and its X server in JavaScript. */
import type { Duplex } from "node:stream";

declare module "x11" {
  interface XClient {
    readonly AllocID: () => number;
    readonly CreateWindow: (
      id: number,
      parent: number,
      x: number,
      y: number,
      width: number,
      height: number,
      borderWidth: number,
      depth: number,
      windowClass: number,
      visual: number,
      values: { readonly backgroundPixel?: number; readonly overrideRedirect?: 0 | 1 },
    ) => void;
    readonly MapWindow: (window: number) => void;
    readonly UnmapWindow: (window: number) => void;
    readonly LowerWindow: (window: number) => void;
    readonly DestroyWindow: (window: number) => void;
    readonly SetInputFocus: (window: number, revertTo: number) => void;
    /** mode 0: replace. */
    readonly ChangeProperty: (
      mode: number,
      window: number,
      name: number,
      type: number,
      bitsPerUnit: 8 | 16 | 32,
      data: Buffer,
    ) => void;
    readonly DeleteProperty: (window: number, name: number) => void;
    readonly SendClientMessage: (
      destination: number,
      window: number,
      type: number,
      format: 32,
      data: readonly number[],
    ) => void;
  }

  export interface X11Module {
    readonly createServer: (options: { readonly width: number; readonly height: number }) => {
      readonly addClientStream: (stream: Duplex) => unknown;
    };
  }
}
