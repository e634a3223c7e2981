// @ts-check
/** The small ways in which a source can be changed. */

/** @typedef {{ start: number, end: number, to: string }} Change */

/** @type {readonly (readonly [RegExp, readonly string[]])[]} */
const OPERATORS = [
  [/ === /g, [" !== "]],
  [/ !== /g, [" === "]],
  [/ < /g, [" <= "]],
  [/ <= /g, [" < "]],
  [/ > /g, [" >= "]],
  [/ >= /g, [" > "]],
  [/ && /g, [" || "]],
  [/ \|\| /g, [" && "]],
  [/ \+ (?=\d)/g, [" - "]],
  [/ - (?=\d)/g, [" + "]],
  [/ \+= /g, [" -= ", " = "]],
  [/\btrue\b/g, ["false"]],
  [/\bfalse\b/g, ["true"]],
  [/\bnull\b/g, ["0"]],
  [/(?<![\w.])!(?=[a-zA-Z(/])/g, [""]],
  [/\bcontinue;/g, ["break;", ""]],
  [/\bMath\.min\b/g, ["Math.max"]],
  [/\bMath\.max\b/g, ["Math.min"]],
  [/\.some\(/g, [".every("]],
  [/\.every\(/g, [".some("]],
  [/\.startsWith\(/g, [".includes("]],
  [/\.trimEnd\(\)/g, ["", ".trim()"]],
  [/\.trim\(\)/g, [""]],
  [/\.indexOf\(/g, [".lastIndexOf("]],
  [/\.lastIndexOf\(/g, [".indexOf("]],
  [/\.toLowerCase\(\)/g, [""]],
  [/\.normalize\("[A-Z]+"\)/g, [""]],
  [/\.toReversed\(\)/g, [""]],
  [/\.filter\(/g, [".map("]],
  // Numbers one more and one less, also in hexadecimal.
  [/(?<![\w.\\#\u00a0-\uffff{[-])(?:0x[0-9a-f]+|\d+)(?![\w{\]])/g, ["+1", "-1"]],
  // What a string says: nothing, and something else.
  [/(?<=[=(,:?+ ])"(?:[^"\\\n ]|\\.)*"/g, ['"x"']],
  // A statement that is left out.
  [/^ {2,}(?!return|const|let|if|for|while|export|import|\}|\/)[a-zA-Z][^\n{]*;$/gm, [";"]],
  [/^ {2,}if \([^\n]*\) (?=[a-z])/gm, ["", "if (false) "]],
  // Parts of patterns that are left out.
  [/\\p\{[A-Za-z_]+\}/g, [""]],
  [/\\s(?=[^"\n]*\/[a-z]*[;.,)])/g, [""]],
  [/(?<=\])[*+](?=\/|\[|:)/g, [""]],
  [/(?<=\/)\^(?=[[\\a-z#])/g, [""]],
];

/** Every change to the code of a source; comments and imports are left alone. @param {string} source */
export function listMutants(source) {
  const isCode = maskOf(source);
  /** @type {Change[]} */
  const changes = [];
  for (const [pattern, replacements] of OPERATORS) {
    for (const match of source.matchAll(pattern)) {
      if (!isCode[match.index + Math.floor(match[0].length / 2)]) continue;
      const end = match.index + match[0].length;
      for (const replacement of replacements) {
        changes.push({ start: match.index, end, to: toText(match[0], replacement) });
      }
    }
  }
  return changes.sort((a, b) => a.start - b.start);
}

/** @param {string} from @param {string} replacement */
function toText(from, replacement) {
  if (replacement === "+1") return String(Number(from) + 1);
  if (replacement === "-1") return `(${Number(from) - 1})`;
  if (replacement === "+x") return `${from.slice(0, -1)}x"`;
  return replacement;
}

/** For each character whether it is code: not in a comment, an import, a declaration or a type. @param {string} source */
function maskOf(source) {
  const mask = Array.from(source, () => true);
  const skipped =
    /\/\*[^]*?\*\/|(?<=^|\s)\/\/[^\n]*|^(?:import|declare)\b[^;]*;|^(?:export )?(?:interface|type)\b[^]*?\n(?:\}|\n)/gm;
  for (const match of source.matchAll(skipped)) {
    mask.fill(false, match.index, match.index + match[0].length);
  }
  return mask;
}
