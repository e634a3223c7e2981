/**
 * Finds credentials and account numbers in a line of text and replaces them by a word in brackets. It
 * promises linear time on any input: every pattern starts with a literal and repeats one character class,
 * and the numbers are checked digit by digit, so that built-in patterns may run on the engine of the host.
 */

/** What is looked for beyond the secrets, which are always replaced. */
export interface SecretOptions {
  /** Replace e-mail addresses too. */
  readonly emails: boolean;
  /** Replace one-time codes ("your code is 123456") too: right for notifications, noise in window titles. */
  readonly oneTimeCodes: boolean;
}

/**
 * The text with every secret replaced: `[secret]` for keys, tokens and passwords, `[card]` for payment cards
 * (Luhn, ISO/IEC 7812), `[iban]` for bank accounts (mod 97, ISO 13616), `[e-mail]`, `[code]`. A text without
 * any comes back as the same string.
 */
export function redactSecrets(text: string, options: SecretOptions): string {
  // Nearly every title is words alone: without one of these characters nothing below can match.
  if (!/[\p{Nd}@:=\-_]/u.test(text)) return text;
  let result = text;
  for (const [pattern, replacement] of SECRET_PATTERNS)
    result = result.replace(pattern, replacement);
  result = result.replace(MIXED_TOKEN, (token) => (isRandom(token) ? "[secret]" : token));
  result = replaceIbans(result);
  result = replaceCards(result);
  if (options.emails) result = result.replace(EMAIL, "[e-mail]");
  if (options.oneTimeCodes) result = replaceOneTimeCodes(result);
  return result;
}

// The prefixes are those that the issuers document for their keys; a key is its prefix and a long tail.
const PREFIXED_KEYS = [
  "(?:AKIA|ASIA|AGPA|AIDA|AROA|ABIA|ACCA)[0-9A-Z]{12,}", // AWS
  "gh[pousr]_[A-Za-z0-9]{16,}|github_pat_[A-Za-z0-9_]{20,}",
  "gl(?:pat|rt|dt|cbt|ptt|ft|imt|agent|soat|oas)-[A-Za-z0-9_.-]{16,}", // GitLab
  "xox[a-z](?:\\.[a-z]+)?-[A-Za-z0-9-]{10,}|xapp-[A-Za-z0-9-]{10,}", // Slack
  "(?:sk|rk|pk|whsec|cs)_(?:live|test)_[A-Za-z0-9]{10,}|whsec_[A-Za-z0-9+/=]{16,}", // Stripe
  "sk-(?=[A-Za-z_-]{0,40}[0-9])[A-Za-z0-9_-]{16,}", // OpenAI, Anthropic and those who follow them
  "AIza[A-Za-z0-9_-]{30,}|ya29\\.[A-Za-z0-9_-]{20,}|GOCSPX-[A-Za-z0-9_-]{16,}", // Google
  "npm_[A-Za-z0-9]{30,}|pypi-[A-Za-z0-9_-]{20,}|dckr_pat_[A-Za-z0-9_-]{20,}|rubygems_[a-f0-9]{32,}",
  "SG\\.[A-Za-z0-9_-]{16,}(?:\\.[A-Za-z0-9_-]{16,})?|key-[a-f0-9]{32}", // SendGrid, Mailgun
  "(?:hf|gsk|r8|rpa|lin_api|figd|sbp|shpat|shpss|shpca|shppa|doo|dop_v1|secret|ntn|pscale_tkn|tfp)_[A-Za-z0-9_-]{20,}",
  "(?:tskey-|xai-|nvapi-|pplx-|sntrys_|glsa_|dapi|EAAC|ATATT3|ATBB|ATCTT3)[-_A-Za-z0-9=]{24,}",
  "hv[sbr]\\.[A-Za-z0-9_-]{20,}", // HashiCorp Vault
  "AGE-SECRET-KEY-1[A-Z0-9]{20,}",
  "(?:SK|AC)[0-9a-f]{32}", // Twilio
  "[0-9]{8,10}:[A-Za-z0-9_-]{35}", // Telegram bots
  "[xyzt]prv[A-Za-z0-9]{80,}", // extended private keys of wallets, BIP 32
  "(?:0x)?[0-9a-fA-F]{64}", // raw 256-bit keys
];

