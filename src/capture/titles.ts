/**
 * Reads window titles: what a title says once counters, spinners and the application's own name are
 * taken off, and which file, directory or project it names. It promises that two titles of one document
 * give one text, and that a title is never emptied.
 */

/** What a window title names. Every field is null when the title does not say. */
export interface TitleParts {
  /** A file name with its extension, such as "retry.ts". */
  readonly file: string | null;
  /** A directory as it stands in the title, such as "~/src/shop" or "/home/a/Reports". */
  readonly directory: string | null;
  /** What the work belongs to: an editor's workspace, or the telling component of the directory. */
  readonly project: string | null;
}

/**
 * The title of the document a window shows: "(3) Inbox — Mozilla Firefox" in Firefox gives "Inbox".
 *
 * Applying it twice changes nothing. A title that consists of decoration alone comes back trimmed. Names
 * of sites ("… - YouTube") stay, since they are part of what was looked at.
 */
export function documentTitle(app: string, title: string): string {
  const whole = title.trim();
  let text = whole;
  // Decorations nest ("(2) ● notes.md — Code", "⠋ 45% build"): peel until nothing changes.
  for (;;) {
    const peeled = dropAppName(app, dropTail(dropLead(text)));
    if (peeled === "") return text === "" ? whole : text;
    if (peeled === text) return text;
    text = peeled;
  }
}

/** The file, directory and project that a title names; `title` may be raw or a `documentTitle`. */
export function titleParts(app: string, title: string): TitleParts {
  const text = documentTitle(app, title);
  const directory = DIRECTORY.exec(text)?.groups?.["path"]?.replace(/[)\]\s]+$/, "") ?? null;
  const segments = splitTitle(text);
  const fileAt = segments.findIndex((segment) => isFileName(lastComponent(segment)));
  const fileSegment = fileAt < 0 ? undefined : segments[fileAt];
  const file = fileSegment === undefined ? null : lastComponent(fileSegment);
  const project =
    (directory === null ? null : directoryProject(directory, file)) ?? workspace(segments, fileAt);
  return { file, directory, project };
}

/**
 * The segments of a title, cut at the separators that programs put between its parts. A hyphen before a file is the
 * file's own, as in "Chapter 2 - Weavers.odt": programs that put something there put a dash.
 */
function splitTitle(title: string): readonly string[] {
  return title
    .split(DASH)
    .flatMap((part) => (isFileName(part.trim()) ? [part] : part.split(HYPHEN)))
    .map((segment) => segment.trim())
    .filter((segment) => segment !== "");
}

/**
 * The component of a path that names the work in it: the first one below the usual roots, so that
 * "~/src/shop/lib" and "/home/a/src/shop" both give "shop". Null when nothing but usual roots is left.
 */
