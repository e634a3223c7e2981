// @ts-check
/**
 * What the privacy gate costs: each sample goes through JSON.stringify and through the gate in turn, in one
 * run, with the default rules and with 50 rules of the owner's besides. Then the worst that a stranger can
 * write, each once.
 */
import { createPrivacyGate } from "../../dist/capture/privacy.js";
import { DEFAULT_PRIVACY, privacySchema } from "../../dist/capture/privacy/rules.js";

const ROUNDS = Number(process.argv[2] ?? 40);
const NOW_US = Date.now() * 1000;

const OWNER_RULES = Array.from({ length: 50 }, (_, index) => {
  const kinds = [
    { action: "drop", title: `payroll ${index}|salar(y|ies) ${index}` },
    { action: "redact", title: `project[- ]?zeus${index}`, replacement: "a project" },
    { action: "app-only", app: `chat-${index}*` },
    { action: "drop", place: `intranet${index}.example.com/hr` },
    { action: "drop", title: `\\bpatient #?\\d{4,}${index}\\b` },
    { action: "redact", title: `(doctor|clinic|hospital)s? ${index}$` },
    { action: "app-only", title: `^confidential ${index}`, between: "18:00-08:00" },
  ];
  return kinds[index % kinds.length];
});

/** @type {readonly (readonly [string, string, string | null])[]} */
const SUBJECTS = [
  ["Code", "retry.ts — payments-api — Visual Studio Code", null],
  [
    "firefox",
    "Pull requests · acme/payments-api — Mozilla Firefox",
    "https://github.com/acme/payments-api/pulls?q=is%3Aopen",
  ],
  [
    "google-chrome",
    "(3) Inbox - someone@example.com - Mail - Google Chrome",
    "https://mail.example.com/mail/u/0/#inbox",
  ],
  ["Slack", "team-north (Channel) - Acme - 2 new items - Slack", null],
  ["xterm", "me@host: ~/src/payments-api", null],
  ["thunderbird", "Re: Quarterly planning – Entwurf 3 für Köln — Mozilla Thunderbird", null],
  ["firefox", "小説の書き方 - 図書館 — Mozilla Firefox", "https://library.example.jp/books/12345"],
  ["vlc", "👩‍🌾 Tomaten & Kürbis.mkv - VLC media player", null],
  ["libreoffice-writer", "Vertrag 2026-11-30 (Entwurf).odt — LibreOffice Writer", null],
  [
    "firefox",
    `${"A long title that a page made of many words ".repeat(12)}— Mozilla Firefox`,
    "https://example.com/a/b/c",
  ],
];

/**
 * Samples whose titles differ each time, as they do on a desktop: nothing can be answered from a cache.
 * @param {number} round
 */
function makeSamples(round) {
  return SUBJECTS.flatMap(([app, title, url], index) =>
    Array.from({ length: 10 }, (_, copy) => ({
      app,
      title: `${round}.${copy} ${title}`,
      url,
      pid: 1000 + index,
      executable: `/usr/bin/${app}`,
      private: null,
    })),
  );
}

const subjects = {
  "default rules": createPrivacyGate(DEFAULT_PRIVACY),
  "default + 50 rules": createPrivacyGate(privacySchema.parse({ rules: OWNER_RULES })),
};

/** @type {Record<string, number[]>} */
const times = {
  stringify: [],
  ...Object.fromEntries(Object.keys(subjects).map((name) => [name, []])),
};
let sink = 0;
for (let round = -5; round < ROUNDS; round++) {
  for (const sample of makeSamples(round)) {
    measure("stringify", round, () => JSON.stringify(sample).length);
    for (const [name, gate] of Object.entries(subjects)) {
      measure(name, round, () => gate.window(sample, NOW_US).verdict.length);
    }
  }
}

/**
 * @param {string} name
 * @param {number} round
 * @param {() => number} work
 */
function measure(name, round, work) {
  const started = process.hrtime.bigint();
  sink += work();
  const tookUs = Number(process.hrtime.bigint() - started) / 1000;
  // The first rounds only warm the engines up.
  if (round >= 0) times[name]?.push(tookUs);
}

console.log(`privacy gate, ${times["stringify"]?.length} samples each, interleaved (${sink % 10})`);
const base = quantile(times["stringify"] ?? [], 0.5);
for (const [name, list] of Object.entries(times)) {
  const at = (/** @type {number} */ share) => quantile(list, share).toFixed(1);
  console.log(
    `${name.padEnd(20)} p50 ${at(0.5)} µs (p25 ${at(0.25)}, p75 ${at(0.75)}, p99 ${at(0.99)})  ${(quantile(list, 0.5) / base).toFixed(1)} × JSON.stringify`,
  );
}

const gate = createPrivacyGate(
  privacySchema.parse({
    rules: [
      ...OWNER_RULES,
      { action: "drop", title: "^(a+)+$" },
      { action: "drop", title: "(x+x+)+y" },
      { action: "redact", title: "b.*z|b" },
      { action: "drop", title: "[a-z]{1,100}q" },
    ],
  }),
);
const HOSTILE = {
  "a title of 1 MB": "lorem ipsum ".repeat(90_000),
  "1 MB of CJK": "漢字".repeat(500_000),
  "(a+)+$ on 50,000 characters": `${"a".repeat(50_000)}!`,
  "(x+x+)+y on 50,000 characters": "x".repeat(50_000),
  "a redaction that looks ahead": "b".repeat(50_000),
  "digits and spaces": "1 ".repeat(25_000),
  "cards, almost": "4111 1111 1111 1112 ".repeat(2_500),
  "IBANs, almost": "DE89 3704 0044 0532 0130 01 ".repeat(2_000),
  "at signs": "a@".repeat(25_000),
  "colons and slashes": "://".repeat(17_000),
  "begins of private keys": "-----BEGIN PRIVATE KEY".repeat(2_500),
  "lone surrogates": "\ud83d".repeat(50_000),
  "zero-width spaces": "a\u200b".repeat(25_000),
  brackets: "(private browsing".repeat(3_000),
};
console.log("\nhostile titles, with 54 rules: processor time and time on the wall, longest of 5");
for (const [name, title] of Object.entries(HOSTILE)) {
  const sample = { app: "firefox", title, url: null, pid: null, executable: null, private: null };
  let longestMs = 0;
  let longestCpuMs = 0;
  for (let run = 0; run < 5; run++) {
    const started = performance.now();
    const cpu = process.cpuUsage();
    gate.window(sample, NOW_US);
    const { user, system } = process.cpuUsage(cpu);
    longestCpuMs = Math.max(longestCpuMs, (user + system) / 1000);
    longestMs = Math.max(longestMs, performance.now() - started);
  }
  console.log(
    `${name.padEnd(34)} ${longestCpuMs.toFixed(1).padStart(6)} ms ${longestMs.toFixed(1).padStart(8)} ms`,
  );
}

/**
 * @param {readonly number[]} list
 * @param {number} share
 */
function quantile(list, share) {
  const sorted = [...list].sort((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN;
}
