/** The rules in force, as `activityd privacy explain` prints them, cut into sections to be shown. Pure. */

export interface RuleSection {
  readonly title: string;
  readonly lines: readonly string[];
}

/** Sections stand behind empty lines; the first line of each is its title. */
export function readRuleLines(lines: readonly string[]): readonly RuleSection[] {
  const sections: { title: string; lines: string[] }[] = [];
  let isTitle = true;
  for (const line of lines) {
    const text = line.trim();
    if (text === "") isTitle = true;
    else if (isTitle) {
      sections.push({ title: text, lines: [] });
      isTitle = false;
    } else sections.at(-1)?.lines.push(text);
  }
  return sections;
}