export function directoryProject(path: string, file: string | null = null): string | null {
  const components = path
    .replace(/^file:\/\//, "")
    .split(/[/\\]+/)
    .filter((part) => part !== "" && part !== "~" && part !== file && !/^[A-Za-z]:$/.test(part));
  let index = 0;
  if (/^(home|users)$/i.test(components[0] ?? "") && !path.startsWith("~")) index = 2;
  while (index < components.length && USUAL_ROOT.test(components[index] ?? "")) index += 1;
  return components[index] ?? null;
}

/** The repository in the address of a page at one of the known homes of code; null for every other page. */
export function repositoryOf(place: string): string | null {
  return REPOSITORY.exec(place)?.groups?.["name"] ?? null;
}

const REPOSITORY =
  /^(?:github\.com|gitlab\.com|codeberg\.org|bitbucket\.org)\/[^/]+\/(?<name>[^/]+)/u;

const DASH = /\s+[—–|·•]\s+/u;
const HYPHEN = /\s+-{1,2}\s+/u;

/** Counters, modified marks, spinners and percentages in front. */
function dropLead(title: string): string {
  return title
    .replace(/^(?:\(\d{1,4}\+?\)|\[\d{1,4}\+?\])\s*/u, "")
    .replace(/^[●•◦○◌◍◎◐◑◒◓⚫⚪✱✲✳✴✶✻✽∗*⏺⏵▶⏸🔊🔇🔴\u2800-\u28FF]+\s+/u, "")
    .replace(/^\*(?=\S)/u, "")
    .replace(/^[[(]?\d{1,3}(?:[.,]\d)?\s?%[\])]?(?:\s*[-–—:·|]\s*|\s+(?!of\b))/iu, "")
    .trim();
}

/** Modified marks, percentages, spinners and unread counters at the end. */
function dropTail(title: string): string {
  return title
    .replace(/\s+[●•*✱\u2800-\u28FF]+$/u, "")
    .replace(/(?:\s*[-–—:·|]\s*|\s+)[[(]?\d{1,3}(?:[.,]\d)?\s?%[\])]?$/u, "")
    .replace(/\s+[[(](?:modified|unsaved|geändert|modificado|modifié)[\])]$/iu, "")
    .replace(/\s+(?:\(\d{1,3}\+?\)|\[\d{1,3}\+?\])$/u, "")
    .trim();
}

/**
 * Cuts the last segment when it names the application: "… — Mozilla Firefox" in "firefox". It must be the
 * application's name and nothing else but a maker's: "Zoom Meeting" in zoom says what the window is.
 */
function dropAppName(app: string, title: string): string {
  let cutAt = -1;
  for (const match of title.matchAll(/\s+[—–|·•]\s+|\s+-{1,2}\s+|:\s+/gu)) cutAt = match.index;
  if (cutAt <= 0) return title;
  const tail = title.slice(cutAt).replace(/^[\s—–|·•:-]+/u, "");
  if (isAppName(app, tail)) return title.slice(0, cutAt).trim();
  // "Code - OSS" and "Firefox - Private" are names with the separator in them.
  const before = title.slice(0, cutAt);
  let previousAt = -1;
  for (const match of before.matchAll(/\s+[—–|·•-]\s+/gu)) previousAt = match.index;
  if (previousAt > 0) {
    const longer = title.slice(previousAt).replace(/^[\s—–|·•-]+/u, "");
    if (isAppName(app, longer)) return title.slice(0, previousAt).trim();
  }
  return title;
}

function isAppName(app: string, segment: string): boolean {
  const said = nameWords(segment);
  const own = nameWords(app.split(/[./\\]/u).at(-1) ?? app);
  const whole = nameWords(app);
  if (said.length === 0 || said.length > 5) return false;
  const key = said.join(" ");
  if (key === own.join(" ") || key === whole.join(" ")) return true;
  // What the window calls itself, where its class is called otherwise.
  const alias = WINDOW_NAMES.find(
    ({ classes, names }) => names.test(key) && classes.test(whole.join(" ")),
  );
  if (alias !== undefined) return true;
  // "Mozilla Firefox" in firefox, "LibreOffice Calc" in "libreoffice-calc", "Firefox Developer Edition".
  const extra = said.filter((word) => !own.includes(word) && !whole.includes(word));
  return extra.length < said.length && extra.every((word) => MAKER.test(word));
}

function nameWords(text: string): readonly string[] {
  return text
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[\u200b-\u200f\u2060\ufeff]/gu, "")
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "" && word !== "exe" && word !== "desktop");
}

/** Words that stand beside a program's name in its own title. */
const MAKER =
  /^(?:mozilla|google|microsoft|gnu|gnome|kde|apache|adobe|jetbrains|libreoffice|openoffice|brave|the|browser|web|editor|viewer|image|document|player|client|app|community|professional|ultimate|edition|developer|nightly|beta|dev|canary|stable|insiders|preview|esr)$/u;

