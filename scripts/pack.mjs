// @ts-check
/**
 * Packs the program, its libraries included, into few files: of 400 small modules Node keeps a record and the
 * whole text of each for good, some 5 MB that a daemon pays for as long as it runs. The tree of modules stays
 * beside it for workers and for those who import the package.
 */
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { rolldown } from "rolldown";

/** Where the parts lie: as deep in dist/ as every entry, so that one relative address serves in all of them. */
const PARTS = "packed";

/**
 * What the D-Bus library reads descriptions of interfaces with, which nobody here asks for: half of its size; and the
 * threads in which the logger would run others' transports.
 */
const UNUSED = ["fast-xml-builder", "fast-xml-parser", "thread-stream"];
/** Modules of Node that take it milliseconds to load, and that no start needs before the first answer. */
const LATE = ["child_process", "fs/promises", "readline", "worker_threads"];
/** Libraries that are parts of their own, for those alone who need them: patterns of the owner's rules. */
const LATE_PARTS = ["re2js"];
/** What has files of its own beside its code, or is needed by one command alone. */
const LEFT_OUT = /^(active-win|koffi|x11|@modelcontextprotocol\/sdk\/.*)$|\.node$/;
/** SQLite as its package builds it. */
const SQLITE = "better-sqlite3/build/Release/better_sqlite3.node";

/** Replaces the command line of a compiled tree by the packed program. @param {string} dist */
export async function packProgram(dist) {
  const parts = await packParts(dist, "cli/main.js", {
    entryFileNames: "main.js",
    // Compiled code that is kept for a part must not be taken for another's.
    chunkFileNames: "[name]-[hash].js",
    codeSplitting: {
      groups: LATE_PARTS.map((name) => ({ name, test: new RegExp(`/node_modules/${name}/`) })),
    },
  });
  const launcher = await packParts(dist, "cli/launch.js", { entryFileNames: "main.js" });
  rmSync(join(dist, "cli"), { recursive: true });
  for (const [folder, chunks] of /** @type {const} */ ([
    [PARTS, parts],
    ["cli", launcher],
  ])) {
    mkdirSync(join(dist, folder));
    writeFileSync(join(dist, folder, "package.json"), '{ "type": "commonjs" }\n');
    for (const { fileName, code } of chunks)
      writeFileSync(join(dist, folder, fileName), toAscii(loadLate(code)));
  }
  const modules = parts.flatMap((part) => part.moduleIds);
  writeFileSync(join(dist, PARTS, "LICENSES.txt"), licencesOf(modules));
}

/**
 * CommonJS: its parts are compiled by a loader of ours, which keeps the compiled code, and are there at once, while
 * Node's loader of modules looks for each of them by itself.
 *
 * @param {string} dist
 * @param {string} entry
 * @param {import("rolldown").OutputOptions} names
 */
async function packParts(dist, entry, names) {
  const pack = await rolldown({
    input: join(dist, entry),
    platform: "node",
    external: LEFT_OUT,
    plugins: [keepAddresses(dist), leaveOutUnused, nameBinary, importThroughLoader],
  });
  const { output } = await pack.generate({
    ...names,
    format: "cjs",
    comments: { legal: true, annotation: false, jsdoc: false },
    // Names stay, for the sake of stack traces.
    minify: { compress: false, mangle: false, codegen: { removeWhitespace: true } },
  });
  await pack.close();
  return output.filter((part) => part.type === "chunk");
}

/** The same program, in which these are loaded at their first use. @param {string} code */
function loadLate(code) {
  const names = [
    ...LATE.map((module) => `node_${module.replace("/", "_")}`),
    ...LATE_PARTS.map((part) => `require_${part}`),
  ];
  return names.reduce((changed, name) => {
    const [before = "", declared = "", ...uses] = changed.split(new RegExp(`\\b${name}\\b`));
    if (declared === "") return changed;
    const asked = /^=(require\("[^"]+"\));/.exec(declared);
    if (!/\b(?:let|const) $/.test(before) || asked === null || !uses.every(isMember))
      throw new Error(`pack: ${name} is used as a whole, and cannot be loaded late`);
    const late = `late_${name}={get all(){return ${asked[1]}}};`;
    return `${before}${late}${[declared.slice(asked[0].length), ...uses].join(`late_${name}.all`)}`;
  }, code);
}

/** @param {string} code What follows a name. */
function isMember(code) {
  return code.startsWith(".");
}

/**
 * The same program in ASCII: one letter beyond Latin-1 makes V8 keep the text of its file at two bytes a
 * character. Escapes mean the same in strings, patterns and names; only in raw templates they do not.
 *
 * @param {string} code
 */
function toAscii(code) {
  const raw = /\braw`[^`]*[^\0-\x7f][^`]*`/.exec(code);
  if (raw !== null) throw new Error(`pack: a raw template holds what is not ASCII: ${raw[0]}`);
  return code.replaceAll(
    /[^\0-\x7f]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** A module that finds its files from its own address goes on to find them, wherever its text has gone. @param {string} dist */
function keepAddresses(dist) {
  return {
    name: "keep-addresses",
    /** @param {string} code @param {string} id */
    transform: (code, id) => {
      if (!id.startsWith(`${dist}/`) || !code.includes("import.meta.url")) return null;
      const address = JSON.stringify(`..${id.slice(dist.length)}`);
      return code.replaceAll("import.meta.url", `new URL(${address}, import.meta.url).href`);
    },
  };
}

/** What stays outside and is imported when it is needed: the loader of parts knows how. */
const importThroughLoader = {
  name: "import-through-loader",
  /** @param {string} code */
  transform: (code) => {
    const changed = code.replaceAll(/\bimport\("([^"]+)"\)/g, (whole, name) =>
      LEFT_OUT.test(name) ? `importModule("${name}")` : whole,
    );
    return changed === code ? null : changed;
  },
};

const leaveOutUnused = {
  name: "leave-out-unused",
  /** @param {string} id */
  resolveId: (id) => (UNUSED.includes(id) ? "\0unused" : null),
  /** @param {string} id */
  load: (id) =>
    id === "\0unused" ? "export class XMLParser {}\nexport default class XMLBuilder {}" : null,
};

/** In place of a package that looks for SQLite's binary in a dozen folders around whoever calls it. */
const nameBinary = {
  name: "name-binary",
  /** @param {string} id */
  resolveId: (id) => (id === "bindings" ? "\0bindings" : null),
  /** @param {string} id */
  load: (id) => (id === "\0bindings" ? `module.exports = () => require("${SQLITE}");` : null),
};

/** The licence of each library whose text is now in ours, as their terms ask. @param {readonly string[]} modules */
export function licencesOf(modules) {
  const folders = new Set(
    modules.flatMap((id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id)?.[0] ?? []),
  );
  return [...folders]
    .toSorted()
    .map((folder) => {
      const { name, version, license } = createRequire(import.meta.url)(`${folder}/package.json`);
      const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
      const text =
        file === undefined ? "" : `\n${readFileSync(join(folder, file), "utf8").trim()}\n`;
      return `${name} ${version} (${license})\n${text}`;
    })
    .join(`\n${"-".repeat(72)}\n\n`);
}
