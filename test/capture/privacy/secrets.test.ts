import * as fc from "fast-check";
import { describe, expect, test } from "vitest";

import { foldText } from "../../../src/capture/privacy/readings.ts";
import { redactSecrets } from "../../../src/capture/privacy/secrets.ts";

const all = { emails: true, oneTimeCodes: true };
const usual = { emails: false, oneTimeCodes: false };

describe("what is replaced", () => {
  test.each([
    ["AKIAIOSFODNN7EXAMPLE in a terminal", "[secret] in a terminal"],
    ["token ghp_16C7e42F292c6912E7710c838347Ae178B4a", "token [secret]"],
    ["xoxb-1234567890-abcdefghij", "[secret]"],
    ["sk-proj-abcdefghijk1234567890ABCD", "[secret]"],
    ["sk-ant-api03-AbCdEf0123456789", "[secret]"],
    ["sk_live_4eC39HqLyjWDarjtT1zdp7dc", "[secret]"],
    ["AIzaSyA-1234567890abcdefghijklmnopqrstuv", "[secret]"],
    ["glpat-abcdefghijklmnopqrst", "[secret]"],
    ["123456789:AAE_abcdefghijklmnopqrstuvwxyz01234", "[secret]"],
    ["eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-def_x end", "[secret] end"],
    ["Authorization: Bearer abcdefghijklmnop", "Authorization: Bearer [secret]"],
    ["git clone https://bob:hunter2@host/x.git", "git clone https://[secret]@host/x.git"],
    ["https://bob:pa/ss@host/x", "https://[secret]@host/x"],
    ["https://bob:p@ss@word@host/x", "https://[secret]@host/x"],
    ["psql postgres://u:p@db/x", "psql postgres://[secret]@db/x"],
    ["curl -u bob:secret@host", "curl -u [secret]@host"],
    ["PASSWORD=hunter2 make", "PASSWORD=[secret] make"],
    ["DB_PASSWORD='a b c' run", "DB_PASSWORD=[secret] run"],
    ["password: hunt3r22", "password: [secret]"],
    ["Passwort: geh3im!", "Passwort: [secret]"],
    ["-----BEGIN OPENSSH PRIVATE KEY----- b3BlbnNzaC1rZXk", "[secret]"],
    [
      "-----BEGIN PGP PRIVATE KEY BLOCK-----\nx\n-----END PGP PRIVATE KEY BLOCK----- rest",
      "[secret] rest",
    ],
    ["4111 1111 1111 1111", "[card]"],
    ["no. 3.4111.1111.1111.1111 and x.4111111111111111", "no. 3.[card] and x.[card]"],
    ["pay 12 4111-1111-1111-1111 now", "pay 12 [card] now"],
    ["378282246310005, 6011111111111117", "[card], [card]"],
    ["٤١١١ ١١١١ ١١١١ ١١١١", "[card]"],
    ["DE89 3704 0044 0532 0130 00 Rechnung", "[iban] Rechnung"],
    ["to GB29NWBK60161331926819.", "to [iban]."],
    ["no9386011117947", "[iban]"],
    ["mail bob.smith+x@example.co.uk now", "mail [e-mail] now"],
    ["Your code is 123456", "Your code is [code]"],
    ["123 456 – Ваш код", "[code] – Ваш код"],
    ["mysql -u root -phunter2 shop", "mysql -u root -p[secret] shop"],
    ["tool --password hunter2 --quiet", "tool --password [secret] --quiet"],
    ["curl -u bob:hunter2 https://x.com/a", "curl -u bob:[secret] https://x.com/a"],
    ["sshpass -p hunter2 ssh host", "sshpass -p [secret] ssh host"],
    ["docker login -u me -p hunter2", "docker login -u me -p [secret]"],
    ["app.example.com/cb?code=4/0AbC&state=x", "app.example.com/cb"],
    ["DevTools - localhost:3000/cb#id_token=x", "DevTools - localhost:3000/cb"],
    ["https://bücher.example/a?q=1 - x", "https://bücher.example/a - x"],
    ["https://a.com/password/reset/8a7d6f5e4c3b2a19/", "https://a.com/password/reset/[secret]/"],
    ["a.com/accounts/reset/MQ/5xk-3d9c0c7b1a2f3e4d", "a.com/accounts/reset/MQ/[secret]"],
    ["a.com/verify/550e8400-e29b-41d4-a716-446655440000", "a.com/verify/[secret]"],
    ["https://a.com/magic-link/Zk3jf8sKqP0", "https://a.com/magic-link/[secret]"],
    [
      "maker.ifttt.com/trigger/x/with/key/dB7x9Kq2Lm4",
      "maker.ifttt.com/trigger/x/with/key/[secret]",
    ],
    [
      "api.telegram.org/bot123456789:AAE_abcdefghijklmnopqrstuvwxyz01234/getMe",
      "api.telegram.org/[secret]/getMe",
    ],
    ["bare oRlPhDBuqOSg5ApYzTTO", "bare [secret]"],
    ["fw_kq2BEDbN2AHRQ73l5PuXay1F", "[secret]"],
    ["NRAK-8DNRLZGW7HUNWODQRYZD12ABCDE", "[secret]"],
    ["lsv2_pt_0123456789abcdef0123456789abcdef_0123456789", "[secret]"],
    ["Engangskode: 123456", "Engangskode: [code]"],
    ["Ověřovací kód 12 34 56", "Ověřovací kód [code]"],
    ["رمز التحقق 123456", "رمز التحقق [code]"],
    ["確認番号は123456です", "確認番号は[code]です"],
    ["F7K2Q is your Steam Guard code", "[code] is your Steam Guard code"],
    ["Use 123-456 to sign in", "Use [code] to sign in"],
    ["0x4c0883a69102937d6231471b5dbb6204fe5129617082792ae468d01a3f362318", "[secret]"],
  ])("%s", (text, expected) => {
    expect(redactSecrets(text, all)).toBe(expected);
    // What was replaced is nothing to find any more.
    expect(redactSecrets(expected, all)).toBe(expected);
  });
});

