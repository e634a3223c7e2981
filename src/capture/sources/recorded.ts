/**
 * The format of a recorded session: one JSON object a line, the first saying what it is, each further one what
 * a source told and when. It holds only what passed the privacy gate, and promises that a line which does not
 * fit is named by its number.
 */
import type { SourceKind } from "./source.ts";
import { z } from "../../shapes.ts";

const RECORDED_FORMAT = "activityd-session";

const headerSchema = z.strictObject({
  format: z.literal(RECORDED_FORMAT),
  version: z.literal(1),
  /** ISO 8601; for the reader of the file, the replay does not use it. */
  recordedAt: z.string(),
});

const text = z.nullable(z.string());
const flag = z.nullable(z.boolean());
const number = z.nullable(z.number());

const windowSchema = z.strictObject({
  app: z.string(),
  title: text,
  url: text,
  pid: z.null(),
  executable: z.null(),
  private: z.null(),
  window: z.optional(z.string()),
});
const mediaSchema = z.strictObject({
  player: z.string(),
  title: text,
  artist: text,
  playing: z.boolean(),
});

/** The samples of each kind as they may stand in a file. */
const sampleSchemas = {
  window: windowSchema,
  input: z.strictObject({ idleMs: z.number().check(z.minimum(0)) }),
  session: z.strictObject({ locked: flag, asleep: flag, idleInhibited: flag }),
  system: z.strictObject({
    power: z.nullable(z.enum(["ac", "battery"])),
    batteryPercent: number,
    online: flag,
    cpuLoad: number,
    memoryUsed: number,
    displayCount: number,
  }),
  media: z.array(mediaSchema),
  notification: z.strictObject({ app: z.string(), summary: z.string() }),
} as const satisfies Record<SourceKind, z.ZodMiniType>;

function lineSchema<K extends SourceKind>(kind: K) {
  return z.strictObject({
    /** Milliseconds since the recording began. */
    atMs: z.number().check(z.minimum(0)),
    kind: z.literal(kind),
    result: z.discriminatedUnion("ok", [
      z.strictObject({ ok: z.literal(true), value: z.nullable(sampleSchemas[kind]) }),
      z.strictObject({ ok: z.literal(false), reason: z.string(), remedy: z.string() }),
    ]),
  });
}

const recordedLineSchema = z.discriminatedUnion("kind", [
  lineSchema("window"),
  lineSchema("input"),
  lineSchema("session"),
  lineSchema("system"),
  lineSchema("media"),
  lineSchema("notification"),
]);

/** What a source told at a moment of the session. */
export type RecordedLine = z.infer<typeof recordedLineSchema>;

/** The first line of a file, without its line break. */
export function encodeRecordedHeader(recordedAt: string): string {
  return JSON.stringify({ format: RECORDED_FORMAT, version: 1, recordedAt });
}

/** The lines of a file in the order of their times, or a sentence that says what is wrong with it. */
export function parseRecorded(
  file: string,
): { readonly lines: readonly RecordedLine[] } | { readonly problem: string } {
  const [first = "", ...rest] = file.split("\n");
  if (!headerSchema.safeParse(parseJson(first)).success) {
    return {
      problem: `line 1 is not the head of a recorded session ("format": "${RECORDED_FORMAT}", "version": 1)`,
    };
  }
  const lines: RecordedLine[] = [];
  for (const [index, line] of rest.entries()) {
    // The last line may be cut: a recording ends when its daemon does.
    if (line.trim() === "" || (index === rest.length - 1 && parseJson(line) === undefined))
      continue;
    const parsed = recordedLineSchema.safeParse(parseJson(line));
    if (!parsed.success) {
      const [issue] = parsed.error.issues;
      return {
        problem: `line ${index + 2}: ${issue?.path.join(".") ?? ""}: ${issue?.message ?? "unreadable"}`,
      };
    }
    lines.push(parsed.data);
  }
  return { lines: lines.toSorted((a, b) => a.atMs - b.atMs) };
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    // Not JSON: no line of ours.
    return undefined;
  }
}
