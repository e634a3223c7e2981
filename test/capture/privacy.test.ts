import * as fc from "fast-check";
import { describe, expect, test } from "vitest";

import type { WindowFacts, WindowSample } from "../../src/capture/events.ts";
import { createPrivacyGate, type PrivacyGate } from "../../src/capture/privacy.ts";
import { DEFAULT_PRIVACY, privacySchema } from "../../src/capture/privacy/rules.ts";
import { SEED_ENTRIES } from "../../src/capture/privacy/seed.ts";
import { nastyText } from "../helpers/arbitraries.ts";
import { propertyRuns } from "../helpers/property-runs.ts";

const NOON_US = Date.parse("2026-11-30T12:00:00Z") * 1000;
const inUtc = { timeZone: () => "UTC" };

function window(app: string, title: string | null, rest: Partial<WindowSample> = {}): WindowSample {
  return { app, title, url: null, pid: null, executable: null, private: null, ...rest };
}

function gateWith(...rules: readonly Record<string, unknown>[]): PrivacyGate {
  return createPrivacyGate(privacySchema.parse({ rules }), inUtc);
}

/** What is stored of a window, or the word "drop". */
function kept(gate: PrivacyGate, sample: WindowSample, nowUs = NOON_US) {
  const result = gate.window(sample, nowUs);
  if (result.verdict === "drop") return "drop";
  const { app, title, place } = result.facts;
  return { app, title, place };
}

const standard = createPrivacyGate(DEFAULT_PRIVACY, inUtc);

describe("by default", () => {
  test("an ordinary window is stored as it is", () => {
    const sample = window("Code", 'a=b "q" \\ 漢字 👩‍💻 — notes.md');
    expect(kept(standard, sample)).toEqual({ app: "Code", title: sample.title, place: null });
  });

  test("a title that cannot be read stays null, an empty one empty", () => {
    expect(kept(standard, window("xterm", null))).toMatchObject({ title: null });
    expect(kept(standard, window("xterm", ""))).toMatchObject({ title: "" });
  });

  test("the seeded list has at least forty entries of every category asked for", () => {
    expect(SEED_ENTRIES.length).toBeGreaterThanOrEqual(40);
    for (const category of [
      "password manager",
      "authenticator",
      "wallet",
      "bank",
      "lock screen",
      "secret prompt",
    ]) {
      expect(SEED_ENTRIES.some((entry) => entry.category === category)).toBe(true);
    }
  });

  test("every application, title and host of the seeded list is dropped", () => {
    for (const entry of SEED_ENTRIES) {
      const samples = [
        ...entry.apps.map((app) => window(app, "x")),
        ...entry.titles.map((title) => window("firefox", `Hello ${title} | Mozilla`)),
        ...entry.hosts.map((host) => window("firefox", "x", { url: `https://www.${host}/a` })),
      ];
      for (const sample of samples) {
        const result = standard.window(sample, NOON_US);
        expect(result.verdict, `${sample.app}: ${sample.title} ${sample.url}`).toBe("drop");
        expect(result.rule).toMatch(/^seeded: /);
      }
    }
  });

  test.each([
    ["1Password", "Vault — 1Password", null],
    ["org.keepassxc.KeePassXC", "Passwords.kdbx", null],
    ["1Password.exe", "x", null],
    ["electron", "x", "/opt/Bitwarden/bitwarden"],
    ["C:\\Program Files\\KeePass\\KeePass.exe", "x", null],
  ])("%s is known by any of its names", (app, title, executable) => {
    expect(standard.window(window(app, title, { executable }), NOON_US)).toMatchObject({
      verdict: "drop",
      rule: expect.stringContaining("password manager"),
    });
  });

  test("a name from the seeded list inside another word or another application is no match", () => {
    expect(kept(standard, window("firefox", "Bitwardens of the north"))).not.toBe("drop");
    expect(kept(standard, window("thunderbird", "Your PayPal receipt"))).not.toBe("drop");
    expect(kept(standard, window("firefox", "x", { url: "https://notpaypal.com/" }))).not.toBe(
      "drop",
    );
  });

  test.each([
    "Santander - Wikipedia — Mozilla Firefox",
    "Elster – Wikipedia — Mozilla Firefox",
    "Bank of the river — Mozilla Firefox",
    "Password policy.docx - Google Docs — Mozilla Firefox",
  ])("a city, a bird and a river are no bank: %s", (title) => {
    expect(kept(standard, window("firefox", title))).toMatchObject({ title });
  });

  test("an address is stored as host and path alone", () => {
    const place = (url: string) => {
      const facts = kept(standard, window("firefox", "x", { url }));
      return facts === "drop" ? facts : facts.place;
    };
    expect(place("https://user:pw@Example.com:8443/a/b/?q=1#f")).toBe("example.com:8443/a/b");
    expect(place("https://example.com/a;jsessionid=0123/b")).toBe("example.com/a/b");
    expect(place("https://example.com/a%3Fq=1")).toBe("example.com/a");
    expect(place("https://example.com")).toBe("example.com");
    expect(place("data:text/html,secret")).toBeNull();
    expect(place("file:///home/me/secret.pdf")).toBeNull();
    expect(place("javascript:alert(1)")).toBeNull();
    expect(place("about:config")).toBeNull();
    expect(place("http://[")).toBeNull();
    expect(place(`https://${"a".repeat(1_000_000)}`)).toBeNull();
    expect(place(`https://example.com/?${"a".repeat(1_000_000)}`)).toBe("example.com");
  });
});

