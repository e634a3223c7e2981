/** A turn for which the events that wait for its conversation cannot be had. */
import { describe, expect, test } from "vitest";
import type { ContextAnswer } from "../../src/api.ts";
import { createSessionTurns, type SessionTurnsOptions } from "../../src/app/session-turns.ts";
import { ActivityError } from "../../src/errors.ts";
import { recoveringError } from "../../src/store/failures.ts";
import { storable } from "../helpers/storable.ts";

describe("a turn whose events cannot be read", () => {
  test("goes out without them where this very reading met damage that is being recovered", async () => {
    const { compose, damage } = openTurns();
    damage(recoveringError(), true);
    expect((await compose()).modelText).toBe("hello");
  });

  test("fails where that has another cause", async () => {
    const { compose, damage } = openTurns();
    const unwritable = new ActivityError("database_unwritable", "The disk is full.", "Wait.");
    damage(unwritable, false);
    await expect(compose()).rejects.toBe(unwritable);
  });
});

function openTurns() {
  let failure: ActivityError | null = null;
  let isRecovering = false;
  let isNext = false;
  const nothing: ContextAnswer = {
    block: null,
    form: "exact",
    intent: "now",
    source: "rules",
    tokens: 0,
    ms: 0,
    asOfUs: 0,
    reasons: [],
    eventIds: [],
    untrustedSpans: [],
    etag: "",
  };
  const options: SessionTurnsOptions = {
    queue: {
      enqueue: () => "queued",
      drain: (_session, render) => {
        isRecovering = isNext;
        if (failure !== null) throw failure;
        return render([]);
      },
    },
    notices: { spoke: () => {} },
    answers: { answer: () => nothing },
    owner: {
      clients: { admit: () => {}, list: unasked, set: unasked, recovered: () => {} },
      note: () => {},
    },
    gate: { text: storable },
    isRecovering: () => isRecovering,
  };
  return {
    compose: () => createSessionTurns(options).composeTurn({ session: "s", ownerText: "hello" }),
    damage: (met: ActivityError, willRecover: boolean) => {
      failure = met;
      isNext = willRecover;
    },
  };
}

function unasked(): never {
  throw new Error("nobody asks for it here");
}
