/**
 * What failures of SQLite and of the file system mean to a person. It promises one code for one kind of
 * trouble: unwritable goes away by itself, busy may be tried again, damaged must be repaired.
 */
import { ActivityError, whyRefused, type ErrorCode } from "../errors.ts";

/** Runs `work` and translates what it throws. */
export function translating<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw translate(path, error);
  }
}

/** The `ActivityError` that an error of SQLite or of the system amounts to. Other errors pass unchanged. */
export function translate(path: string, error: unknown): unknown {
  if (error instanceof ActivityError) return error;
  const code = failureCode(error);
  const found = FAILURES.find(({ codes }) => codes.test(code ?? ""));
  if (found === undefined) return error;
  // SQLite's own sentences are clear; of the system's, whyRefused knows better ones.
  const reason = whyRefused(error);
  const message = `${found.subject} ${path}: ${reason}.`;
  return new ActivityError(found.code, message, found.hint, { cause: error });
}

/** "SQLITE_FULL" and the like, or "ENOSPC" and the like; null when the error bears no code. */
export function failureCode(error: unknown): string | null {
  return error instanceof Error && "code" in error && typeof error.code === "string"
    ? error.code
    : null;
}

/** Whether an error says that the database cannot be written at present. */
export function isUnwritable(error: unknown): boolean {
  return error instanceof ActivityError && error.code === "database_unwritable";
}

/** Whether an error says that another process holds the database. */
export function isBusy(error: unknown): boolean {
  return error instanceof ActivityError && error.code === "database_busy";
}

/** Whether an error says that the database is damaged. */
export function isDamaged(error: unknown): error is ActivityError {
  return error instanceof ActivityError && error.code === "database_damaged";
}

/** What is said of a record that is being recovered: nobody reads or changes it until that is done. */
export function recoveringError(): ActivityError {
  return new ActivityError(
    "database_recovering",
    "The record was damaged and is being recovered: until that is done, nothing of it is known.",
    "Ask again later: it takes some minutes for a record of years. Whether it is done says: activityd status",
  );
}

const FAILURES: readonly {
  readonly codes: RegExp;
  readonly code: ErrorCode;
  readonly subject: string;
  readonly hint: string;
}[] = [
  {
    codes: /^SQLITE_(CORRUPT|NOTADB)/,
    code: "database_damaged",
    subject: "Damaged database",
    hint: "Recover what can be read with: activityd doctor --repair",
  },
  {
    codes: /^SQLITE_(BUSY|LOCKED|PROTOCOL)/,
    code: "database_busy",
    subject: "Another program holds the database",
    hint: "Try again; if it persists, close the program that has the file open.",
  },
  {
    codes:
      /^(SQLITE_(FULL|IOERR|READONLY|CANTOPEN|PERM|AUTH)|E(NOSPC|IO|ROFS|ACCES|PERM|NOENT|EXIST|DQUOT|MFILE|NOTDIR)$)/,
    code: "database_unwritable",
    subject: "Cannot write the database",
    hint: "Check free space and permissions of its folder; recording goes on by itself once it can be written.",
  },
];