describe("private windows", () => {
  test.each([
    ["Firefox", "Inbox (Private Browsing)"],
    ["firefox", "Inbox — Mozilla Firefox Private Browsing"],
    ["firefox-esr", "Mozilla Firefox Private Browsing"],
    ["firefox", "Navigation privée de Mozilla Firefox"],
    ["firefox", "Posteingang — Mozilla Firefox Privater Modus"],
    ["firefox", "Boîte de réception — Navigation privée de Mozilla Firefox"],
    ["firefox", "Inbox — Mozilla Firefox (Private Browsing)"],
    ["firefox", "受信トレイ — Mozilla Firefox プライベートブラウジング"],
    ["firefox", "Входящие — Mozilla Firefox — Приватный просмотр"],
    ["msedge", "Inbox - [InPrivate] - Microsoft\u200b Edge"],
    ["firefox", "Входящие — Приватный просмотр в Mozilla Firefox"],
    ["firefox", "البريد — التصفح الخاص في Mozilla Firefox"],
    ["firefox", "Caixa — Navegação privativa do Mozilla Firefox"],
    ["firefox", "Skrzynka — Mozilla Firefox (tryb prywatny)"],
    ["firefox", "Posta — Mozilla Firefox - Navigazione anonima"],
    ["firefox", "收件箱 — Mozilla Firefox 隐私浏览"],
    ["firefox", "받은편지함 — Mozilla Firefox 사생활 보호 모드"],
    ["firefox", "Indbakke — Mozilla Firefox privat browsing"],
    ["firefox", "Doručená pošta — Mozilla Firefox (anonymní prohlížení)"],
    ["google-chrome", "Inbox - Google Chrome (Incognito)"],
    ["google-chrome", "New Incognito Tab - Google Chrome"],
    ["Google Chrome", "Posteingang - Google Chrome (Inkognito)"],
    ["brave-browser", "Inbox - Brave (Private)"],
    ["brave-browser", "New Private Tab - Brave"],
    ["firefox", "Pošta — Anonymní prohlížení Mozilly Firefox"],
    ["firefox", "Поща — Mozilla Firefox Поверително сърфиране"],
    ["firefox", "Kotak masuk — Meramban Privat Mozilla Firefox"],
    ["firefox", "Meramban Privat Mozilla Firefox"],
    ["firefox", "กล่องจดหมาย — การเรียกดูแบบส่วนตัวใน Mozilla Firefox"],
    ["firefox", "收件匣 — Mozilla Firefox — 隱私瀏覽模式"],
    ["firefox", "Inbox — Mozilla Firefox in words of no language known"],
    ["firefox-devedition", "Inbox — Firefox Developer Edition Whatever"],
    ["LibreWolf", "Inbox — LibreWolf Private Browsing"],
    ["Tor Browser", "Inbox"],
    ["vivaldi", "Inbox - Vivaldi (Private Window)"],
    ["epiphany", "Inbox (Private)"],
    ["firefox", `${"x".repeat(1_000_000)} — Mozilla Firefox Private Browsing`],
    ["firefox", "Inbox — Mozilla Firefox Pri\u200bvate Browsing"],
    ["firefox", "Inbox （ｐｒｉｖａｔｅ　ｂｒｏｗｓｉｎｇ）"],
  ])("%s: a private window (%#) leaves nothing but the gap", (app, title) => {
    expect(standard.window(window(app, title, { url: "https://example.com/" }), NOON_US)).toEqual({
      verdict: "drop",
      rule: "private window",
    });
  });

  test("a window whose source says it is private is dropped whatever its title", () => {
    expect(kept(standard, window("chromium", "Inbox", { private: true }))).toBe("drop");
    expect(kept(standard, window("chromium", "Inbox", { private: false }))).not.toBe("drop");
  });

  test("a page or a file that speaks of private browsing is not a private window", () => {
    expect(
      kept(standard, window("firefox", "Private browsing - Wikipedia — Mozilla Firefox")),
    ).not.toBe("drop");
    expect(kept(standard, window("code", "incognito.ts - project - Visual Studio Code"))).not.toBe(
      "drop",
    );
    expect(
      kept(
        standard,
        window("firefox", "How Firefox private browsing works | Mozilla Support — Mozilla Firefox"),
      ),
    ).not.toBe("drop");
    expect(kept(standard, window("firefox", "Private Eye magazine — Mozilla Firefox"))).not.toBe(
      "drop",
    );
  });

  test.each([
    ["firefox", "Always There (Incognito) - YouTube — Mozilla Firefox"],
    ["chromium", "Meeting notes (private) - Google Docs - Chromium"],
    ["firefox", "Meeting notes (private) — Mozilla Firefox"],
    ["firefox", "Incognito — Mozilla Firefox"],
    ["firefox", "What is new in Mozilla Firefox 153 | Mozilla — Mozilla Firefox"],
    ["firefox", "Inbox — Mozilla Firefox ESR"],
    ["firefox", "About Mozilla Firefox"],
    ["firefox-nightly", "Inbox — Firefox Nightly"],
    ["firefox-devedition", "Inbox — Firefox Developer Edition"],
    ["zen", "Inbox — Zen Browser"],
    ["code", "notes - Mozilla Firefox bugs.md"],
    ["kate", "todo (incognito)"],
    ["org.gnome.Nautilus", "Photos (private mode)"],
    ["spotify", "Deep Waters (Incognito)"],
  ])("%s: what is only called like a mark (%#) is kept", (app, title) => {
    expect(kept(standard, window(app, title))).toMatchObject({ title });
  });

  test("songs, notices and files carry no mark of a window, whatever they are called", () => {
    const song = { title: "Always There", artist: "Incognito", playing: true };
    for (const player of ["Mozilla Firefox", "Chromium", "Spotify"]) {
      expect(standard.media({ ...song, player }, NOON_US)).toMatchObject({
        facts: { title: "Always There", artist: "Incognito" },
      });
    }
    const notice = { app: "firefox", summary: "Inbox (private)" };
    expect(standard.notification(notice, NOON_US).verdict).toBe("store");
    const tab = { app: "firefox", url: null, audible: null, private: false };
    expect(standard.tab({ ...tab, title: "Incognito" }, NOON_US).verdict).toBe("store");
    const player = { ...song, player: "Tor Browser" };
    expect(standard.media(player, NOON_US).verdict).toBe("drop");
  });

  test("a browser is known by its executable when its windows have a class of the owner's own", () => {
    const executable = "/usr/lib/firefox-esr/firefox-esr";
    const title = "Inbox — Mozilla Firefox Private Browsing";
    expect(kept(standard, window("work", title, { executable }))).toBe("drop");
    expect(kept(standard, window("work", title))).toBe("drop");
    expect(kept(standard, window("work", "PayPal: summary", { executable }))).toBe("drop");
    const tor = { executable: "/home/me/tor-browser/Browser/tor-browser" };
    expect(kept(standard, window("work", "Inbox", tor))).toBe("drop");
  });

  test("a program whose name only contains a browser's is none", () => {
    for (const app of ["org.mozilla.Thunderbird", "thunderbird-nightly", "Operator", "minder"]) {
      expect(kept(standard, window(app, "Your PayPal receipt"))).not.toBe("drop");
    }
    for (const app of ["firefoxdeveloperedition", "Brave-browser-nightly", "opera-stable"]) {
      expect(kept(standard, window(app, "Your PayPal receipt"))).toBe("drop");
    }
  });

  test("no rule of the owner's can keep a private window", () => {
    const gate = gateWith({ action: "keep", app: "firefox" });
    expect(kept(gate, window("firefox", "Inbox (Private Browsing)"))).toBe("drop");
  });

  test("a browser without a mark is recorded, or by its name alone when the owner asks for that", () => {
    const strict = createPrivacyGate({ ...DEFAULT_PRIVACY, unmarked_browsers: "app-only" });
    const page = window("chromium", "Inbox - Chromium", { url: "https://example.com/a" });
    expect(kept(standard, page)).toMatchObject({ title: "Inbox - Chromium" });
    expect(kept(strict, page)).toEqual({ app: "chromium", title: null, place: null });
    expect(kept(strict, { ...page, private: false })).toMatchObject({ title: "Inbox - Chromium" });
    expect(kept(strict, window("firefox", "Inbox — Mozilla Firefox"))).toMatchObject({
      title: "Inbox — Mozilla Firefox",
    });
  });
});

