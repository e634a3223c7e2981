/** Talk to which nobody listens any more. */
import { expect, onTestFinished, test } from "vitest";
import { hearClosedTalk } from "../../src/cli/io.ts";

test("a listener that went away ends nothing, also where a thread has a listener of its own on it", () => {
  const before = process.stderr.listeners("error");
  onTestFinished(() => {
    process.stderr.removeAllListeners("error");
    for (const listener of before) process.stderr.on("error", (error) => void listener(error));
  });
  process.stderr.removeAllListeners("error");
  const ofThread = (): void => {};
  process.stderr.on("error", ofThread);
  hearClosedTalk();
  hearClosedTalk();
  expect(process.stderr.listenerCount("error")).toBe(2);
  // As the stream of a thread does when what it is piped to fails: it passes the failure on where nobody else hears it.
  process.stderr.removeListener("error", ofThread);
  expect(process.stderr.listenerCount("error")).toBe(1);
});
