/**
 * Patterns as Python's `re` reads them, for rules that users bring with them. It promises the same matches for
 * what such rules hold: words and digits of every script, named groups, flags at the start, anchors of the text.
 *
 * @see https://docs.python.org/3/library/re.html
 */

const WORD = String.raw`\p{L}\p{N}_`;

/** What Python writes and JavaScript does not know, outside of a set of characters. */
const OUTSIDE: Readonly<Record<string, string>> = {
  w: `[${WORD}]`,
  W: `[^${WORD}]`,
  d: String.raw`\p{Nd}`,
  D: String.raw`\P{Nd}`,
  b: `(?:(?<=[${WORD}])(?![${WORD}])|(?<![${WORD}])(?=[${WORD}]))`,
  B: `(?:(?<=[${WORD}])(?=[${WORD}])|(?<![${WORD}])(?![${WORD}]))`,
  A: String.raw`(?<![\s\S])`,
  Z: String.raw`(?![\s\S])`,
};
/** All that is no word, as a set can have it: every category but letters and numbers, and of the connectors all but `_`. */
const NO_WORD = String.raw`\p{M}\p{S}\p{Z}\p{C}\p{Pd}\p{Ps}\p{Pe}\p{Pi}\p{Pf}\p{Po}\u203F\u2040\u2054\uFE33\uFE34\uFE4D-\uFE4F\uFF3F`;

/** The same inside of one. */
const INSIDE: Readonly<Record<string, string>> = {
  w: WORD,
  W: NO_WORD,
  d: String.raw`\p{Nd}`,
  D: String.raw`\P{Nd}`,
  b: String.raw`\b`,
};

/** Throws `SyntaxError` for what is no pattern. */
export function compilePythonRegex(pattern: string, ignoreCase: boolean): RegExp {
  const [inline = "", letters = ""] = /^\(\?([aiLmsux]+)\)/.exec(pattern) ?? [];
  const flags = new Set(["u", ...(ignoreCase ? ["i"] : [])]);
  for (const letter of letters) if ("ims".includes(letter)) flags.add(letter);
  return new RegExp(translate(pattern.slice(inline.length)), [...flags].join(""));
}

/** An escape, a count, the beginning of a set, a named group, a reference to one, or one character. */
const PART =
  /\\(?<escaped>[\s\S])|\{\d*,?\d*\}|(?<set>\[\^?)(?<first>\]?)|\(\?P<|\(\?P=(?<reference>\w+)\)|[\s\S]/gu;

function translate(pattern: string): string {
  let isInSet = false;
  let made = "";
  for (const { 0: whole, groups = {} } of pattern.matchAll(PART)) {
    const { escaped, set, first, reference } = groups;
    if (escaped !== undefined) made += escape(escaped, isInSet);
    else if (isInSet) {
      // Of a match that is more than one character only the set's sign can be within a set.
      made += whole.replaceAll("[", "\\[");
      if (whole.includes("]")) isInSet = false;
    } else if (set !== undefined) {
      isInSet = true;
      // A bracket that would close an empty set is a character in Python.
      made += set + (first === "]" ? "\\]" : "");
    } else if (whole === "(?P<") made += "(?<";
    else if (reference !== undefined) made += `\\k<${reference}>`;
    else if (/^\{,\d/.test(whole)) made += whole.replace("{", "{0");
    // A bracket that closes nothing, and a brace that counts nothing, stand for themselves.
    else made += /^(?:[\]{}]|\{,?\})$/.test(whole) ? whole.replace(/[\]{}]/g, "\\$&") : whole;
  }
  return made;
}

function escape(character: string, isInSet: boolean): string {
  const known = (isInSet ? INSIDE : OUTSIDE)[character];
  if (known !== undefined) return known;
  // In Unicode mode only these may be escaped; Python lets every sign.
  const mayStay = /[A-Za-z0-9\\^$.*+?()[\]{}|/]/.test(character) || (isInSet && character === "-");
  return mayStay ? `\\${character}` : character;
}
