/**
 * Which devices a turn asks about ("what did I do on the laptop yesterday?"). It promises that nothing is looked for
 * where there is one device alone, and that a word which may mean something else counts only behind "on", "from" and
 * their like.
 */
import type { HistoryDevice } from "../../store/history.ts";
import type { AskedDevices } from "./readings.ts";
import { foldWord, type Token, tokenizeTurn } from "./turn/tokens.ts";

/** What a turn says of devices. */
export interface DeviceMention {
  readonly asked: AskedDevices;
  /** The turn with spaces where the device stood: its name is no topic. Everything else keeps its place. */
  readonly turn: string;
}

/**
 * @param others The devices other than this one.
 * @param self What this one is called; null: nobody knows.
 */
export function readAskedDevices(
  turn: string,
  others: readonly HistoryDevice[],
  self: Omit<HistoryDevice, "key"> | null,
): DeviceMention | null {
  if (others.length === 0) return null;
  const devices = self === null ? others : [...others, { key: 0, ...self }];
  const tokens = tokenizeTurn(turn).filter(({ type }) => type !== "mark");
  let best: Found | null = null;
  for (let at = 0; at < tokens.length; at += 1) {
    const found = findAt(tokens, at, devices);
    // The longest name wins, and of equals the first: "work laptop" is no other "laptop".
    if (found !== null && (best === null || found.next - found.at > best.next - best.at))
      best = found;
  }
  if (best === null) return null;
  const start = tokens[leadOf(tokens, best.at) ?? best.at]?.start ?? 0;
  const end = tokens[best.next - 1]?.end ?? start;
  const [key] = best.keys;
  const only = best.keys.length === 1 ? others.find((device) => device.key === key) : undefined;
  return {
    asked: { keys: new Set(best.keys), name: only?.name ?? null },
    turn: turn.slice(0, start) + " ".repeat(end - start) + turn.slice(end),
  };
}

interface Found {
  readonly at: number;
  readonly next: number;
  readonly keys: readonly number[];
}

function findAt(
  tokens: readonly Token[],
  at: number,
  devices: readonly HistoryDevice[],
): Found | null {
  const hasLead = leadOf(tokens, at) !== null;
  const named = devices
    .map((device) => ({ device, words: wordsOf(device.name) }))
    .filter(({ words }) => startsWith(tokens, at, words))
    .filter(({ words }) => hasLead || words.length > 1 || /\d/.test(words[0] ?? ""))
    .sort((a, b) => b.words.length - a.words.length);
  const [longest] = named;
  if (longest !== undefined) {
    const same = named.filter(({ words }) => words.length === longest.words.length);
    const keys = same.map(({ device }) => device.key);
    return { at, next: at + longest.words.length, keys };
  }
  if (!hasLead) return null;
  const word = tokens[at]?.folded ?? "";
  const before = tokens[at - 1]?.folded ?? "";
  if (MACHINES.has(word)) {
    if (THIS.has(before)) return { at, next: at + 1, keys: [0] };
    if (OTHER.has(before)) {
      const keys = devices.flatMap(({ key }) => (key === 0 ? [] : [key]));
      return { at, next: at + 1, keys };
    }
  }
  const kind = KINDS.get(word);
  if (kind === undefined) return null;
  // Somebody who calls a machine "ada-laptop" need not say what it is.
  const meant = devices.filter(
    (device) =>
      device.kind === kind || (device.kind === null && wordsOf(device.name).includes(word)),
  );
  return meant.length === 0 ? null : { at, next: at + 1, keys: meant.map(({ key }) => key) };
}

/** Where "on my other" begins that ends before a token; null when nothing of the sort stands there. */
function leadOf(tokens: readonly Token[], at: number): number | null {
  for (let lead = at - 1; lead >= Math.max(0, at - MOST_BETWEEN - 1); lead -= 1) {
    const word = tokens[lead]?.folded ?? "";
    if (LEADS.has(word)) return lead;
    if (!BETWEEN.has(word)) return null;
  }
  return null;
}

function startsWith(tokens: readonly Token[], at: number, words: readonly string[]): boolean {
  return words.length > 0 && words.every((word, index) => tokens[at + index]?.folded === word);
}

/** A name cut as turns are. */
function wordsOf(name: string): readonly string[] {
  return tokenizeTurn(name)
    .filter(({ type }) => type !== "mark")
    .map(({ text }) => foldWord(text));
}

const MOST_BETWEEN = 3;
const LEADS = wordSet(
  "on from at using with via auf am vom an im mit bei en desde con sur depuis avec a au du",
);
const BETWEEN = wordSet(
  "the my our that this other old new work office home der die das dem den meinem meinen meiner meine mein unserem diesem dieser anderen anderem alten neuen " +
    "el la mi este esta otro otra del al viejo nuevo le l mon ma notre ce cet cette autre vieux ancien nouveau",
);
const THIS = wordSet("this diesem dieser diesen este esta ce cet cette");
const OTHER = wordSet("other anderen anderem andere otro otra autre");
const MACHINES = wordSet(
  "device computer machine pc laptop notebook desktop phone tablet gerat rechner maschine handy ordenador computadora equipo dispositivo portatil ordinateur appareil portable",
);
const KINDS: ReadonlyMap<string, HistoryDevice["kind"]> = new Map([
  ...wordsFor("laptop", "laptop notebook macbook klapprechner portatil portable"),
  ...wordsFor("desktop", "desktop tower standrechner tischrechner sobremesa fixe"),
  ...wordsFor("phone", "phone mobile smartphone handy telefon movil telefono celular telephone"),
  ...wordsFor("tablet", "tablet ipad tableta tablette"),
  ...wordsFor("server", "server servidor serveur"),
]);

function wordsFor(
  kind: HistoryDevice["kind"],
  words: string,
): readonly (readonly [string, HistoryDevice["kind"]])[] {
  return words.split(" ").map((word) => [word, kind]);
}

function wordSet(words: string): ReadonlySet<string> {
  return new Set(words.split(" "));
}
