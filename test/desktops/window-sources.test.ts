/** The window backends of the desktops that are heavy to install, against the one contract. */
import { describeWindowSource } from "../contract/window-source.ts";
import { openGnomeRig } from "./gnome-rig.ts";
import { openKwinRig } from "./kwin-rig.ts";

describeWindowSource("GNOME Shell under Wayland", () => openGnomeRig());
describeWindowSource("KWin under Wayland", openKwinRig);
