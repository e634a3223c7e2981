/**
 * koffi, the optional package that calls functions of C libraries. It promises the package at once or an error: as
 * modules, its files would be read one after the other while a client waits for the first answer.
 */
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import type * as koffi from "koffi";

export type Koffi = typeof koffi;

/** @throws Error when it was not installed, or has no binary for this machine */
export function loadKoffi(): Koffi {
  const require = createRequire(import.meta.url);
  // What the package gives is what its own types say.
  return (loadBinary(require) ?? require("koffi")) as Koffi;
}

/**
 * What koffi itself would look for, through a dozen files and in the header of Node's own: 5 of the 7 milliseconds that
 * it takes. Null where it lies elsewhere; what else koffi gives is its warnings of old names.
 *
 * @see `triplets` and `loadStatic` in koffi's own src/
 */
function loadBinary(require: NodeJS.Require): unknown {
  const { platform, arch } = process;
  // There the C library may be another, for which koffi has a second binary.
  if (platform !== "linux" || arch !== "x64" || existsSync(MUSL)) return null;
  try {
    return require("@koromix/koffi-linux-x64/linux_x64/koffi.node");
  } catch {
    // Not installed, or beside koffi alone, as some package managers have it: koffi finds it or says so.
    return null;
  }
}

/** Of musl libc. */
const MUSL = "/lib/ld-musl-x86_64.so.1";
