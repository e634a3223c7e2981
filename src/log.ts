/**
 * The port for log lines. It promises that what is logged are facts about the program: titles, URLs and
 * turns never go to the log.
 */

/** Values a log line may carry beside its sentence. */
export type LogFields = Readonly<Record<string, string | number | boolean | null>>;

/** Where log lines go. One line per change of state, never per poll. */
export interface Log {
  readonly info: (message: string, fields?: LogFields) => void;
  readonly warn: (message: string, fields?: LogFields) => void;
  readonly error: (message: string, fields?: LogFields) => void;
}

/**
 * What a thrown value may say in a log line. Messages of the system speak of paths and addresses; every other may
 * quote what was being read, as the JSON parser's do, and gives its name alone.
 */
export function reasonForLog(thrown: unknown): string {
  if (!(thrown instanceof Error)) return typeof thrown;
  const isOfSystem = "code" in thrown && typeof thrown.code === "string" && "syscall" in thrown;
  return isOfSystem ? thrown.message : thrown.name;
}

export const silentLog: Log = { info: () => {}, warn: () => {}, error: () => {} };
