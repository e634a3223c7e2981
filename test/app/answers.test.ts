import { createServer } from "node:http";
import { describe, expect, it, onTestFinished } from "vitest";
import { startApp } from "../helpers/app-rig.ts";

/** A server that speaks just enough of the protocol to choose the lines of these numbers, after `delayMs`. */
async function serveModel(content: string, delayMs = 0): Promise<string> {
  const server = createServer((request, response) => {
    request.resume().on("end", () => {
      setTimeout(
        () => response.end(JSON.stringify({ choices: [{ message: { content } }] })),
        delayMs,
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const address = server.address();
  return typeof address === "object" && address !== null
    ? `http://127.0.0.1:${address.port}/v1`
    : "";
}

function settings(url: string, timeoutMs = 2000): string {
  return `[digest]\nmodel_url = "${url}"\nmodel_name = "small"\nmodel_timeout_ms = ${timeoutMs}\n`;
}

/** A morning: half an hour of a letter, then of a plan, then of the news. */
async function startMorning(config = "") {
  const rig = await startApp({ config });
  for (const title of ["Letter.odt", "Plan.ods", "World news"]) {
    rig.desktop.focus({ app: "Viewer", title });
    rig.work(30);
  }
  return rig;
}

describe("answers to turns", () => {
  it("tell the record for a turn, and nothing for small talk or while recording is paused", async () => {
    const { app } = await startMorning();
    const turn = "what was I doing in the last two hours?";
    const answer = await app.context({ form: "auto", turn, timeZone: "UTC" });
    expect(answer).toMatchObject({ form: "digest", intent: "window", source: "rules" });
    expect(answer.block).toContain('- 12:00–12:30 (30 min) Viewer: "Letter.odt"');
    expect((await app.context({ form: "auto", turn: "thanks!" })).block).toBeNull();
    await app.pause({ minutes: 5 });
    expect(await app.context({ form: "auto", turn })).toMatchObject({ block: null, tokens: 0 });
  });

  it("take the real-time block when the turn is about what is in front, unless a digest is asked for", async () => {
    const { app } = await startMorning();
    const turn = "summarise this page for me";
    expect(await app.context({ form: "auto", turn })).toMatchObject({
      form: "exact",
      intent: "now",
    });
    const digest = await app.context({ form: "digest", turn });
    expect(digest).toMatchObject({ form: "digest", intent: "now" });
    expect(digest.block).toContain("World news");
  });

  it("lean on the turn before in the same session, and no longer after something was forgotten", async () => {
    const { app } = await startMorning();
    const ask = async (turn: string) =>
      app.context({ form: "digest", turn, session: "s", timeZone: "UTC" });
    const first = await ask("how long did I work on the letter today?");
    expect(first.block).toContain("30 min");
    expect((await ask("and the plan?")).block).toContain('total on "plan": 30 min');
    await app.forget({ app: "Viewer" });
    expect((await ask("how long did I work on the letter today?")).block).toContain(
      "nothing recorded",
    );
  });

  it("let a model choose among the lines, and say when it did not", async () => {
    const turn = "what was I doing in the last two hours?";
    const chosen = await startMorning(settings(await serveModel("2")));
    const answer = await chosen.app.context({ form: "digest", turn });
    expect(answer.source).toBe("model");
    expect(answer.block?.split("\n").filter((line) => line.startsWith("- "))).toHaveLength(1);

    const late = await startMorning(settings(await serveModel("2", 5000), 60));
    const fallen = await late.app.context({ form: "digest", turn });
    expect(fallen.source).toBe("fallback");
    expect(fallen.block).toContain("Letter.odt");
  });

  it("find a topic by meaning only where that is switched on", async () => {
    const turn = "when did I look at the automobile?";
    for (const [config, source] of [
      ["", "rules"],
      ["[digest]\nsemantic = true\n", "semantic"],
    ] as const) {
      const rig = await startApp({ config });
      for (const title of ["Car insurance", "Guitar chords", "Onion soup"]) {
        rig.desktop.focus({ app: "Viewer", title });
        rig.work(5);
      }
      expect((await rig.app.context({ form: "digest", turn })).source).toBe(source);
    }
  });
});
