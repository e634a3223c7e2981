// @ts-check
/** Reads slot and writer files and fills templates. The grammar is told in README.md beside this file. */
import { readFileSync } from "node:fs";

/** @typedef {Map<string, string[]>} Slots */

/** @param {string} text @returns {[string, string][]} section and line */
function sections(text) {
  /** @type {[string, string][]} */
  const lines = [];
  let section = "";
  for (const line of text.split("\n")) {
    const head = /^\[(\w+)\]$/.exec(line.trim());
    if (head) section = head[1] ?? "";
    else if (line.trim() !== "" && !line.startsWith("#")) lines.push([section, line.trim()]);
  }
  return lines;
}

/** @param {URL} file @returns {Slots} */
export function readSlots(file) {
  /** @type {Slots} */
  const slots = new Map();
  for (const [name, line] of sections(readFileSync(file, "utf8"))) {
    const list = slots.get(name) ?? [];
    list.push(line);
    slots.set(name, list);
  }
  return slots;
}

/**
 * @param {string} text @param {Slots} slots @param {() => number} draw @param {number} draws per template
 * @returns {{ turn: string, intent: string }[]} without repetitions
 */
export function expandWriter(text, slots, draw, draws) {
  const turns = new Map();
  for (const [intent, template] of sections(text)) {
    // A template with choices says more, so more of it is drawn.
    const choices = (template.match(/[|{]/g) ?? []).length;
    for (let count = 0; count < Math.min(draws + choices * 2, 1 + choices * 8); count++) {
      const turn = fill(template, slots, draw)
        .replace(/\s+/g, " ")
        .replace(/ ([,.?!])/g, "$1")
        .trim();
      if (turn !== "") turns.set(turn, intent);
    }
  }
  return [...turns].map(([turn, intent]) => ({ turn, intent }));
}

/** @param {string} template @param {Slots} slots @param {() => number} draw @returns {string} */
function fill(template, slots, draw) {
  let text = template;
  for (let round = 0; round < 30; round++) {
    const choice = /\(([^()]*\|[^()]*)\)/.exec(text);
    if (choice) {
      const options = (choice[1] ?? "").split("|");
      text = splice(text, choice, options[Math.floor(draw() * options.length)] ?? "");
      continue;
    }
    const slot = /\{([^{}]+)\}/.exec(text);
    if (!slot) break;
    const list = slots.get(slot[1] ?? "");
    // Pasted code may hold braces that are no slot.
    if (!list) break;
    text = splice(text, slot, list[Math.floor(draw() * list.length)] ?? "");
  }
  return text;
}

/** @param {string} text @param {RegExpExecArray} match @param {string} by */
function splice(text, match, by) {
  return text.slice(0, match.index) + by + text.slice(match.index + match[0].length);
}
