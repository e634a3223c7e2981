/** What the tests of desktops need of each. */
import type { WindowRig } from "../contract/window-source.ts";
import type { DesktopSession } from "./desktop-session.ts";

export interface DesktopRig extends WindowRig {
  readonly session: DesktopSession;
}
