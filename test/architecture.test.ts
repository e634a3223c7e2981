/** The house rules about who may import whom, checked on the sources themselves. */
import { readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const SRC = join(ROOT, "src");

/** Rooms from the ground up; the first pattern that fits a file names its room. */
const ROOMS = [
  {
    name: "ground",
    pattern:
      /^(errors|clock|counted|http-(body|stream)|log|make-folder|whole-file|version|paths|instant|shapes)\.ts$/,
  },
  { name: "context", pattern: /^context\// },
  { name: "steering", pattern: /^(gateway\/(voice-steering|echo-end)|tui\/tui-formatters)\.ts$/ },
  { name: "auto-reply", pattern: /^auto-reply\// },
  { name: "events", pattern: /^capture\/(events|titles)\.ts$/ },
  { name: "registry", pattern: /^capture\/sources\/registry\.ts$/ },
  { name: "port", pattern: /^capture\/sources\/(source|keeper|recorded)\.ts$/ },
  { name: "backend", pattern: /^capture\/sources\// },
  { name: "privacy", pattern: /^capture\/privacy(\.ts$|\/)/ },
  { name: "store", pattern: /^store\// },
  { name: "capture", pattern: /^capture\// },
  // What is read of ActivityWatch's histories, and its words, which its protocol speaks as well.
  {
    name: "import",
    pattern: /^activitywatch\/(import|desk|facts|history|databases|port|wire)\.ts$/,
  },
  { name: "api", pattern: /^api(-[a-z]+)?\.ts$/ },
  { name: "config", pattern: /^config(-edit|-pages|-schema)?\.ts$/ },
  { name: "app", pattern: /^(app|app\/.*|owner\/.*)\.ts$/ },
  { name: "local-api", pattern: /^local-api\// },
  { name: "root", pattern: /^index\.ts$/ },
  { name: "daemon", pattern: /^daemon\// },
  // What runs in the browser: it shares words with the daemon, and no code.
  { name: "page", pattern: /^web\/ui\// },
  { name: "face", pattern: /^(cli|mcp|web|gateway|activitywatch|tui)\// },
  { name: "hub", pattern: /^hub\// },
] as const;

type Room = (typeof ROOMS)[number]["name"];

/** What each room may stand on, beside itself. */
const MAY_IMPORT: Readonly<Record<Room, readonly Room[]>> = {
  ground: [],
  context: ["ground"],
  steering: ["context"],
  "auto-reply": ["ground", "context"],
  events: ["ground", "context"],
  port: ["ground", "events"],
  backend: ["ground", "events", "port", "context"],
  registry: ["ground", "events", "port", "backend"],
  privacy: ["ground", "events", "context"],
  store: ["ground", "events", "context", "privacy"],
  capture: ["ground", "events", "context", "privacy", "store", "port"],
  import: ["ground", "context", "events", "privacy", "store"],
  api: ["ground", "context", "events", "port", "auto-reply", "store"],
  config: ["ground", "privacy", "store"],
  app: [
    "ground",
    "context",
    "auto-reply",
    "events",
    "port",
    "registry",
    "privacy",
    "store",
    "capture",
    "api",
    "config",
  ],
  "local-api": ["ground", "context", "events", "port", "api"],
  root: ["ground", "context", "steering", "auto-reply", "events", "api", "local-api"],
  daemon: [
    "ground",
    "context",
    "events",
    "port",
    "registry",
    "privacy",
    "store",
    "capture",
    "api",
    "config",
    "app",
    "local-api",
    "import",
    "face",
    "hub",
  ],
  // A command may start the daemon in its process and read the settings that it would read.
  face: [
    "ground",
    "context",
    "steering",
    "auto-reply",
    "events",
    "port",
    "privacy",
    "api",
    "config",
    "local-api",
    "daemon",
    "import",
  ],
  hub: ["ground", "events", "store", "api"],
  page: ["api", "events", "face"],
};

/** A package is named in these files alone, so that replacing it touches nothing else. */
const PACKAGE_HOMES: Readonly<Record<string, RegExp>> = {
  "better-sqlite3": /^store\/sqlite\.ts$/,
  "node-cron": /^app\/chores\.ts$/,
  systeminformation: /^capture\/sources\/system-state\.ts$/,
  "active-win": /^capture\/sources\/active-win\.ts$/,
  x11: /^capture\/sources\/x11/,
  "@modelcontextprotocol/sdk": /^mcp\//,
  "@streamparser/json": /^activitywatch\/export-stream\.ts$/,
  "@nats-io/transport-node": /^hub\/nats\/link\.ts$/,
  "@nats-io/jetstream": /^hub\/nats(\.ts$|\/)/,
  hono: /^(local-api|gateway|activitywatch|web)\//,
  preact: /^web\/ui\//,
  "@preact/signals": /^web\/ui\//,
  zod: /^shapes\.ts$/,
  uplot: /^web\/ui\/series\.tsx$/,
};

const files = listFiles(SRC).map((path) => relative(SRC, path));

describe("the house", () => {
  it.each(files)("%s stands in a room and imports only what lies below it", (file) => {
    const room = roomOf(file);
    const allowed: readonly Room[] = [room, ...MAY_IMPORT[room]];
    const wrong = importsOf(file)
      .filter(({ target }) => target.startsWith("."))
      .map(({ target, typeOnly }) => ({ path: join(dirname(file), target), typeOnly }))
      .filter(({ path }) => !path.startsWith(".."))
      .filter(({ path }) => !allowed.includes(roomOf(path)));
    expect(wrong).toEqual([]);
  });

  it("a backend never imports another backend's room mates but its own parts", () => {
    const wrong = files
      .filter((file) => roomOf(file) === "backend")
      .flatMap((file) =>
        importsOf(file)
          .filter(({ target }) => target.startsWith("./"))
          .map(({ target }) => join(dirname(file), target))
          .filter(
            (path) => roomOf(path) === "backend" && !isShared(path) && !isSameBackend(file, path),
          )
          .map((path) => `${file} -> ${path}`),
      );
    expect(wrong).toEqual([]);
  });

  it.each(Object.entries(PACKAGE_HOMES))("%s is named in its own file only", (name, home) => {
    const wrong = files.filter(
      (file) =>
        !home.test(file) &&
        importsOf(file).some(({ target }) => target === name || target.startsWith(`${name}/`)),
    );
    expect(wrong).toEqual([]);
  });

  it("the page takes nothing but types from outside of its folder", () => {
    const wrong = files
      .filter((file) => roomOf(file) === "page")
      .flatMap((file) =>
        importsOf(file)
          .filter(({ target, typeOnly }) => target.startsWith(".") && !typeOnly)
          .map(({ target }) => join(dirname(file), target))
          .filter((path) => !path.startsWith("web/ui/"))
          .map((path) => `${file} -> ${path}`),
      );
    expect(wrong).toEqual([]);
  });

  it("every folder of src is explained in docs/architecture.md", () => {
    const text = readFileSync(join(ROOT, "docs/architecture.md"), "utf8");
    const folders = [...new Set(files.map((file) => dirname(file)))].filter(
      (folder) => folder !== ".",
    );
    expect(folders.filter((folder) => !text.includes(`src/${folder}/`))).toEqual([]);
  });

  it("the rooms of docs/architecture.md stand in the order in which they import each other", () => {
    const text = readFileSync(join(ROOT, "docs/architecture.md"), "utf8");
    const rooms = [...text.matchAll(/^\| (`src\/[^|]*) \|/gm)].map(([, paths = ""]) =>
      [...paths.matchAll(/`src\/([^`]+)`/g)].map(([, path = ""]) => path),
    );
    /** The row that names a file, or the nearest folder around it. */
    const placeOf = (file: string): number => {
      const named = rooms.flatMap((paths, place) =>
        paths.filter((path) => isNamedBy(path, file)).map((path) => ({ place, path })),
      );
      const [nearest] = named.sort((a, b) => b.path.length - a.path.length);
      return nearest?.place ?? Number.NaN;
    };
    expect(files.filter((file) => Number.isNaN(placeOf(file)))).toEqual([]);
    const wrong = files.flatMap((file) =>
      importsOf(file)
        .filter(({ target }) => target.startsWith("."))
        .map(({ target }) => join(dirname(file), target))
        .filter((path) => placeOf(path) > placeOf(file))
        .map((path) => `${file} -> ${path}`),
    );
    expect(wrong).toEqual([]);
  });

  it("docs/architecture.md names no file of src that is not there", () => {
    const text = readFileSync(join(ROOT, "docs/architecture.md"), "utf8");
    const named = [...text.matchAll(/`src\/([\w./-]+\.ts)`/g)].map((match) => match[1] ?? "");
    expect(named.filter((file) => !files.includes(file))).toEqual([]);
  });

  it("every bench is called by its name, without the ending of the file behind it", () => {
    const folder = join(ROOT, "scripts/bench");
    const shared = ["generate-store.mjs", "lifelike-year.mjs", "paired.mjs"];
    const benches = readdirSync(folder).filter(
      (name) => name.endsWith(".mjs") && !shared.includes(name),
    );
    const entry = realpathSync(join(ROOT, "scripts/run-built"));
    // `ln -s ../run-built scripts/bench/NAME` makes one.
    for (const name of benches)
      expect(realpathSync(join(folder, name.slice(0, -".mjs".length)))).toBe(entry);
  });

  it("the version in the program is that of package.json", () => {
    const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
      version: string;
    };
    expect(readFileSync(join(SRC, "version.ts"), "utf8")).toContain(`"${version}"`);
  });
});

function roomOf(file: string): Room {
  const room = ROOMS.find(({ pattern }) => pattern.test(file));
  if (room === undefined)
    throw new Error(`src/${file} stands in no room: give it one in test/architecture.test.ts`);
  return room.name;
}

/** Whether a path of docs/architecture.md is a file, the folder it lies in, or `api-*.ts` for several. */
function isNamedBy(path: string, file: string): boolean {
  if (path.endsWith("/")) return file.startsWith(path);
  const [start = "", end = ""] = path.split("*");
  return path.includes("*") ? file.startsWith(start) && file.endsWith(end) : file === path;
}

/** Parts that several backends are made of: a bus, an address. */
function isShared(path: string): boolean {
  return /\/(dbus|wayland|process|watch-folder|window-reporter)[^/]*\.ts$/.test(path);
}

/** `x11-window.ts` and `x11-connection.ts` are parts of one backend. */
function isSameBackend(a: string, b: string): boolean {
  const stem = (path: string): string => path.replace(/^.*\//, "").replace(/[-.].*$/, "");
  return stem(a) === stem(b);
}

function importsOf(file: string): { readonly target: string; readonly typeOnly: boolean }[] {
  const text = readFileSync(join(SRC, file), "utf8");
  const pattern =
    /^\s*(?:import|export)(\s+type)?\b[^;"']*?from\s+"([^"]+)"|\bimport\("([^"]+)"\)/gm;
  return [...text.matchAll(pattern)].map((match) => ({
    target: match[2] ?? match[3] ?? "",
    typeOnly: match[1] !== undefined,
  }));
}

function listFiles(folder: string): string[] {
  return readdirSync(folder)
    .map((name) => join(folder, name))
    .flatMap((path) =>
      statSync(path).isDirectory()
        ? listFiles(path)
        : /\.tsx?$/.test(path) && !path.endsWith(".d.ts")
          ? [path]
          : [],
    );
}