describe("what is left alone", () => {
  test.each([
    'a=b "q" \\ 漢字 👩‍💻',
    "commit 946b81f0c3d5e6a7b8c9d0e1f2a3b4c5d6e7f809",
    "run 1764466634000 at 10:30 - room 1234",
    "4111 1111 1111 1112",
    "a share of 0.4111111111111111 in 12.378282246310005",
    "DE88 3704 0044 0532 0130 00",
    "Password: change it",
    "https://medium.com/@user/x",
    "sk-learn-tutorial-notebook.ipynb",
    "src/components/MyVeryLongComponentName/index.test.tsx2",
    "bob@example.com: your code is 123456",
    "550e8400-e29b-41d4-a716-446655440000",
    "2026-11-30 12:00:00 +0100",
    "+49 170 1234567",
    "Phone 4915112345678",
    "+62 812 3456 7894",
    "localhost:3000@main at 00:15@home",
    "from:bob@example.com - Gmail",
    "Basic functionality - YouTube",
    "Basic income-in-germany-explained",
    "secret_santa_gift_exchange_2024",
    "release_2024Q4_FinalVersion3_ReviewedByBob2",
    "iPhone15ProMaxReview2024Edition",
    "Base64EncodedStringConverter2Test.java",
    "https://a.com/login/2024-guide-for-beginners",
    "~/code/auth/version2_handlers.ts",
    "docs/guide.md#install and index.html#top",
    "Is it node.js? watch?v=dQw4w9WgXcQ - YouTube",
    "gh auth login --with-token < file",
    "--password-file x",
    "docs.google.com/document/d/1aB3xY7kQ9zT2mN5pR8sV4wC6dF0gH1jK/edit",
    "github.com/login/oauth/authorize and a.com/keys/2024-budget",
    "~/src/hooks/useLocalStorage2.ts",
  ])("%s", (text) => {
    expect(redactSecrets(text, usual)).toBe(text);
  });
});

test.each(["Build 123456 passed", "Meeting in room 1234", "pagamento 1234 EUR"])(
  "a number beside no word for a code is left alone in a notice: %s",
  (text) => {
    expect(redactSecrets(text, all)).toBe(text);
  },
);

test("every card number that passes the check of its issuer is replaced, however it is grouped", () => {
  const card = fc
    .tuple(fc.constantFrom("4", "51", "34", "6011", "3530"), fc.stringMatching(/^[0-9]{15}$/))
    .map(([prefix, tail]) => withLuhnDigit((prefix + tail).slice(0, prefix === "34" ? 14 : 15)));
  fc.assert(
    fc.property(card, fc.constantFrom("", " ", "-"), (digits, joint) => {
      const shown = digits.replace(/(.{4})(?=.)/g, `$1${joint}`);
      expect(redactSecrets(`pay ${shown} now`, usual)).toBe("pay [card] now");
    }),
  );
});

test("a key that a zero-width space cuts or full-width letters spell is a key again once folded", () => {
  expect(redactSecrets(foldText("AKIA\u200bIOSFODNN7EXAMPLE"), usual)).toBe("[secret]");
  expect(redactSecrets(foldText("ＡＫＩＡＩＯＳＦＯＤＮＮ７ＥＸＡＭＰＬＥ"), usual)).toBe(
    "[secret]",
  );
});

test("folding is done in one step", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      expect(foldText(foldText(text))).toBe(foldText(text));
    }),
  );
});

function withLuhnDigit(head: string): string {
  for (let check = 0; check <= 9; check++) {
    const digits = `${head}${check}`;
    let sum = 0;
    for (const [index, char] of Array.from(digits).reverse().entries()) {
      const value = Number(char) * (index % 2 === 1 ? 2 : 1);
      sum += value > 9 ? value - 9 : value;
    }
    if (sum % 10 === 0) return digits;
  }
  throw new Error("no check digit");
}
