// @ts-check
/**
 * Mutants that are the same program to every caller, each with the reason. One that is killed after all, or
 * whose line is gone, has no place here.
 */

/** @type {readonly { file: string, code: string, from: string, to: string, why: string }[]} */
export const EQUIVALENT = [
  {
    file: "src/context/markers.ts",
    code: "index < lastRule && HEADING_LIKE.test(piece)",
    from: " < ",
    to: " <= ",
    why: "the piece at lastRule is a rule, which is no heading",
  },
  {
    file: "src/context/turn.ts",
    code: "const injectedPart = injectedLength > 0 ? index : null;",
    from: "0",
    to: "1",
    why: "no block is one character long",
  },
  {
    file: "src/context/turn.ts",
    code: "if (start > 0 && !inRun) {",
    from: "0",
    to: "1",
    why: "no block is one character long",
  },
  {
    file: "src/gateway/echo-end.ts",
    code: 'return MARK_LINE_BEGUN.test(line) && line.length <= MAX_LINE ? "waits" : "stays";',
    from: '"waits"',
    to: '"x"',
    why: "what neither goes nor stays waits",
  },
  {
    file: "src/gateway/echo-end.ts",
    code: 'return "waits";',
    from: '"waits"',
    to: '"x"',
    why: "what neither goes nor stays waits",
  },
  {
    file: "src/context/markers.ts",
    code: 'LINE_END.lastIndex = text[at] === "\\n" ? at + 1 : at;',
    from: '    LINE_END.lastIndex = text[at] === "\\n" ? at + 1 : at;',
    to: ";",
    why: "parts of any length hold the same lines",
  },
  {
    file: "src/context/markers.ts",
    code: 'LINE_END.lastIndex = text[at] === "\\n" ? at + 1 : at;',
    from: " + ",
    to: " - ",
    why: "a break is found whole also from its first half",
  },
  {
    file: "src/context/markers.ts",
    code: 'LINE_END.lastIndex = text[at] === "\\n" ? at + 1 : at;',
    from: "1",
    to: "2",
    why: "parts of any length hold the same lines",
  },
  {
    file: "src/context/markers.ts",
    code: "if (end === null) break;",
    from: "    if (end === null) ",
    to: "",
    why: "parts of any length hold the same lines",
  },
  {
    file: "src/context/markers.ts",
    code: "if (isOrdinary(line.charCodeAt(0))) return line;",
    from: "  if (isOrdinary(line.charCodeAt(0))) ",
    to: "if (false) ",
    why: "a faster way to what the lines below do",
  },
  {
    file: "src/context/markers.ts",
    code: "if (isOrdinary(line.charCodeAt(0))) return line;",
    from: "0",
    to: "(-1)",
    why: "a faster way to what the lines below do",
  },
  {
    file: "src/context/markers.ts",
    code: "const DELETE = 0x7f;",
    from: "0x7f",
    to: "(126)",
    why: "a line that begins with ~ takes the slower way",
  },
  {
    file: "src/context/markers.ts",
    code: "if (first > SPACE && first < DELETE) return from;",
    from: "  if (first > SPACE && first < DELETE) ",
    to: "if (false) ",
    why: "a faster way to what the lines below do",
  },
  {
    file: "src/context/markers.ts",
    code: "if (first > SPACE && first < DELETE) return from;",
    from: " < ",
    to: " <= ",
    why: "a delete is no white space",
  },
  {
    file: "src/gateway/voice-steering.ts",
    code: "if (flowing && !endsInHalf(chunk)) return chunk;",
    from: "      if (flowing && !endsInHalf(chunk)) ",
    to: "if (false) ",
    why: "a faster way to what the lines below do",
  },
  {
    file: "src/gateway/voice-steering.ts",
    code: 'flowing = passing && carry === "" && !empty;',
    from: '      flowing = passing && carry === "" && !empty;',
    to: ";",
    why: "without the faster way the other does the same",
  },
  {
    file: "src/gateway/voice-steering.ts",
    code: 'flowing = passing && carry === "" && !empty;',
    from: '""',
    to: '"x"',
    why: "without the faster way the other does the same",
  },
];
