/**
 * The check of a request's input against its shape. It promises that whoever sent what does not fit is told in one
 * sentence which field it is and what may be there.
 */
import { ActivityError } from "../errors.ts";
import { z } from "../shapes.ts";

/** The checked input. @throws ActivityError `bad_request` that names the field and what was expected. */
export function parseInput<Schema extends z.ZodMiniType>(
  schema: Schema,
  raw: unknown,
  method: "GET" | "POST",
): z.output<Schema> {
  const parsed = schema.safeParse(raw);
  if (parsed.success) return parsed.data;
  const where = method === "GET" ? "query parameter" : "field";
  // The first problem alone: the answer is one sentence, and the others often follow from the first.
  const issue = parsed.error.issues[0];
  if (issue?.code === "unrecognized_keys") {
    const names = issue.keys.map((key) => JSON.stringify(key)).join(", ");
    throw new ActivityError(
      "bad_request",
      `Unknown ${where} ${names}.`,
      `Known here: ${knownFields(schema)}.`,
    );
  }
  const path = issue?.path.join(".") ?? "";
  const reason = issue?.message ?? "it does not fit";
  throw new ActivityError(
    "bad_request",
    path === ""
      ? `The body does not fit: ${reason}.`
      : `The ${where} "${path}" does not fit: ${reason}.`,
    `Known here: ${knownFields(schema)}.`,
  );
}

function knownFields(schema: z.ZodMiniType): string {
  const names = schema instanceof z.ZodMiniObject ? Object.keys(schema.shape) : [];
  return names.length === 0 ? "nothing" : names.join(", ");
}