const ASSIGNED_NAME =
  "(?:pass(?:word|wd|phrase|code)?|pwd|passwort|kennwort|contrase\\u00f1a|mot de passe|senha|\\u043f\\u0430\\u0440\\u043e\\u043b\\u044c|\\u5bc6\\u7801|\\u30d1\\u30b9\\u30ef\\u30fc\\u30c9|(?:client|app|shared|consumer)?[_-]?secret(?:[_-]?key)?|(?:auth|access|refresh|bearer|session|id|csrf|xsrf|api|bot)?[_-]?token|(?:api|access|private|account|secret|encryption|signing|service|auth)[_-]?key|credentials?|sig(?:nature)?|auth|sid|sessionid)";

/** In this order: what is longest first, so that a shorter pattern never leaves half a secret behind. */
const SECRET_PATTERNS: readonly (readonly [RegExp, string])[] = [
  // A private key block, closed or not: RFC 7468, OpenSSH, PGP.
  [
    /-{3,5} ?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{3,5}[^]*?(?:-{3,5} ?END [A-Z0-9 ]{0,40}-{3,5}|$)/g,
    "[secret]",
  ],
  [/PuTTY-User-Key-File-[0-9][^]*/g, "[secret]"],
  [/hooks\.slack\.com\/(?:services|workflows)\/[A-Za-z0-9/_-]+/g, "hooks.slack.com/[secret]"],
  [/discord(?:app)?\.com\/api\/webhooks\/[A-Za-z0-9/_-]+/g, "discord.com/api/webhooks/[secret]"],
  // JSON Web Tokens (RFC 7519), signed or encrypted, whole or cut: "eyJ" is base64url of `{"`.
  [/(?<![A-Za-z0-9])eyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*){0,4}/g, "[secret]"],
  [new RegExp(`(?<![A-Za-z0-9])(?:${PREFIXED_KEYS.join("|")})`, "g"), "[secret]"],
  // HTTP credentials, RFC 9110 section 11.4.
  [/\b(bearer|basic|digest|negotiate)[ :=]+[A-Za-z0-9+/_.~-]{12,}={0,2}/gi, "$1 [secret]"],
  // User info of a URL, RFC 3986 section 3.2.1; and a password that holds a slash, which no parser accepts.
  [/(:\/\/)[^\s/?#@"'<>]{0,512}(?:@[^\s/?#@"'<>]{0,512}){0,32}@/g, "$1[secret]@"],
  [/(:\/\/)[^\s/@:"'<>]{1,256}:[^\s@"'<>]{1,256}@/g, "$1[secret]@"],
  // The same without a scheme, as in `ssh`, `curl -u` and connection strings.
  [/(?<![^\s"'(=,])[^\s:@/"'<>()]{1,64}:(?!\/\/)[^\s:@"'<>]{1,128}@(?=[A-Za-z0-9[])/g, "[secret]@"],
  // `password=hunter2`, `"api_key": "…"`, `--token …=`. After a colon a word of a sentence is no secret.
  [
    new RegExp(
      `(${ASSIGNED_NAME}["']?\\s?=\\s?)(?:"[^"]{1,256}"|'[^']{1,256}'|[^\\s"'&;,]{1,512})`,
      "gi",
    ),
    "$1[secret]",
  ],
  [
    new RegExp(
      `(?<![A-Za-z])(${ASSIGNED_NAME}["']?\\s?:\\s?["']?)(?=[^\\s"'&;,]{0,64}[0-9!$%^*+#])[^\\s"'&;,]{4,512}`,
      "gi",
    ),
    "$1[secret]",
  ],
];

const MIXED_TOKEN = /(?<![A-Za-z0-9+/_=-])[A-Za-z0-9+/_-]{40,}={0,2}/g;

/** Random base64 has all three kinds of character and no words; paths, slugs and commit ids have not. */
function isRandom(token: string): boolean {
  const digits = count(token, /[0-9]/g);
  const upper = count(token, /[A-Z]/g);
  const lower = count(token, /[a-z]/g);
  const joints = count(token, /[/_-]/g);
  return (
    digits >= token.length / 16 &&
    upper >= token.length / 8 &&
    lower >= token.length / 8 &&
    joints <= token.length / 10
  );
}

function count(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0;
}

const EMAIL = /[^\s@<>()[\]"',;:]{1,64}@[\p{L}\p{Nd}.-]{1,200}\.[\p{L}]{2,24}(?![\p{L}\p{Nd}])/gu;

/** Words that say that a number beside them is a one-time code, in the languages of common services. */
const CODE_WORD =
  /code|otp|\bpin\b|\btan\b|código|codice|\bkod|код|验证码|驗證碼|コード|코드|인증번호/iu;
const CODE_NUMBER =
  /(?<![\p{Nd}.,:])(?:\p{Nd}{3}[ -]\p{Nd}{3}|\p{Nd}{4,8})(?![\p{Nd}]|[.,:]\p{Nd})/gu;

/** "Your code is 123456", "G-123 456 \u2026", in whatever order the words stand. */
function replaceOneTimeCodes(text: string): string {
  return CODE_WORD.test(text) ? text.replace(CODE_NUMBER, "[code]") : text;
}

// ---------------------------------------------------------------- bank accounts

/** Lengths of the IBANs of a country, from the SWIFT registry; a country that is absent tries all lengths. */
const IBAN_LENGTHS: Readonly<Record<string, number>> = {
  AD: 24,
  AE: 23,
  AL: 28,
  AT: 20,
  AZ: 28,
  BA: 20,
  BE: 16,
  BG: 22,
  BH: 22,
  BI: 27,
  BR: 29,
  BY: 28,
  CH: 21,
  CR: 22,
  CY: 28,
  CZ: 24,
  DE: 22,
  DJ: 27,
  DK: 18,
  DO: 28,
  EE: 20,
  EG: 29,
  ES: 24,
  FI: 18,
  FK: 18,
  FO: 18,
  FR: 27,
  GB: 22,
  GE: 22,
  GI: 23,
  GL: 18,
  GR: 27,
  GT: 28,
  HN: 28,
  HR: 21,
  HU: 28,
  IE: 22,
  IL: 23,
  IQ: 23,
  IS: 26,
  IT: 27,
  JO: 30,
  KW: 30,
  KZ: 20,
  LB: 28,
  LC: 32,
  LI: 21,
  LT: 20,
  LU: 20,
  LV: 21,
  LY: 25,
  MC: 27,
  MD: 24,
  ME: 22,
  MK: 19,
  MN: 20,
  MR: 27,
  MT: 31,
  MU: 30,
  NI: 28,
  NL: 18,
  NO: 15,
  OM: 23,
  PK: 24,
  PL: 28,
  PS: 29,
  PT: 25,
  QA: 29,
  RO: 24,
  RS: 22,
  RU: 33,
  SA: 24,
  SC: 31,
  SD: 18,
  SE: 24,
  SI: 19,
  SK: 24,
  SM: 27,
  SO: 23,
  ST: 25,
  SV: 28,
  TL: 23,
  TN: 24,
  TR: 26,
  UA: 29,
  VA: 22,
  VG: 24,
  XK: 20,
  YE: 30,
};

function replaceIbans(text: string): string {
  const starts = /(?<![A-Za-z0-9])[A-Za-z]{2}[0-9]{2}(?=[ -]?[A-Za-z0-9])/g;
  let result = "";
  let done = 0;
  for (const match of text.matchAll(starts)) {
    if (match.index < done) continue;
    const end = ibanEnd(text, match.index);
    if (end === null) continue;
    result += `${text.slice(done, match.index)}[iban]`;
    done = end;
  }
  return done === 0 ? text : result + text.slice(done);
}

/** Where the IBAN that starts at `start` ends, or null when the check digits say it is none. */
function ibanEnd(text: string, start: number): number | null {
  const wanted = IBAN_LENGTHS[text.slice(start, start + 2).toUpperCase()] ?? null;
  let compact = "";
  for (let at = start; at < text.length && compact.length < 34; at++) {
    const char = text.charAt(at);
    if (/[A-Za-z0-9]/.test(char)) compact += char.toUpperCase();
    else if (!/[ \-.]/.test(char) || !/[A-Za-z0-9]/.test(text.charAt(at + 1))) break;
    else continue;
    const long = compact.length;
    const closed = !/[A-Za-z0-9]/.test(text.charAt(at + 1));
    if (wanted === null ? long >= 15 && closed : long === wanted) {
      if (isMod97(compact)) return at + 1;
      if (wanted !== null) return null;
    }
  }
  return null;
}

/** ISO 7064 mod 97-10 over the account, moved behind its country and check digits. */
function isMod97(iban: string): boolean {
  let rest = 0;
  for (const char of iban.slice(4) + iban.slice(0, 4)) {
    const value = Number.parseInt(char, 36);
    rest = (value > 9 ? rest * 100 + value : rest * 10 + value) % 97;
  }
  return rest === 1;
}

// ---------------------------------------------------------------- payment cards

const DIGIT_RUN =
  /(?<![\p{L}\p{Nd}_])\p{Nd}(?:[ \-.\u00a0\u2009\u202f\u2010-\u2015]{0,2}\p{Nd}){12,}/gu;

function replaceCards(text: string): string {
  return text.replace(DIGIT_RUN, (run) => {
    const groups = digitGroups(run);
    let result = "";
    let done = 0;
    for (let first = 0; first < groups.length; first++) {
      const from = groups[first];
      if (from === undefined || from.start < done) continue;
      const end = cardEnd(groups, first);
      if (end === null) continue;
      result += `${run.slice(done, from.start)}[card]`;
      done = end;
    }
    return done === 0 ? run : result + run.slice(done);
  });
}

interface DigitGroup {
  readonly start: number;
  readonly end: number;
  readonly digits: string;
}

/** The unbroken groups of a run, their digits as ASCII whatever script they were written in. */
function digitGroups(run: string): readonly DigitGroup[] {
  return [...run.matchAll(/\p{Nd}+/gu)].map((match) => ({
    start: match.index,
    end: match.index + match[0].length,
    digits: Array.from(match[0], asciiDigit).join(""),
  }));
}

/** Blocks of decimal digits stand in tens from their zero, which is where the property begins. */
function asciiDigit(char: string): string {
  if (char >= "0" && char <= "9") return char;
  const code = char.codePointAt(0) ?? 0;
  let zero = code;
  while (code - zero < 9 && /\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero--;
  return String(code - zero);
}

/** Where the card that begins with group `first` ends, or null when there is none. */
function cardEnd(groups: readonly DigitGroup[], first: number): number | null {
  let digits = "";
  for (let at = first; at < groups.length && digits.length <= 19; at++) {
    const group = groups[at];
    if (group === undefined) break;
    digits += group.digits;
    if (isCardNumber(digits)) return group.end;
  }
  return null;
}

/** Issuer ranges with their lengths, so that a time stamp or an order number is not taken for a card. */
const CARD_SHAPE =
  /^(?:4(?:\d{12}|\d{15}|\d{18})|(?:5[1-5]|2[2-7])\d{14}|3[47]\d{13}|3(?:0[0-5]|[689]\d)\d{11,16}|35\d{14,17}|6(?:011|4[4-9]\d|5\d\d)\d{12,15}|62\d{14,17}|(?:50|5[6-9]|6[0-9])\d{11,17}|220[0-4]\d{12,15}|9792\d{12})$/;

function isCardNumber(digits: string): boolean {
  if (digits.length < 13 || digits.length > 19 || !CARD_SHAPE.test(digits)) return false;
  let sum = 0;
  for (let at = 0; at < digits.length; at++) {
    const digit = Number(digits[digits.length - 1 - at]);
    const doubled = at % 2 === 1 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}
