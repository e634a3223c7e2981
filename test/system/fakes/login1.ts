/** A stand-in for systemd-logind on a private bus, with one session of this user. */
import { type BusService, openBusService, Variant } from "./bus-service.ts";

const MANAGER_PATH = "/org/freedesktop/login1";
const MANAGER = "org.freedesktop.login1.Manager";
const SESSION = "org.freedesktop.login1.Session";
export const SESSION_PATH = "/org/freedesktop/login1/session/_31";

export interface FakeLogin1 {
  readonly service: BusService;
  readonly prepareForSleep: (begins: boolean) => void;
  /** The request alone, as `loginctl lock-session` makes it. */
  readonly lock: () => void;
  readonly unlock: () => void;
  readonly setSession: (changed: Record<string, Variant | undefined>) => void;
  readonly setManager: (changed: Record<string, Variant | undefined>) => void;
  readonly removeSession: () => void;
  readonly close: () => void;
}

/** `hasSession: false`: a machine where nobody logged in at a screen. */
export async function openFakeLogin1(
  address: string,
  options: { readonly hasSession?: boolean } = {},
): Promise<FakeLogin1> {
  const service = await openBusService(address);
  service.serve(MANAGER_PATH, MANAGER, {
    PreparingForSleep: new Variant("b", false),
    BlockInhibited: new Variant("s", "handle-power-key"),
  });
  service.serve(SESSION_PATH, SESSION, {
    Id: new Variant("s", "1"),
    Active: new Variant("b", true),
    LockedHint: new Variant("b", false),
    IdleHint: new Variant("b", false),
    IdleSinceHint: new Variant("t", 0n),
  });
  if (options.hasSession ?? true) {
    service.answer(`${MANAGER}.GetSession`, "o", ([id]) => [
      id === "auto" ? "/org/freedesktop/login1/session/auto" : SESSION_PATH,
    ]);
    service.serve("/org/freedesktop/login1/session/auto", SESSION, { Id: new Variant("s", "1") });
  } else {
    service.refuse(`${MANAGER}.GetSession`, "org.freedesktop.login1.NoSuchSession");
    service.refuse(`${MANAGER}.GetUser`, "org.freedesktop.login1.NoSuchUser");
  }
  await service.own("org.freedesktop.login1");
  return {
    service,
    prepareForSleep: (begins) =>
      service.emit(MANAGER_PATH, MANAGER, "PrepareForSleep", "b", [begins]),
    lock: () => service.emit(SESSION_PATH, SESSION, "Lock"),
    unlock: () => service.emit(SESSION_PATH, SESSION, "Unlock"),
    setSession: (changed) => service.change(SESSION_PATH, SESSION, changed),
    setManager: (changed) => service.change(MANAGER_PATH, MANAGER, changed),
    removeSession: () =>
      service.emit(MANAGER_PATH, MANAGER, "SessionRemoved", "so", ["1", SESSION_PATH]),
    close: service.close,
  };
}
