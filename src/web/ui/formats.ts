/**
 * How the page tells dates, times, durations and sizes: in the language of the browser, with its 12- or
 * 24-hour clock, in the zone of this machine.
 */
export interface Formats {
  /** Language the page formats in, such as `de-AT`. */
  readonly locale: string;
  /** IANA zone. */
  readonly timeZone: string;
  /** `14:05` or `2:05 PM` */
  readonly clock: (atUs: number) => string;
  /** `14:05:09` */
  readonly clockWithSeconds: (atUs: number) => string;
  /** `Friday, 27 November 2026` */
  readonly day: (atUs: number) => string;
  /** `Fri 27 Nov` */
  readonly shortDay: (atUs: number) => string;
  /** `Fri` */
  readonly weekday: (atUs: number) => string;
  /** `27` */
  readonly dayOfMonth: (atUs: number) => string;
  /** `27 Nov` */
  readonly shortDate: (atUs: number) => string;
  /** `November`, for 11. */
  readonly monthName: (month: number) => string;
  /** `November 2026` */
  readonly month: (atUs: number) => string;
  /** `Nov` */
  readonly shortMonth: (atUs: number) => string;
  /** `2026` */
  readonly year: (atUs: number) => string;
  /** `27 Nov 2026, 14:05` */
  readonly moment: (atUs: number) => string;
  /** `27 Nov, 14:05` */
  readonly shortMoment: (atUs: number) => string;
  /** `27 Nov 2026, 14:05 – 15:20`, told only as finely as is needed; whole days without clock times. */
  readonly range: (fromUs: number, toUs: number, wholeDays: boolean) => string;
  /** `3 hours ago`, seen from `nowUs`. */
  readonly ago: (atUs: number, nowUs: number) => string;
  /** `43 h 38 min`, `12 min`, `45 s`: whole units, rounded down, as everywhere in this program. */
  readonly duration: (us: number) => string;
  /** `3.2 ms` */
  readonly milliseconds: (ms: number) => string;
  /** `2.6 h`, where there is no room for more. */
  readonly hours: (us: number) => string;
  /** `1,234` */
  readonly count: (value: number) => string;
  /** `12.3 MB` */
  readonly bytes: (value: number) => string;
  /** `31 %`, of a share between 0 and 1. */
  readonly percent: (share: number) => string;
}

/** `language` is one as the browser names it, `timeZone` an IANA zone. */
export function createFormats(language: string, timeZone: string): Formats {
  const locale = inMonthsOfRecord(language);
  const date = (options: Intl.DateTimeFormatOptions): ((atUs: number) => string) => {
    const format = new Intl.DateTimeFormat(locale, { ...options, timeZone });
    return (atUs) => format.format(atUs / 1000);
  };
  const monthNames = new Intl.DateTimeFormat(locale, { month: "long", timeZone: "UTC" });
  const dayParts = { day: "numeric", month: "short", year: "numeric", timeZone } as const;
  const dayRange = new Intl.DateTimeFormat(locale, dayParts);
  const clockRange = new Intl.DateTimeFormat(locale, {
    ...dayParts,
    hour: "numeric",
    minute: "2-digit",
  });
  const count = new Intl.NumberFormat(locale);
  const decimal = new Intl.NumberFormat(locale, { maximumFractionDigits: 1 });
  const percent = new Intl.NumberFormat(locale, { style: "percent", maximumFractionDigits: 0 });
  const relative = new Intl.RelativeTimeFormat(locale, { numeric: "auto" });
  return {
    locale,
    timeZone,
    clock: date({ hour: "numeric", minute: "2-digit" }),
    clockWithSeconds: date({ hour: "numeric", minute: "2-digit", second: "2-digit" }),
    day: date({ weekday: "long", day: "numeric", month: "long", year: "numeric" }),
    shortDay: date({ weekday: "short", day: "numeric", month: "short" }),
    weekday: date({ weekday: "short" }),
    dayOfMonth: date({ day: "numeric" }),
    shortDate: date({ day: "numeric", month: "short" }),
    monthName: (month) => monthNames.format(Date.UTC(2026, month - 1, 1)),
    month: date({ month: "long", year: "numeric" }),
    shortMonth: date({ month: "short" }),
    year: date({ year: "numeric" }),
    moment: date({
      day: "numeric",
      month: "short",
      year: "numeric",
      hour: "numeric",
      minute: "2-digit",
    }),
    shortMoment: date({ day: "numeric", month: "short", hour: "numeric", minute: "2-digit" }),
    range: (fromUs, toUs, wholeDays) =>
      (wholeDays ? dayRange : clockRange).formatRange(fromUs / 1000, toUs / 1000),
    ago: (atUs, nowUs) => formatAgo(relative, atUs, nowUs),
    duration: formatDuration,
    milliseconds: (ms) => `${decimal.format(ms)} ms`,
    hours: (us) => `${decimal.format(us / 3_600_000_000)} h`,
    count: (value) => count.format(value),
    bytes: (value) => formatBytes(decimal, value),
    percent: (share) => percent.format(share),
  };
}

/**
 * The calendar of the page has the days and months of the Gregorian one. Languages that count their years otherwise keep
 * that (Thai, Japanese); of those with other months (Persian, Arabic of some countries) the month's name would be that of
 * another month.
 */
function inMonthsOfRecord(language: string): string {
  const { calendar } = new Intl.DateTimeFormat(language).resolvedOptions();
  if (SAME_MONTHS.has(calendar)) return language;
  return new Intl.Locale(language, { calendar: "gregory" }).toString();
}

const SAME_MONTHS: ReadonlySet<string> = new Set(["gregory", "buddhist", "japanese", "roc"]);

function formatAgo(format: Intl.RelativeTimeFormat, atUs: number, nowUs: number): string {
  const seconds = (atUs - nowUs) / 1_000_000;
  for (const [unit, length] of [
    ["day", 86_400],
    ["hour", 3600],
    ["minute", 60],
  ] as const) {
    if (Math.abs(seconds) >= length) return format.format(Math.trunc(seconds / length), unit);
  }
  return format.format(Math.trunc(seconds), "second");
}

function formatDuration(us: number): string {
  const seconds = Math.max(0, Math.floor(us / 1_000_000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  if (hours === 0) return `${minutes} min`;
  return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`;
}

function formatBytes(format: Intl.NumberFormat, value: number): string {
  let amount = value;
  for (const unit of ["B", "kB", "MB"]) {
    if (amount < 1000) return `${format.format(amount)} ${unit}`;
    amount /= 1000;
  }
  return `${format.format(amount)} GB`;
}
