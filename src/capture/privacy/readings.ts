/**
 * How a text is read. It hides what Unicode offers to hide words with, and promises every reading in which a
 * person would find a word that the characters do not spell.
 */

/**
 * The shape in which a reader meets the text: compatibility forms folded, characters without a glyph gone.
 * A secret that is cut by a zero-width space or written full-width is a secret again once it is shown.
 */
export function foldText(text: string): string {
  // The printable ASCII of nearly every title is its own fold.
  if (!/[^ -~]/.test(text)) return text;
  return text
    .normalize("NFKC")
    .replace(/\p{Default_Ignorable_Code_Point}|(?!\s)\p{Cc}|\p{Cf}/gu, "")
    .replace(/\s+/g, " ");
}

/**
 * The readings of a text that must be looked at: as it is, folded, and with the letters that only look like
 * Latin ones put back, where a word mixes scripts ("pаyroll" with a Cyrillic "а"). Each differs from those before it.
 */
export function readingsOf(text: string): readonly string[] {
  const folded = foldText(text);
  const readings = folded === text ? [text] : [text, folded];
  if (!/[\p{Script=Cyrillic}\p{Script=Greek}]/u.test(folded)) return readings;
  const latin = folded.replace(/[\p{L}\p{M}]+/gu, (word) =>
    /\p{Script=Latin}/u.test(word) && /[\p{Script=Cyrillic}\p{Script=Greek}]/u.test(word)
      ? Array.from(word, (letter) => LOOK_ALIKES[letter] ?? letter).join("")
      : word,
  );
  return latin === folded ? readings : [...readings, latin];
}

/** Letters that are drawn as a Latin one, from the confusables of Unicode Technical Standard 39. */
const LOOK_ALIKES: Readonly<Record<string, string>> = Object.fromEntries(
  [
    ["асеіјорѕхуԁԛԝһ", "aceijopsxydqwh"],
    ["АВСЕНІЈКМОРЅТХУԚԜ", "ABCEHIJKMOPSTXYQW"],
    ["αιορνυκ", "aiopvuk"],
    ["ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "ABEZHIKMNOPTYX"],
  ].flatMap(([foreign = "", latin = ""]) =>
    Array.from(foreign, (letter, index) => [letter, latin.charAt(index)]),
  ),
);
