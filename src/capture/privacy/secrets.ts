/**
 * Finds credentials and account numbers in a line of text and replaces them by a word in brackets. It
 * promises linear time on any input: every pattern starts with a literal and repeats one character class,
 * and the numbers are checked digit by digit, so that built-in patterns may run on the engine of the host.
 */
import { replaceIbans, replaceCards } from "./accounts.ts";

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
  if (!/[\p{Nd}@:=\-_?#]/u.test(text)) return text;
  let result = text;
  for (const [pattern, replacement] of SECRET_PATTERNS)
    result = result.replace(pattern, replacement);
  result = result.replace(MIXED_TOKEN, (token) => (isRandom(token) ? "[secret]" : token));
  result = result.replace(LONG_TOKEN, (token) => (hasShuffledPart(token) ? "[secret]" : token));
  result = result.replace(LINK_OF_TRUST, hideTokens);
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
  "npm_[A-Za-z0-9]{30,}|pypi-[A-Za-z0-9_-]{20,}|dckr_[po]at_[A-Za-z0-9_-]{20,}|rubygems_[a-f0-9]{32,}",
  "SG\\.[A-Za-z0-9_-]{16,}(?:\\.[A-Za-z0-9_-]{16,})?|key-[a-f0-9]{32}", // SendGrid, Mailgun
  "[0-9a-f]{32}-us[0-9]{1,2}|x(?:keysib|smtpsib)-[a-f0-9]{32,}-[A-Za-z0-9]{8,}", // Mailchimp, Brevo
  // Behind these stand letters and digits alone: what has more joints is the name of something.
  "(?:hf|gsk|r8|rpa|lin_api|lin_oauth|sbp|shpat|shpss|shpca|shppa|doo_v1|dop_v1|dor_v1|secret|ntn|tfp|bkua|fo1)_[A-Za-z0-9]{20,}",
  "(?:figd|pscale_(?:tkn|pw|oauth)|sb_(?:secret|publishable)|lsv2_(?:pt|sk)|re|fm[12])_(?=[A-Za-z_-]{0,40}[0-9])[A-Za-z0-9_-]{20,}",
  "(?:tskey-|xai-|nvapi-|pplx-|sntr[ysu]{1,2}_|glsa_|glc_|dapi|EAAC|ATATT3|ATBB|ATCTT3)[-_A-Za-z0-9=]{24,}",
  "(?:NRAK|NRJS|PMAK|HRKU|CFPAT|EZAK|pul|tvly|sq0(?:atp|csp|idp))-(?=[A-Za-z_-]{0,40}[0-9])[A-Za-z0-9_-]{20,}",
  "A3-[A-Z0-9]{6}-[A-Z0-9]{6}(?:-[A-Z0-9]{5}){4}|nsec1[02-9ac-hj-np-z]{58}", // 1Password, Nostr
  "[A-Za-z0-9]{3}[0-9]Q~[A-Za-z0-9_.~-]{30,}|AQ\\.[A-Za-z0-9_-]{30,}", // Azure, Google
  "hv[sbr]\\.[A-Za-z0-9_-]{20,}", // HashiCorp Vault
  "AGE-SECRET-KEY-1[A-Z0-9]{20,}",
  "(?:SK|AC)[0-9a-f]{32}", // Twilio
  "(?:bot)?[0-9]{8,10}:[A-Za-z0-9_-]{35}", // Telegram bots
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
  // HTTP credentials, RFC 9110 section 11.4. Without the header's name "basic" is a word like others.
  [
    /\b(authorization["']?\s?[:=]\s?["']?(?:bearer|basic|digest|negotiate|token)) +[A-Za-z0-9+/_.~-]{4,}={0,2}/gi,
    "$1 [secret]",
  ],
  [
    /\b([Bb]earer|[Bb]asic|[Dd]igest|[Nn]egotiate)[ :=]+(?=[A-Za-z+/_.~-]{0,64}(?:[0-9]|[a-z][A-Z]|[+=]))[A-Za-z0-9+/_.~-]{12,}={0,2}/g,
    "$1 [secret]",
  ],
  // Query and fragment of an address, which is the title of a page that is loading or has none, go as they do from a place.
  [/\b((?:https?|wss?|ftps?):\/\/[^\s?#"'<>]{1,2048})[?#][^\s"'<>]*/gi, "$1"],
  [
    /(?<![\p{L}\p{N}_.@/:-])((?:(?:[\p{L}\p{N}-]{1,63}\.){1,8}[\p{L}]{2,24}|localhost|(?:\d{1,3}\.){3}\d{1,3})(?::\d{1,5})?\/[^\s?#"'<>]{0,1024})[?#][^\s"'<>]+/giu,
    "$1",
  ],
  // User info of a URL, RFC 3986 section 3.2.1; and a password that holds a slash, which no parser accepts.
  [/(:\/\/)[^\s/?#@"'<>]{0,512}(?:@[^\s/?#@"'<>]{0,512}){0,32}@/g, "$1[secret]@"],
  [/(:\/\/)[^\s/@:"'<>]{1,256}:[^\s@"'<>]{1,256}@/g, "$1[secret]@"],
  // The same without a scheme, as in `ssh`, `curl -u` and connection strings.
  // A time of day, a port, and a word that stands before an address (`mailto:`, `from:`) are none.
  [
    /(?<![^\s"'(=,])(?!(?:mailto|sips?|xmpp|acct|matrix|from|to|b?cc|reply-to|re|fwd?|aw|wg|von|an|de|para|author|assignee|user):)(?!\d{1,5}:)[^\s:@/"'<>()]{1,64}:(?!\/\/|\d{1,5}@)[^\s:@"'<>]{1,128}@(?=[A-Za-z0-9[])/gi,
    "[secret]@",
  ],
  // What a program is given on its command line, which terminals have for a title: `--password x`, `curl -u me:x`.
  [
    new RegExp(
      `((?<![^\\s"'(])--?(?:[a-z0-9]{1,20}[_-]){0,4}${ASSIGNED_NAME}\\s+)(?:"[^"]{1,256}"|'[^']{1,256}'|[^\\s<>|&;"'-][^\\s;|]{0,512})`,
      "gi",
    ),
    "$1[secret]",
  ],
  [/((?<![^\s])(?:-u|--user|--proxy-user)[ =]?["']?[^\s:"'/]{1,64}:)[^\s"']{1,256}/g, "$1[secret]"],
  [/(\b(?:mysql|mariadb)[a-z-]{0,12}\b[^|;&]{0,120}? -p)(?!\s)\S{1,256}/g, "$1[secret]"],
  [/(\b(?:sshpass|login)\b[^|;&]{0,120}? -p ?)[^\s-]\S{0,256}/g, "$1[secret]"],
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

/** Base64 has slashes; behind a dot they are those of an address, whose parts are looked at one by one. */
const MIXED_TOKEN = /(?<![A-Za-z0-9+/_=.-])[A-Za-z0-9+/_-]{40,}={0,2}/g;

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
    joints <= token.length / 10 &&
    turns(token) >= token.length / 3
  );
}

/** A word of letters and digits, such as keys are made of, with the joints that keys have. */
const LONG_TOKEN = /(?<![A-Za-z0-9+/_~=-])[A-Za-z0-9_~-]{20,}={0,2}(?![A-Za-z0-9+/])/g;

function hasShuffledPart(token: string): boolean {
  return token.split(/[_~=-]/).some((part) => part.length >= 16 && isShuffled(part, 0.45));
}

/** Chance puts letters and digits in turn, three times in five; a name has them in stretches. */
function isShuffled(part: string, atLeast: number): boolean {
  if (!/[0-9]/.test(part) || !/[A-Z]/.test(part) || !/[a-z]/.test(part)) return false;
  return turns(part) >= (part.length - 1) * atLeast;
}

/** How often a character is of another kind (capital, small, digit) than the one before it. */
function turns(part: string): number {
  return count(part, /[0-9](?=[A-Za-z])|[A-Z](?=[a-z0-9])|[a-z](?=[A-Z0-9])/g);
}

/** A path that lets in whoever knows it: what resets a password, confirms an address, invites, or takes messages. */
const LINK_OF_TRUST =
  /\/(?:[a-z]+[_-])?(?:reset|resets|verify|verification|confirm|confirmation|confirmations|magic|invite|invites|invitation|invitations|token|tokens|activate|activation|unsubscribe|recover|recovery|passwords?|passwordless|login|signin|auth|sso|unlock|keys?|(?:web)?hooks?)(?:[_-][a-z]+)?\/[^\s"'<>]{1,1024}/gi;

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

function hideTokens(link: string): string {
  return link.replace(/(?<=\/)[A-Za-z0-9_~=-]{8,}/g, (segment) => {
    const isMixed = /[0-9]/.test(segment) && /[A-Za-z]/.test(segment);
    return isMixed && (UUID.test(segment) || turns(segment) >= segment.length / 3)
      ? "[secret]"
      : segment;
  });
}

function count(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0;
}

const EMAIL = /[^\s@<>()[\]"',;:]{1,64}@[\p{L}\p{Nd}.-]{1,200}\.[\p{L}]{2,24}(?![\p{L}\p{Nd}])/gu;

/** Words that say that a number beside them is a one-time code, in the languages of common services. */
const CODE_WORD = new RegExp(
  [
    "code|koodi|k[o\u00f3]d|\\b\\p{L}{0,8}tan\\b|otp|\\bpin\\b|2fa|c[o\u00f3]digo|codice|\\bclave|\\bcod\\b|\\bm\u00e3 ",
    "verif|one.time|sign.?in|log.?in|anmeld|bestätig|passwor[dt]|passord|mot de passe|lösenord|salasana|hasło|heslo|jelsz",
    "contrase\u00f1a|senha|şifre|parol|do\u011frula",
    "\u043a\u043e\u0434|\u043f\u0430\u0440\u043e\u043b|\u03ba\u03c9\u03b4\u03b9\u03ba",
    "קוד|סיסמ|رمز|كود|کد|कोड|ओटीपी|รหัส",
    "\u9a8c\u8bc1|\u9a57\u8b49|\u6821\u9a8c|\u6821\u9a57|\u52a8\u6001\u5bc6|\u52d5\u614b\u5bc6|口令|\u30b3\u30fc\u30c9|\u8a8d\u8a3c|\u78ba\u8a8d|\u6697\u8a3c|パスワード",
    "\ucf54\ub4dc|\uc778\uc99d",
  ].join("|"),
  "iu",
);
/** Digits in one group or in equal ones, and what stores of games send: capitals and digits mixed. */
const CODE_NUMBER =
  /(?<![\p{Nd}.,:])(?:\p{Nd}{3}[ -]\p{Nd}{3}|\p{Nd}{2}[ -]\p{Nd}{2}[ -]\p{Nd}{2}|\p{Nd}(?: \p{Nd}){3,7}|\p{Nd}{4,8})(?![\p{Nd}]|[.,:]\p{Nd})|(?<![\p{L}\p{Nd}])(?=\p{Lu}*\p{Nd})(?=\p{Nd}*\p{Lu})[\p{Lu}\p{Nd}]{5,8}(?![\p{L}\p{Nd}])/gu;

/** "Your code is 123456", "G-123 456 \u2026", in whatever order the words stand. */
function replaceOneTimeCodes(text: string): string {
  return CODE_WORD.test(text) ? text.replace(CODE_NUMBER, "[code]") : text;
}
