/**
 * The parts of the packed program: how one of them is read, compiled and run. It promises the same program with and
 * without compiled code of an earlier run.
 */
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, sep } from "node:path";
import { Script } from "node:vm";
import { crc32 } from "node:zlib";

export interface Parts {
  /** What a part or another module exports. Throws what its text throws. */
  readonly load: (name: string) => unknown;
  /**
   * Compiles what is loaded from now on with V8's code of an earlier run; what V8 refuses is compiled anew. The answer ends that, and tells the code of all that was loaded, or null when V8 refused nothing.
   */
  readonly compileWith: (code: PartCode) => () => PartCode | null;
  /** What is thrown from now on where a part is gone, or others' code would be loaded into a program that was replaced. */
  readonly whenReplaced: (makeError: () => Error) => void;
}

/** By name and sum of the part's text: V8 looks at no more of a text than its length. */
export type PartCode = ReadonlyMap<string, Buffer>;

/** Opens the folder in which scripts/pack.mjs put the parts: CommonJS in ASCII, each named after its contents. */
export function openParts(folder: string): Parts {
  const requireOther = createRequire(folder + sep);
  const loaded = new Map<string, { exports: unknown }>();
  let makeError: (() => Error) | null = null;
  let compiling: { readonly code: PartCode; readonly scripts: Map<string, Script> } | null = null;

  const others = new Map<string, unknown>();
  const load = (name: string): unknown => {
    if (!name.startsWith("./")) {
      // Asked for at each use by what scripts/pack.mjs lets load late.
      if (!others.has(name)) others.set(name, requireOther(name));
      return others.get(name);
    }
    const known = loaded.get(name);
    if (known !== undefined) return known.exports;
    const module = { exports: {} };
    loaded.set(name, module);
    const path = join(folder, name);
    try {
      const run: unknown = compile(name, path).runInThisContext();
      if (typeof run !== "function") throw new TypeError(`${path} is no part`);
      Reflect.apply(run, null, [module.exports, load, module, path, folder, importModule]);
    } catch (thrown) {
      // Whoever asks again is told again.
      loaded.delete(name);
      throw makeError !== null && !existsSync(path) ? makeError() : thrown;
    }
    return module.exports;
  };

  /** `import()` for parts, whose own has no loader behind it: from here, where Node knows one. */
  const importModule = async (name: string): Promise<unknown> => {
    // Each is named after its contents: another version has others.
    const isReplaced = [...loaded.keys()].some((part) => !existsSync(join(folder, part)));
    if (makeError !== null && isReplaced) throw makeError();
    return import(name);
  };

  const compile = (name: string, filename: string): Script => {
    const bytes = readFileSync(filename);
    // A byte a character, as the text is ASCII: what is read as UTF-8 may be kept at two.
    const text = bytes.toString("latin1");
    const key = `${name} ${crc32(bytes)}`;
    const cachedData = compiling?.code.get(key);
    const script = new Script(
      `(function(exports,require,module,__filename,__dirname,importModule){${text}\n})`,
      {
        filename,
        ...(cachedData === undefined ? {} : { cachedData }),
      },
    );
    compiling?.scripts.set(key, script);
    return script;
  };

  return {
    load,
    whenReplaced: (make) => {
      makeError = make;
    },
    compileWith: (code) => {
      compiling = { code, scripts: new Map() };
      return () => {
        const scripts = [...(compiling?.scripts ?? [])];
        // Nothing of it is held from here: it is as much as the program.
        compiling = null;
        // Undefined where there was no code to refuse.
        const isWhole = scripts.every(([, script]) => script.cachedDataRejected === false);
        if (isWhole) return null;
        return new Map(scripts.map(([key, script]) => [key, script.createCachedData()]));
      };
    },
  };
}