describe("rules", () => {
  test("the first rule that decides is the one that acts, and is named", () => {
    const gate = gateWith(
      { action: "app-only", app: "slack", name: "chat" },
      { action: "drop", title: "payroll" },
    );
    expect(gate.window(window("Slack", "payroll"), NOON_US)).toEqual({
      verdict: "store",
      facts: { kind: "window", app: "Slack", title: null, place: null },
      rule: "chat",
    });
    expect(gate.window(window("Code", "Payroll 2026"), NOON_US)).toEqual({
      verdict: "drop",
      rule: "rule 2",
    });
  });

  test("redact replaces every match, in the address too, and lets later rules have their turn", () => {
    const gate = gateWith(
      { action: "redact", title: "zeus|athena", replacement: "X" },
      { action: "drop", title: "secret" },
    );
    expect(
      kept(gate, window("Code", "Zeus and athena", { url: "https://example.com/zeus/1" })),
    ).toEqual({ app: "Code", title: "X and X", place: "example.com/X/1" });
    expect(kept(gate, window("Code", "zeus secret"))).toBe("drop");
  });

  test("redact without a title pattern replaces the whole title and withholds the address", () => {
    const gate = gateWith({ action: "redact", place: "example.com/private" });
    const at = (url: string) => kept(gate, window("firefox", "T", { url }));
    expect(at("https://www.example.com/private/1")).toEqual({
      app: "firefox",
      title: "[redacted]",
      place: null,
    });
    expect(at("https://example.com/privateer")).toMatchObject({ title: "T" });
    expect(at("https://example.org/private")).toMatchObject({ title: "T" });
  });

  test("a place without a port is meant on every port, one with a port on that alone", () => {
    const gate = gateWith(
      { action: "drop", place: "intranet.example.com/hr" },
      { action: "drop", place: "localhost:3000" },
    );
    const at = (url: string) => kept(gate, window("firefox", "T", { url }));
    expect(at("https://intranet.example.com:8443/hr/list")).toBe("drop");
    expect(at("https://www.intranet.example.com:8443/hr")).toBe("drop");
    expect(at("https://intranet.example.com:8443/it")).not.toBe("drop");
    expect(at("http://localhost:3000/a")).toBe("drop");
    expect(at("http://localhost:3001/a")).not.toBe("drop");
    expect(at("http://localhost/a")).not.toBe("drop");
  });

  test("keep takes an application off the seeded list but not its secrets", () => {
    const gate = gateWith({ action: "keep", app: "gnucash" });
    expect(kept(gate, window("GnuCash", "Book DE89 3704 0044 0532 0130 00"))).toMatchObject({
      title: "Book [iban]",
    });
  });

  test("a time of day holds in local time, over midnight, with its end excluded", () => {
    const rules = privacySchema.parse({ rules: [{ action: "drop", between: "22:00-07:30" }] });
    const gate = createPrivacyGate(rules, { timeZone: () => "Asia/Tokyo" });
    const at = (iso: string) => kept(gate, window("Code", "x"), Date.parse(iso) * 1000);
    expect(at("2026-11-30T13:00:00Z")).toBe("drop");
    expect(at("2026-11-30T22:29:00Z")).toBe("drop");
    expect(at("2026-11-30T22:30:00Z")).not.toBe("drop");
    expect(at("2026-11-30T12:59:00Z")).not.toBe("drop");
  });

  test("a rule for private windows may keep the application's name", () => {
    const gate = gateWith({ action: "app-only", private: true });
    expect(kept(gate, window("firefox", "Inbox (Private Browsing)"))).toEqual({
      app: "firefox",
      title: null,
      place: null,
    });
  });

  test("an application is found by pattern, and the star is no expression", () => {
    const gate = gateWith({ action: "drop", app: "org.gnome.*" }, { action: "drop", app: "a.c" });
    expect(kept(gate, window("org.gnome.Calendar", "x"))).toBe("drop");
    expect(kept(gate, window("abc", "x"))).not.toBe("drop");
  });

  test("a rule sees what a reader sees: full-width letters and zero-width spaces hide nothing", () => {
    const drop = gateWith({ action: "drop", title: "payroll" });
    expect(kept(drop, window("Code", "ｐａｙｒｏｌｌ"))).toBe("drop");
    expect(kept(drop, window("Code", "pay\u200broll"))).toBe("drop");
    const redact = gateWith({ action: "redact", title: "payroll" });
    expect(kept(redact, window("Code", "the pay\u00adroll"))).toMatchObject({
      title: "the [redacted]",
    });
  });

  test("a rule sees through letters of another script that only look Latin, in words that mix them", () => {
    const gate = gateWith({ action: "redact", title: "payroll" });
    expect(kept(gate, window("Code", "the pаyrоll list"))).toMatchObject({
      title: "the [redacted] list",
    });
    // A word of one script is what it is.
    expect(kept(gate, window("Code", "зарплата и план"))).toMatchObject({
      title: "зарплата и план",
    });
  });

  test("a rule is asked about songs, notices, files and tabs as well", () => {
    const gate = gateWith({ action: "drop", title: "payroll" });
    expect(
      gate.media({ player: "vlc", title: "x", artist: "Payroll", playing: true }, NOON_US).verdict,
    ).toBe("drop");
    expect(gate.notification({ app: "mail", summary: "payroll" }, NOON_US).verdict).toBe("drop");
    const editor = { app: "code", project: null, branch: null, language: null };
    expect(gate.editor({ ...editor, file: "payroll.csv" }, NOON_US).verdict).toBe("drop");
    const tab = { app: "firefox", url: null, audible: null, private: null };
    expect(gate.tab({ ...tab, title: "payroll" }, NOON_US).verdict).toBe("drop");
    expect(gate.tab({ ...tab, title: "x", private: true }, NOON_US).verdict).toBe("drop");
  });
});

