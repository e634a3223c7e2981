/**
 * Text in the cells of a terminal. It hides how wide a character is, and promises that no line it makes is
 * wider than it was told or than the one character seen on it, and that no colour means what words do not say.
 */
import stringWidth from "string-width";

const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });

/** How text is made to stand out; without colour each gives its text back. */
export interface Paint {
  readonly good: (text: string) => string;
  readonly bad: (text: string) => string;
  readonly strong: (text: string) => string;
  readonly faint: (text: string) => string;
}

export function createPaint(colour: boolean): Paint {
  const sgr =
    (code: number) =>
    (text: string): string =>
      colour && text !== "" ? `\u001B[${code}m${text}\u001B[0m` : text;
  return { good: sgr(32), bad: sgr(31), strong: sgr(1), faint: sgr(2) };
}

/** As much of `text` as fits into `columns` cells, with an ellipsis where something was cut. */
export function cut(text: string, columns: number): string {
  if (stringWidth(text) <= columns) return text;
  let kept = "";
  let width = 0;
  for (const { segment } of graphemes.segment(text)) {
    const next = stringWidth(segment);
    if (width + next > columns - 1) break;
    kept += segment;
    width += next;
  }
  return columns < 1 ? "" : `${kept}…`;
}

/** `text` on as many lines as it takes, broken at spaces where there are any; what follows is indented by two more. */
export function wrap(text: string, columns: number): readonly string[] {
  const lead = /^ */.exec(text)?.[0] ?? "";
  const hang = `${lead}  `;
  const lines: string[] = [];
  let line = lead;
  let isEmpty = true;
  for (const word of text.trim().split(" ")) {
    const joined = isEmpty ? line + word : `${line} ${word}`;
    if (stringWidth(joined) > columns && !isEmpty) {
      lines.push(line);
      line = hang + word;
    } else {
      line = joined;
    }
    isEmpty = false;
  }
  return [...lines, line].map((each) => cut(each, columns));
}

/** A part of a list that stays on one line, and how it is painted. */
export interface Item {
  readonly text: string;
  readonly paint?: (text: string) => string;
}

const ITEM_GAP = " · ";

/** `items` on as many lines as it takes, broken between them; lines after the first are indented by two. */
export function flow(items: readonly Item[], columns: number): readonly string[] {
  const lines: string[] = [];
  let line = "";
  let width = 0;
  for (const { text, paint } of items) {
    const needed = stringWidth(text);
    const isFirst = line === "";
    if (!isFirst && width + ITEM_GAP.length + needed > columns) {
      lines.push(line);
      line = "  ";
      width = 2;
    } else if (!isFirst) {
      line += ITEM_GAP;
      width += ITEM_GAP.length;
    }
    const fitting = cut(text, columns - width);
    line += paint?.(fitting) ?? fitting;
    width += stringWidth(fitting);
  }
  return line === "" ? lines : [...lines, line];
}

/** Breaks one text into lines as it streams in. */
export interface LineBreaker {
  /** What may be written now; a word is held until it is whole. */
  readonly push: (chunk: string) => string;
  readonly flush: () => string;
}

const TAB_STOP = 8;

/**
 * Breaks lines at spaces and between wide characters, and words that are longer than a line wherever they end
 * one. Takes text without control characters but line feeds and tabs, which become spaces. `columns` is asked
 * anew for each word, as a terminal may be resized meanwhile; null: nothing is broken.
 */
export function createLineBreaker(columns: () => number | null): LineBreaker {
  let column = 0;
  /** White space and the word behind it that are not written yet. */
  let space = "";
  let word = "";
  let wordWidth = 0;
  /** The last grapheme: the next chunk may begin with an accent that belongs to it. */
  let carry = "";

  const place = (width: number): string => {
    const fits = column + space.length + wordWidth <= width;
    const gap = fits ? space : "";
    const lead = fits || column === 0 ? gap : "\n";
    column = (lead === "\n" ? 0 : column + gap.length) + wordWidth;
    const text = lead + word;
    space = "";
    word = "";
    wordWidth = 0;
    return text;
  };
  const take = (grapheme: string, width: number): string => {
    if (grapheme === "\n") {
      const text = word === "" ? "" : place(width);
      space = "";
      column = 0;
      return `${text}\n`;
    }
    if (grapheme === " " || grapheme === "\t") {
      const text = word === "" ? "" : place(width);
      const at = column + space.length;
      space += grapheme === " " ? " " : " ".repeat(TAB_STOP - (at % TAB_STOP));
      return text;
    }
    const cells = stringWidth(grapheme);
    // Scripts without spaces are written in wide characters, and may be broken between any two.
    const before = word !== "" && (cells >= 2 || wordWidth + cells > width) ? place(width) : "";
    word += grapheme;
    wordWidth += cells;
    return before + (cells >= 2 ? place(width) : "");
  };

  return {
    push: (chunk) => {
      const width = columns();
      if (width === null) return chunk;
      const found = [...graphemes.segment(carry + chunk)].map(({ segment }) => segment);
      carry = found.at(-1) === "\n" ? "" : (found.pop() ?? "");
      return found.map((grapheme) => take(grapheme, width)).join("");
    },
    flush: () => {
      const width = columns() ?? Number.POSITIVE_INFINITY;
      const text = (carry === "" ? "" : take(carry, width)) + (word === "" ? "" : place(width));
      carry = "";
      return text;
    },
  };
}
