/** Every window backend that can open on a machine without a screen, against the one contract. */
import { createX11Providers } from "../../src/capture/sources/x11.ts";
import { i3, sway } from "../../src/capture/sources/sway.ts";
import { wlroots } from "../../src/capture/sources/wlroots.ts";
import { describeWindowSource, type WindowRig } from "../contract/window-source.ts";
import type { SourceProvider } from "../../src/capture/sources/source.ts";
import { openSwayRig } from "./sway-rig.ts";
import { openXRig, type WindowManager } from "./x-rig.ts";

for (const manager of ["openbox", "i3", "xfwm4"] as const) {
  describeWindowSource(`x11 under ${manager}`, () =>
    openXWindowRig(manager, createX11Providers().window),
  );
}
describeWindowSource("i3", () => openXWindowRig("i3", i3));
describeWindowSource("sway", () => openSwayWindowRig(sway));
describeWindowSource("wlroots", () => openSwayWindowRig(wlroots));

async function openSwayWindowRig(provider: SourceProvider<"window">): Promise<WindowRig> {
  const rig = await openSwayRig({ xwayland: false });
  return {
    ...rig,
    provider,
    open: async (title) => {
      const window = await rig.openTerminal(title);
      // The protocol of wlroots does not tell the process.
      return provider.id === "wlroots" ? { ...window, pid: null } : window;
    },
  };
}

async function openXWindowRig(
  manager: WindowManager,
  provider: SourceProvider<"window">,
): Promise<WindowRig> {
  const rig = await openXRig();
  try {
    await rig.startWindowManager(manager);
  } catch (error) {
    await rig.close();
    throw error;
  }
  let client = await rig.openClient();
  return {
    provider,
    env: rig.env,
    open: async (title) => {
      const window = await client.open({ title });
      // Managers give new windows the focus by themselves, sooner or later: from here on it is settled.
      await client.activate(window);
      return {
        app: "Fixture",
        // i3 does not know the processes of its windows.
        pid: provider.id === "x11" ? process.pid : null,
        focus: () => client.activate(window),
        rename: (next) => client.setTitle(window, next),
        close: () => client.destroy(window),
      };
    },
    kill: () => rig.killServer(),
    restart: async () => {
      await rig.startServer();
      await rig.startWindowManager(manager);
      client = await rig.openClient();
    },
    close: async () => {
      client.close();
      await rig.close();
    },
  };
}
