/**
 * Finds the numbers of bank accounts and payment cards in a line of text. It promises linear time, and that only numbers
 * with the right check digits are taken for one.
 */

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

/** The text with every bank account whose check digits are right (ISO 13616) replaced by `[iban]`. */
export function replaceIbans(text: string): string {
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

// What begins with a plus sign is a telephone number.
const DIGIT_RUN =
  /(?<![\p{L}\p{Nd}_+])\p{Nd}(?:[ \-.\u00a0\u2009\u202f\u2010-\u2015]{0,2}\p{Nd}){12,}/gu;

/** The text with every payment card whose check digit is right (ISO/IEC 7812) replaced by `[card]`. */
export function replaceCards(text: string): string {
  return text.replace(DIGIT_RUN, (run) => {
    const groups = digitGroups(run);
    let result = "";
    let done = 0;
    for (let first = 0; first < groups.length; first++) {
      const from = groups[first];
      if (from === undefined || from.start < done) continue;
      const end = cardEnd(groups, first);
      if (end === null || (end === from.end && isFraction(run, from.start))) continue;
      result += `${run.slice(done, from.start)}[card]`;
      done = end;
    }
    return done === 0 ? run : result + run.slice(done);
  });
}

/** Whether the digits from `start` on are those behind the point of a number such as 0.4111111111111111. */
function isFraction(run: string, start: number): boolean {
  return run[start - 1] === "." && /^\p{Nd}$/u.test(run[start - 2] ?? "");
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

/**
 * Issuer ranges with their lengths, so that a time stamp or an order number is not taken for a card. Visa's old numbers
 * of 13 digits are gone from the world, where telephone numbers and bar codes are not.
 */
const CARD_SHAPE =
  /^(?:4(?:\d{15}|\d{18})|(?:5[1-5]|2[2-7])\d{14}|3[47]\d{13}|3(?:0[0-5]|[689]\d)\d{11,16}|35\d{14,17}|6(?:011|4[4-9]\d|5\d\d)\d{12,15}|62\d{14,17}|(?:50|5[6-9]|6[0-9])\d{11,17}|220[0-4]\d{12,15}|9792\d{12})$/;

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
