/**
 * The gate for events that other recorders send, whose data is JSON of their own making: windows and tabs are
 * read as ours are, and of everything else every text. All goes through the rules. Pure.
 */
import type { PrivacyGate } from "../privacy.ts";

/** What says how the data of a bucket is to be read: its id and ActivityWatch's name of its type. */
export interface BucketKind {
  readonly id: string;
  readonly type: string;
}

/** The data of one event: a JSON object. */
export type BucketData = Readonly<Record<string, unknown>>;

/** The data as it may be kept, or null when a rule drops the event. What passed already comes back as it is. */
export function gateBucketData(
  gate: Pick<PrivacyGate, "window" | "tab" | "foreign" | "text">,
  bucket: BucketKind,
  data: BucketData,
  atUs: number,
): BucketData | null {
  switch (bucket.type) {
    case "web.tab.current":
      return gateTab(gate, bucket, data, atUs);
    case "currentwindow":
      return gateWindow(gate, data, atUs);
    // Whether somebody is there is nobody's text, and no rule is about it.
    case "afkstatus":
      return redact(data, gate.text);
    default: {
      const sample = { app: appOfBucket(bucket, data), texts: textsOfBucket(data) };
      const gated = gate.foreign(sample, atUs);
      return gated.verdict === "drop" ? null : redact(data, gated.text);
    }
  }
}

/** The application that an event speaks of, as far as it says; null when it says none. */
export function appOfBucket(bucket: BucketKind, data: BucketData): string | null {
  if (bucket.type === "web.tab.current") return browserOf(bucket);
  const named = textOf(data, "app") ?? textOf(data, "editor") ?? textOf(data, "player");
  // Watchers of editors and players are called after them.
  return named ?? (OF_ONE_PROGRAM.has(bucket.type) ? (WATCHER.exec(bucket.id)?.[1] ?? null) : null);
}

const OF_ONE_PROGRAM: ReadonlySet<string> = new Set(["app.editor.activity", "currently-playing"]);
const WATCHER = /^aw-watcher-([^_]+)/;

/** Every text in the data of an event, at any depth. */
export function textsOfBucket(data: BucketData): readonly string[] {
  const texts: string[] = [];
  const look = (value: unknown): void => {
    if (typeof value === "string") texts.push(value);
    else if (Array.isArray(value)) for (const item of value) look(item);
    else if (typeof value === "object" && value !== null)
      for (const item of Object.values(value)) look(item);
  };
  look(data);
  return texts;
}

function gateTab(
  gate: Pick<PrivacyGate, "tab" | "text">,
  bucket: BucketKind,
  data: BucketData,
  atUs: number,
): BucketData | null {
  const title = textOf(data, "title");
  const url = textOf(data, "url");
  const isPrivate = data["incognito"] === true;
  const audible = data["audible"] === true;
  const gated = gate.tab({ app: browserOf(bucket), title, url, audible, private: isPrivate }, atUs);
  if (gated.verdict === "drop") return null;
  return {
    ...redact(data, gate.text),
    ...(title === null ? {} : { title: gated.facts.title ?? "" }),
    ...(url === null ? {} : { url: addressOf(url, gated.facts.place) }),
  };
}

function gateWindow(
  gate: Pick<PrivacyGate, "window" | "text">,
  data: BucketData,
  atUs: number,
): BucketData | null {
  const title = textOf(data, "title");
  const url = textOf(data, "url");
  const unknown = { pid: null, executable: null };
  // Some watchers know of a window what the tab in it says of itself.
  const isPrivate = data["incognito"] === true ? true : null;
  const app = textOf(data, "app") ?? "";
  const gated = gate.window({ app, title, url, ...unknown, private: isPrivate }, atUs);
  if (gated.verdict === "drop") return null;
  return {
    ...redact(data, gate.text),
    app: gated.facts.app,
    ...(title === null ? {} : { title: gated.facts.title ?? "" }),
    ...(url === null ? {} : { url: addressOf(url, gated.facts.place) }),
  };
}

/** Watchers and queries want an address; what was taken off it stays off. */
function addressOf(url: string, place: string | null): string {
  if (place === null) return "";
  return `${/^[a-z][a-z0-9+.-]*:\/\//i.exec(url)?.[0] ?? ""}${place}`;
}

function browserOf({ id }: BucketKind): string {
  return /^aw-watcher-web-([a-z]+)/i.exec(id)?.[1] ?? "browser";
}

/** Every text in a value of any depth, with its secrets replaced. */
function redact(data: BucketData, text: (raw: string) => string): BucketData {
  const clean = (value: unknown): unknown => {
    if (typeof value === "string") return text(value);
    if (Array.isArray(value)) return value.map(clean);
    return typeof value === "object" && value !== null ? redact({ ...value }, text) : value;
  };
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, clean(value)]));
}

function textOf(data: BucketData, key: string): string | null {
  const value = data[key];
  return typeof value === "string" ? value : null;
}