/** Titles under which programs show themselves although their window class says another name. */
const WINDOW_NAMES: readonly { readonly classes: RegExp; readonly names: RegExp }[] = [
  { classes: /\bcode\b|\bvscod/u, names: /^(?:visual studio code|code oss|vscodium|vs code)\b/u },
  { classes: /\bnautilus\b/u, names: /^(?:files|dateien|archivos|fichiers)$/u },
  { classes: /\bnavigator\b/u, names: /^(?:mozilla )?firefox$/u },
  { classes: /\bsoffice\b|\blibreoffice\b/u, names: /^(?:libreoffice|openoffice)\b/u },
  { classes: /\bevince\b|\bpapers\b/u, names: /^(?:document viewer|dokumentenbetrachter)$/u },
  { classes: /\bgedit\b/u, names: /^(?:gedit|text editor)$/u },
  { classes: /\bg?vim\b/u, names: /^g?vim\d*$/u },
  { classes: /\bgimp\b/u, names: /^(?:gimp|gnu image manipulation program)$/u },
  { classes: /\bmsedge\b|\bmicrosoft edge\b/u, names: /^(?:microsoft )?edge$/u },
  { classes: /\bwinword\b/u, names: /^(?:microsoft )?word$/u },
];

const DIRECTORY =
  /(?:^|[\s(:])(?<path>(?:~|\/(?:home|Users|mnt|media|srv|opt|var|tmp|data|work)\b|[A-Za-z]:\\|file:\/\/\/)(?:[/\\][^\s/\\|:*?"<>][^/\\|:*?"<>—–]*)*)/u;

/** Directories that say where things are kept, not what they are for. */
const USUAL_ROOT =
  /^(?:src|source|sources|code|dev|devel|develop|projects?|projekte|proyectos|projets|repos?|repositories|git|github|gitlab|workspaces?|work|arbeit|trabajo|travail|documents?|dokumente|documentos|downloads?|descargas|t[ée]l[ée]chargements|desktop|schreibtisch|escritorio|bureau|pictures|bilder|music|musik|videos?|nextcloud|dropbox|onedrive|google ?drive|icloud|sync|my documents|eigene dateien|mnt|media|srv|opt|var|tmp|data|home|www|go|lib|bin|public|private|local)$/iu;

/** Endings that belong to host names far more often than to files. */
const HOST_ENDING =
  /^(?:com|org|net|io|dev|app|de|fr|es|it|uk|eu|ch|at|nl|be|edu|gov|info|biz|tv|me|us|ca|au|jp|cn|ru|br|ai|co|cloud|shop|blog|wiki)$/iu;

function isFileName(text: string): boolean {
  const match = /^[^\s.][^<>"|?*]{0,120}\.(?<ending>[A-Za-z][A-Za-z0-9]{0,7})$/u.exec(text);
  const ending = match?.groups?.["ending"];
  return ending !== undefined && !HOST_ENDING.test(ending) && text.split(/\s+/u).length <= 10;
}

function lastComponent(segment: string): string {
  // "notes.md (~/Documents)" and "src/lib/retry.ts" name their file inside the segment.
  const bare = segment.replace(/\s*[([](?:[~/]|[A-Za-z]:\\)[^)\]]*[)\]]\s*$/u, "");
  return bare.split(/[/\\]/u).at(-1)?.trim() ?? bare;
}

/** The segment right of a file in an editor, or the one in brackets: "a.ts — shop", "a.ts (shop)". */
function workspace(segments: readonly string[], fileAt: number): string | null {
  if (fileAt < 0) return null;
  const next = segments[fileAt + 1];
  if (next !== undefined && isShortName(next) && !isFileName(next)) {
    return next.replace(/\s*[[(][^\])]*[\])]$/u, "");
  }
  // JetBrains puts the project first: "shop – a.ts".
  const previous = fileAt === 0 ? undefined : segments[fileAt - 1];
  if (previous !== undefined && isShortName(previous)) return previous;
  const bracket = /\s[([](?<name>[\p{L}\p{N}][\p{L}\p{N}_. -]{1,40})[)\]]$/u.exec(
    segments[fileAt] ?? "",
  );
  return bracket?.groups?.["name"] ?? null;
}

function isShortName(text: string): boolean {
  return text.length <= 48 && text.split(/\s+/u).length <= 4 && /\p{L}/u.test(text);
}
