/** What windows of invented days are told as, on the morning of Thursday 26 November 2026 in Berlin. */
import { createDigester, type Digester } from "../../src/capture/context-digest.ts";
import type { ActivityHistory } from "../../src/store/history.ts";
import type { RecordedWindow } from "./memory-history.ts";

const MORNING = { nowUs: us("26 09:00"), timeZone: "Europe/Berlin" };

/** "25 09:30": a day of that November and a time on its clock, as microseconds since 1970. */
export function us(text: string): number {
  const [day = "", clock = ""] = text.split(" ");
  return Date.parse(`2026-11-${day}T${clock}:00+01:00`) * 1000;
}

export function show(
  app: string,
  title: string,
  at: string,
  to: string,
  place?: string,
): RecordedWindow {
  const endUs = us(`${at.split(" ")[0]} ${to}`);
  return { app, title, startUs: us(at), endUs, ...(place === undefined ? {} : { place }) };
}

/** The lines of a digest that answer a turn after others; no headings. */
export function linesOf(
  of: ActivityHistory | Digester,
  turn: string,
  ...previousTurns: readonly string[]
): readonly string[] {
  const digester = "render" in of ? of : createDigester({ history: of });
  const { block } = digester.render({ turn, previousTurns, ...MORNING });
  return (block ?? "").split("\n").filter((line) => line.startsWith("- "));
}
