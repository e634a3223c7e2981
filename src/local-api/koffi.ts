/**
 * koffi, the optional package that calls functions of C libraries. It promises the package at once or an error: as
 * modules, its files would be read one after the other while a client waits for the first answer.
 */
import { createRequire } from "node:module";
import type * as koffi from "koffi";

export type Koffi = typeof koffi;

/** @throws Error when it was not installed, or has no binary for this machine */
export function loadKoffi(): Koffi {
  // What the package gives is what its own types say.
  return createRequire(import.meta.url)("koffi") as Koffi;
}