test("a raw text does not compile where only a gated one may stand", () => {
  // @ts-expect-error a plain string is no StorableText
  const facts: WindowFacts = { kind: "window", app: "Code", title: "raw", place: null };
  expect(facts.kind).toBe("window");
});

describe("hostile input", () => {
  test("a title of one megabyte is cut to four kilobytes, in well under a second", () => {
    const facts = kept(standard, window("Code", "漢".repeat(1_000_000)));
    if (facts === "drop") throw new Error("dropped");
    expect(Buffer.byteLength(facts.title ?? "")).toBeLessThanOrEqual(4096);
    expect(facts.title?.length).toBe(1365);
  });

  test("what is stored is well-formed, at most four kilobytes, and goes through the gate unchanged", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 300 }), fc.nat(30), (text, times) => {
        const facts = kept(standard, window("Code", text.repeat(times)));
        if (facts === "drop" || facts.title === null) return;
        expect(facts.title).not.toMatch(/\p{Cs}/u);
        expect(Buffer.byteLength(facts.title)).toBeLessThanOrEqual(4096);
        expect(kept(standard, window("Code", facts.title))).toEqual(facts);
      }),
    );
  });

  test("no text around a secret lets it through", () => {
    const secret = fc.constantFrom(
      "AKIAIOSFODNN7EXAMPLE",
      "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
      "sk-proj-abcdefghijk1234567890ABCD",
      "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abcdefgh",
      "https://bob:hunter2-7731@example.com/",
      "password=hunter2-7731",
      "4111 1111 1111 1111",
      "DE89 3704 0044 0532 0130 00",
    );
    const around = fc.oneof(nastyText(), fc.string({ unit: "binary", maxLength: 40 }), fc.string());
    fc.assert(
      fc.property(around, secret, around, (before, hidden, after) => {
        const facts = kept(standard, window("Code", `${before} ${hidden} ${after}`));
        if (facts === "drop") return;
        const core = hidden.replace(/^password=|^https:\/\/bob:|@.*$/g, "");
        expect(facts.title).not.toContain(core);
      }),
      { numRuns: propertyRuns(300, 20_000) },
    );
  });

  test("lone surrogates become replacement characters", () => {
    expect(kept(standard, window("Code", "a\ud83d b\udc69"))).toMatchObject({
      title: "a\ufffd b\ufffd",
    });
  });

  test("a pattern that blows up a backtracking engine is harmless", () => {
    const gate = gateWith(
      { action: "drop", title: "^(a+)+$" },
      { action: "redact", title: "(x+x+)+y" },
    );
    expect(kept(gate, window("Code", `b${"a".repeat(4000)}`))).not.toBe("drop");
    expect(kept(gate, window("Code", "a".repeat(50_000)))).toBe("drop");
  });

  test("a redaction that would look ahead to the end at each match drops the sample, and says why", () => {
    const gate = gateWith({ action: "redact", title: "a.*z|a" });
    expect(kept(gate, window("Code", "a".repeat(20)))).toMatchObject({
      title: "[redacted]".repeat(20),
    });
    expect(gate.window(window("Code", "a".repeat(4000)), NOON_US)).toEqual({
      verdict: "drop",
      rule: "privacy gate failed: a redaction takes too many steps",
    });
  });

  test("a fault inside the gate drops the sample, is counted, and does not quote the title", () => {
    const gate = createPrivacyGate(DEFAULT_PRIVACY, { timeZone: () => "UTC" });
    const trap: WindowSample = {
      ...window("Code", "x"),
      get title(): string {
        throw new TypeError("Cannot read canary-7731");
      },
    };
    const result = gate.window(trap, NOON_US);
    expect(result).toEqual({ verdict: "drop", rule: "privacy gate failed: TypeError" });
    expect(gate.faults()).toEqual({ count: 1, last: "TypeError" });
    expect(kept(gate, window("Code", "x"))).not.toBe("drop");
  });

  test("an unusable time zone drops samples instead of letting a rule lapse", () => {
    const rules = privacySchema.parse({ rules: [{ action: "drop", between: "22:00-07:30" }] });
    const gate = createPrivacyGate(rules, { timeZone: () => "Mars/Olympus" });
    expect(gate.window(window("Code", "x"), NOON_US)).toMatchObject({
      verdict: "drop",
      rule: "privacy gate failed: RangeError",
    });
  });
});
