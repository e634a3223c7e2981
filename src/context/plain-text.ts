/**
 * Text that strangers wrote, made fit to stand on one line of a block, and the fixed ways in which times
 * and durations are told. It promises that no field ever yields a line break, a control character or an
 * invisible one, whatever its length, and that what it formats itself is trusted text.
 */
import { ActivityError } from "../errors.ts";

/** A stretch of a string in UTF-16 code units, half open, that holds characters strangers wrote. */
export interface UntrustedSpan {
  readonly start: number;
  readonly end: number;
}

declare const trusted: unique symbol;

/** Text this program made itself, such as a time: it may stand in a line without being marked untrusted. */
export type TrustedText = string & { readonly [trusted]: true };

/** What a field holds, which decides how much of it is shown and how. */
export type FieldKind = "title" | "app" | "place" | "device";

/** Longest field of each kind in UTF-16 code units, the ellipsis included. */
export const FIELD_MAX_CHARS = {
  title: 90,
  app: 40,
  place: 70,
  device: 32,
} as const satisfies Record<FieldKind, number>;

/**
 * One field on one line: NFKC, no control, bidi, zero-width, tag or other invisible characters, white
 * space collapsed, `"` turned into `'`, cut on a grapheme border with an ellipsis.
 *
 * A `place` is reduced to host and path first, see {@link toPlace}. A `device` keeps letters, digits and what names
 * are made of, so that no name looks like the rest of a line; of one without any, "device" is left. Idempotent. Only the first 4,096
 * code units of `raw` are looked at, so that a title of a megabyte costs no more than one of a page.
 */
export function cleanField(kind: FieldKind, raw: string): string {
  const maxChars = FIELD_MAX_CHARS[kind];
  const text = kind === "place" ? toPlace(raw) : raw;
  if (text.length <= maxChars && CLEAN[kind].test(text)) return text;
  // An ellipsis at the end stays one (NFKC makes three dots of it), so that a field that was cut keeps its form.
  const cut = text.length > MAX_RAW_CHARS || text.endsWith(ELLIPSIS);
  const line = toOneLine(text.slice(0, MAX_RAW_CHARS).replace(/…$/, ""));
  // Cleaning may bring forth a `?`, `@` or `:` that was written full width.
  const shown =
    kind === "place"
      ? toPlace(line).replaceAll(" ", "%20")
      : kind === "device"
        ? toName(line)
        : line;
  if (!cut && shown.length <= maxChars) return shown;
  return cutAtGrapheme(shown, maxChars - 1) + ELLIPSIS;
}

/**
 * Host and path of an address: no scheme, query, fragment, user name or password. An address without a
 * host, such as `about:blank` or `data:…`, is told by its scheme alone. Text that is no address, and a
 * place that was reduced before, comes back without what follows its first `?` or `#`.
 */
export function toPlace(raw: string): string {
  let place = raw.slice(0, MAX_RAW_CHARS).trim();
  // What is left may look like an address again (`ada@https://…`); every round makes it shorter.
  for (let before = ""; before !== place;) {
    before = place;
    place = reduceAddress(place);
  }
  return place;
}

