/** The commands of a documentation page with the output it shows, so that a test can run them. */
import { readFileSync } from "node:fs";

export interface DocExample {
  readonly command: string;
  /** What the page shows below it, with a final line end; empty when nothing is shown. */
  readonly output: string;
}

/** Reads every fenced `console` block: lines that begin with `$ ` are commands, the rest their output. */
export function readDocExamples(path: URL): readonly DocExample[] {
  const page = readFileSync(path, "utf8");
  const examples: { command: string; output: string }[] = [];
  for (const [, block = ""] of page.matchAll(/^```console\n(.*?)^```$/gms)) {
    for (const line of block.split("\n").slice(0, -1)) {
      if (line.startsWith("$ ")) examples.push({ command: line.slice(2), output: "" });
      else {
        const last = examples.at(-1);
        if (last !== undefined) last.output += `${line}\n`;
      }
    }
  }
  return examples;
}

/** The cells of every row of a page's tables whose first cell begins with a word in backticks. */
export function readDocTable(path: URL): readonly (readonly string[])[] {
  return readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line.startsWith("| `"))
    .map((line) =>
      line
        .split(/(?<!\\)\|/)
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
}
