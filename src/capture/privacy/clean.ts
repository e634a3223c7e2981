/**
 * What becomes of a text that may be kept: it is cut to what is stored, and what the owner's rules and the list of secrets
 * name is replaced. It promises work in proportion to the text, whatever a rule says.
 */
import type { RE2JS } from "re2js";

import type { Redaction } from "./match.ts";
import { readingsOf } from "./readings.ts";
import { MAX_MATCH_WORK, MAX_TEXT_UNITS } from "./rules.ts";
import { redactSecrets, type SecretOptions } from "./secrets.ts";

/** A failure that the gate found itself; its message holds nothing of the sample. */
export class GateFault extends Error {
  override readonly name = "GateFault";
}

/** Cuts to the limits of what is stored, on a code point border, and replaces surrogates without a partner. */
export function cut(raw: string, maxUnits: number): string {
  const text = raw.length > maxUnits ? raw.slice(0, maxUnits) : raw;
  if (!/[^ -~]/.test(text)) return text;
  const whole = raw.length > maxUnits ? text.replace(/[\ud800-\udbff]$/, "") : text;
  const formed = whole.replace(/\p{Cs}/gu, "\ufffd");
  if (formed.length * 3 <= MAX_TEXT_BYTES) return formed;
  const { read } = new TextEncoder().encodeInto(formed, new Uint8Array(MAX_TEXT_BYTES));
  return formed.slice(0, read);
}

const MAX_TEXT_BYTES = 4096;

/** The text as it may be stored: cut, with what the rules and the list of secrets name replaced. */
export function cleanText(
  raw: string,
  redactions: readonly Redaction[],
  secrets: SecretOptions,
  textUnits: number,
): string {
  // What a reader sees may hold what the raw characters hide: then the cleaned reading is what is stored.
  const readings = readingsOf(cut(raw, textUnits)).map((text) => ({
    text,
    kept: redactSecrets(redactText(text, redactions), secrets),
  }));
  const hidden = readings.slice(1).findLast(({ text, kept }) => kept !== text);
  return cut((hidden ?? readings[0])?.kept ?? "", MAX_TEXT_UNITS);
}

export function cleanPlace(
  place: string,
  redactions: readonly Redaction[],
  secrets: SecretOptions,
): string {
  return cut(redactSecrets(redactText(place, redactions), secrets), MAX_PLACE_UNITS);
}

const MAX_PLACE_UNITS = 1024;

function redactText(text: string, redactions: readonly Redaction[]): string {
  let result = text;
  for (const { pattern, replacement } of redactions) {
    if (pattern === null) return replacement;
    result = replaceMatches(result, pattern, replacement);
  }
  return result;
}

/**
 * Like `replaceAll`, with a limit on the work: a match that looks ahead to the end each time is quadratic. The
 * limit counts steps and not time, so that a busy machine drops no more than an idle one.
 */
function replaceMatches(text: string, pattern: RE2JS, replacement: string): string {
  const stepsPerUnit = pattern.programSize();
  const matcher = pattern.matcher(text);
  let work = 0;
  let result = "";
  let done = 0;
  while (matcher.find()) {
    // What lies beyond is cut off anyway.
    if (result.length > MAX_TEXT_UNITS) return result;
    if (matcher.end() > matcher.start()) {
      result += text.slice(done, matcher.start()) + replacement;
      done = matcher.end();
    }
    work += (text.length - matcher.end()) * stepsPerUnit;
    if (work > MAX_MATCH_WORK / 2) throw new GateFault("a redaction takes too many steps");
  }
  return done === 0 ? text : result + text.slice(done);
}
