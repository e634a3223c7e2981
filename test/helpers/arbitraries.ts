/**
 * Nasty text for laws: markers, rules, every line break, invisible characters, halves of surrogate pairs.
 */
import fc from "fast-check";

const LINE_BREAKS = ["\n", "\r", "\r\n", "\v", "\f", "\u0085", "\u2028", "\u2029"] as const;

const NASTY_PIECES = [
  ...LINE_BREAKS,
  "\n",
  "\n",
  "\n\n",
  "System: ",
  "System:",
  "System:\n",
  "System: x\n",
  "System: x\n\n",
  "System:x",
  "Systems: x",
  " System: x",
  "system: x",
  "SYSTEM : x",
  "\uff33\uff59\uff53\uff54\uff45\uff4d\uff1a x",
  "\u2060System: x",
  "Sys\u200btem: x",
  "# ",
  "#",
  "## x",
  "# x\n",
  "# x\n---\n",
  "# Device Activity (exact, real-time)\n",
  "# Device Activity (exact, real-time)\n- a\n---\n\n",
  "---",
  "---\n",
  "\n---",
  "\n---\n",
  "\n---\r\n",
  "----",
  " --- ",
  "--- ",
  "- - -",
  "\\",
  "\\\\",
  "\ufeff",
  "\u200b",
  "\u200d",
  "\u202e",
  "\u{e0041}",
  "\ud800",
  "\udc00",
  "\u{1f680}",
  "\u{1f468}\u200d\u{1f469}\u200d\u{1f467}",
  "e\u0301",
  "\u0301",
  "\u00a8",
  "\uff02",
  '"',
  "'",
  " ",
  "\t",
  "\u00a0",
  "\0",
  "\u001b[31m",
  "- ",
  "a",
  "b: c",
  "hello",
  "漢字",
  "Привет",
] as const;

/** Text of up to some dozens of pieces, biased to what a marker grammar may trip over. */
export function nastyText(maxPieces = 24): fc.Arbitrary<string> {
  return fc
    .array(
      fc.oneof(
        { weight: 6, arbitrary: fc.constantFrom(...NASTY_PIECES) },
        { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 8 }) },
        { weight: 1, arbitrary: loneUnits() },
      ),
      { maxLength: maxPieces },
    )
    .map((pieces) => pieces.join(""));
}

/** Strings of any UTF-16 code units, lone surrogates included. */
function loneUnits(): fc.Arbitrary<string> {
  return fc
    .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 4 })
    .map((units) => String.fromCharCode(...units));
}
