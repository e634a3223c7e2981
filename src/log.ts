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

export const silentLog: Log = { info: () => {}, warn: () => {}, error: () => {} };