function reduceAddress(address: string): string {
  const opaque = /^[a-z][a-z0-9+.-]{0,30}:(?!\/\/|\\\\|\d)/i.exec(address);
  if (opaque !== null) return opaque[0].toLowerCase();
  const rest = address.replace(/^[a-z][a-z0-9+.-]{0,30}:[/\\]{2}/i, "");
  const path = rest.slice(0, firstOf(rest, /[?#]/));
  const hostEnd = firstOf(path, /[/\\]/);
  const host = path.slice(path.lastIndexOf("@", hostEnd) + 1, hostEnd);
  const tail = path.slice(hostEnd);
  return (tail === "/" ? host : host + tail).trim();
}

/** Whether a character is a line break to any reader: LF, CR, VT, FF, NEL, LS, PS. */
export const LINE_BREAK = /\r\n|[\n\r\v\f\u0085\u2028\u2029]/;

/**
 * A duration in words: `45 s`, `12 min`, `1 h`, `43 h 38 min`. Whole units, rounded down; seconds only
 * below one minute; a negative duration counts as none.
 */
export function formatDuration(durationUs: number): TrustedText {
  const seconds = Math.max(0, Math.floor(durationUs / 1_000_000));
  if (seconds < 60) return asTrusted(`${seconds} s`);
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  if (hours === 0) return asTrusted(`${minutes} min`);
  return asTrusted(minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`);
}

/** How one IANA zone tells time. All methods take microseconds since 1970 UTC. */
export interface LocalTime {
  readonly timeZone: string;
  /** Offset from UTC in minutes, east positive. */
  readonly offsetMinutes: (atUs: number) => number;
  /** `16:12` */
  readonly clock: (atUs: number) => TrustedText;
  /** `Fri 27 Nov 2026` */
  readonly day: (atUs: number) => TrustedText;
  /** `Fri 27 Nov` */
  readonly shortDay: (atUs: number) => TrustedText;
  /** `27 Nov 2026` */
  readonly date: (atUs: number) => TrustedText;
  /** `2026-11-27`, the local day as the store keys it. */
  readonly isoDay: (atUs: number) => TrustedText;
  /** `CET (UTC+01:00)`, or `(UTC+09:00)` for a zone without an English abbreviation. */
  readonly zone: (atUs: number) => TrustedText;
}

/**
 * Local times of `timeZone`. Formatters are dear to make and so are kept for the zones used last.
 * Throws `bad_request` for a name that is no IANA zone.
 */
export function localTime(timeZone: string): LocalTime {
  const kept = localTimes.get(timeZone);
  if (kept !== undefined) return kept;
  const made = createLocalTime(timeZone);
  if (localTimes.size >= 16) localTimes.clear();
  localTimes.set(timeZone, made);
  return made;
}

// A memo of a pure function, no state: the same zone always tells the same times.
const localTimes = new Map<string, LocalTime>();

const MAX_RAW_CHARS = 4096;
const ELLIPSIS = "…";

const NO_PART_OF_A_NAME = /[^\p{L}\p{M}\p{N} ._'-]/gu;

function toName(line: string): string {
  const name = toOneLine(line.replace(NO_PART_OF_A_NAME, ""));
  return name === "" ? "device" : name;
}

/** Printable ASCII without `"`, single spaces only and none at the ends. */
const CLEAN_ASCII = /^(?:[!#-~]+(?: [!#-~]+)*)?$/;

/** A field of each kind that needs no cleaning. A place stands without quotes and so has to stay one word. */
const CLEAN = {
  title: CLEAN_ASCII,
  app: CLEAN_ASCII,
  place: /^[!#-~]*$/,
  device: /^[A-Za-z0-9_'-]+(?:[ .][A-Za-z0-9_'-]+)*$/,
} as const satisfies Record<FieldKind, RegExp>;

// Default_Ignorable_Code_Point holds the bidi controls, zero-width, tag and fill characters and the
// variation selectors, all of which can carry text that nobody sees. U+FFF9–FFFB are annotation controls.
const INVISIBLE = /[\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]/gu;
const WHITE = /[\s\v\f\u0085]+/g;
// What is left of the controls after white space became spaces, and halves of surrogate pairs.
const CONTROL = /\p{Cc}/gu;
const LONE_SURROGATE = /\p{Cs}/gu;

function toOneLine(raw: string): string {
  // NFKC first: it may bring forth spaces, quotes and invisible characters. And again at the end, because
  // taking out an invisible character lets its neighbours compose.
  return raw
    .normalize("NFKC")
    .replace(INVISIBLE, "")
    .replace(WHITE, " ")
    .replace(CONTROL, "")
    .replace(LONE_SURROGATE, "\ufffd")
    .normalize("NFKC")
    .replaceAll('"', "'")
    .replace(/ {2,}/g, " ")
    .trim();
}

/** At most `maxChars` code units of `text`, ending on a grapheme border and not on a space. */
function cutAtGrapheme(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  // A grapheme may be of any length; a window keeps the search for its start short.
  const window = text.slice(0, maxChars * 2);
  if (PRINTABLE_ASCII.test(window)) return text.slice(0, maxChars).trimEnd();
  let end = 0;
  for (const { index } of graphemesOf(window)) {
    if (index > maxChars) break;
    end = index;
  }
  return text.slice(0, end).trimEnd();
}

/** Here every character is a grapheme. */
const PRINTABLE_ASCII = /^[ -~]*$/;

function graphemesOf(text: string): Intl.Segments {
  const kept = segmenters[0] ?? new Intl.Segmenter("en", { granularity: "grapheme" });
  segmenters[0] = kept;
  return kept.segment(text);
}

// A memo, no state: the one segmenter takes 9 ms to make, which a start need not wait for.
const segmenters: Intl.Segmenter[] = [];

function firstOf(text: string, pattern: RegExp): number {
  const at = text.search(pattern);
  return at === -1 ? text.length : at;
}

/** The one place that vouches for text: everything passed here was built from digits and fixed words. */
function asTrusted(text: string): TrustedText {
  return text as TrustedText;
}

const WEEKDAYS = "SunMonTueWedThuFriSat";
const MONTHS = [
  "Jan",
  "Feb",
  "Mar",
  "Apr",
  "May",
  "Jun",
  "Jul",
  "Aug",
  "Sep",
  "Oct",
  "Nov",
  "Dec",
] as const;

const MINUTE_MS = 60_000;
const BUCKET_MS = 15 * MINUTE_MS;

function createLocalTime(timeZone: string): LocalTime {
  const wall = createWallFormat(timeZone);
  const offsets = new Map<number, number | null>();
  const zones = new Map<number, TrustedText>();

  /** Asks the zone database: reads the wall clock and takes the difference. */
  function readOffset(ms: number): number {
    const parts = new Map(wall.formatToParts(ms).map(({ type, value }) => [type, Number(value)]));
    const read = (type: Intl.DateTimeFormatPartTypes): number => Number(parts.get(type));
    const local = Date.UTC(
      read("year"),
      read("month") - 1,
      read("day"),
      read("hour"),
      read("minute"),
      read("second"),
    );
    return Math.round((local - Math.floor(ms / 1000) * 1000) / MINUTE_MS);
  }

  function offsetMinutes(atUs: number): number {
    const ms = Math.floor(atUs / 1000);
    const bucket = Math.floor(ms / BUCKET_MS);
    let offset = offsets.get(bucket);
    if (offset === undefined) {
      const first = readOffset(bucket * BUCKET_MS);
      // A zone may change in the middle of a bucket (Newfoundland did at 00:01): such a bucket is never kept.
      offset = first === readOffset((bucket + 1) * BUCKET_MS - 1) ? first : null;
      if (offsets.size >= 4096) offsets.clear();
      offsets.set(bucket, offset);
    }
    return offset ?? readOffset(ms);
  }

  const local = (atUs: number): Date => {
    const ms = Math.floor(atUs / 1000);
    return new Date(ms + offsetMinutes(atUs) * MINUTE_MS);
  };
  const dayMonth = (date: Date): string => `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]}`;
  const weekday = (date: Date): string => WEEKDAYS.slice(date.getUTCDay() * 3).slice(0, 3);

  return {
    timeZone,
    offsetMinutes,
    clock: (atUs) => {
      const date = local(atUs);
      return asTrusted(`${two(date.getUTCHours())}:${two(date.getUTCMinutes())}`);
    },
    day: (atUs) => {
      const date = local(atUs);
      return asTrusted(`${weekday(date)} ${dayMonth(date)} ${date.getUTCFullYear()}`);
    },
    shortDay: (atUs) => {
      const date = local(atUs);
      return asTrusted(`${weekday(date)} ${dayMonth(date)}`);
    },
    date: (atUs) => {
      const date = local(atUs);
      return asTrusted(`${dayMonth(date)} ${date.getUTCFullYear()}`);
    },
    isoDay: (atUs) => asTrusted(local(atUs).toISOString().slice(0, 10)),
    zone: (atUs) => {
      const offset = offsetMinutes(atUs);
      let text = zones.get(offset);
      if (text === undefined) {
        const name = zoneAbbreviation(timeZone, Math.floor(atUs / 1000));
        text = asTrusted(
          name === null ? `(${utcOffset(offset)})` : `${name} (${utcOffset(offset)})`,
        );
        zones.set(offset, text);
      }
      return text;
    },
  };
}

function createWallFormat(timeZone: string): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat("en-US", {
      timeZone,
      hourCycle: "h23",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
    });
  } catch (cause) {
    throw new ActivityError(
      "bad_request",
      `The time zone ${JSON.stringify(timeZone.slice(0, 60))} is not known.`,
      'Give an IANA name, such as "Europe/Berlin".',
      { cause },
    );
  }
}

/** CET, EST, IST: each abbreviation is known to the English of its own region only. */
function zoneAbbreviation(timeZone: string, ms: number): string | null {
  for (const locale of ["en-US", "en-GB", "en-AU", "en-IN", "en-ZA"]) {
    const format = new Intl.DateTimeFormat(locale, { timeZone, timeZoneName: "short" });
    const name = format.formatToParts(ms).find((part) => part.type === "timeZoneName")?.value;
    if (name !== undefined && /^[A-Z]{2,5}$/.test(name)) return name;
  }
  return null;
}

function utcOffset(minutes: number): string {
  const size = Math.abs(minutes);
  return `UTC${minutes < 0 ? "-" : "+"}${two(Math.floor(size / 60))}:${two(size % 60)}`;
}

function two(value: number): string {
  return value < 10 ? `0${value}` : String(value);
}
