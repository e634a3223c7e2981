import { describe, expect, it } from "vitest";
import { createDocumentIndex } from "../../../src/capture/triage/document-index.ts";
import { COVERAGE_FLOOR, readTopic, type Topic } from "../../../src/capture/triage/topic.ts";
import { readTurn } from "../../../src/capture/triage/read-turn.ts";
import { createMemoryHistory } from "../../helpers/memory-history.ts";

/** A few pages and files, and many that share single words with what is asked for. */
const TITLES = [
  "Night train Vienna to Venice | Nightjet",
  "Used Brompton bicycle - Gumtree",
  "Oak table plans.pdf",
  "shipment_events.rs — parcels",
  ...[
    "train sets",
    "night owls",
    "bicycle lanes",
    "oak trees",
    "dentist jokes",
    "invoice design",
  ].flatMap((topic) => [
    `History of ${topic} - Wikipedia`,
    `Best ${topic} 2026 - Reddit`,
    `${topic} memes`,
  ]),
];

function topicOf(turn: string): Topic & { readonly best: string | null } {
  const history = createMemoryHistory(
    TITLES.map((title, index) => ({
      app: "Firefox",
      title,
      startUs: index * 1e9,
      endUs: index * 1e9 + 1e8,
    })),
  );
  const index = createDocumentIndex();
  index.refresh(history);
  const topic = readTopic(turn, readTurn(turn, 1e15, "UTC"), index);
  const [first] = topic.matches;
  const found = first !== undefined && first.coverage >= COVERAGE_FLOOR;
  return { ...topic, best: found ? (TITLES[first.documentId - 1] ?? null) : null };
}

describe("the topic of a turn", () => {
  it.each([
    ["find the night train to Venice I was reading", TITLES[0]],
    ["night trains vienna", TITLES[0]],
    ["where was the brompton ad again", TITLES[1]],
    ["the oak tabel plans please", TITLES[2]],
    ["cuánto tiempo le metí al brompton", TITLES[1]],
    ["when did I last touch shipment events", TITLES[3]],
    ["open shipmentevents again", TITLES[3]],
    ["where is the ship ment events file", TITLES[3]],
    ["before the design review starts, where was the brompton ad", TITLES[1]],
  ])("%j is %j", (turn, title) => {
    expect(topicOf(turn).best).toBe(title);
  });

  it.each([
    "find the dentist invoice I was reading",
    "the train strike refund",
    "where did I see scuba diving in Egypt",
    "when did I look at Kubernetes operators?",
  ])("%j was never there, though single words of it were", (turn) => {
    expect(topicOf(turn).best).toBeNull();
  });

  it("is told in the owner's words", () => {
    expect(topicOf("when did I look at scuba diving in Egypt?").phrase).toBe(
      "scuba diving in Egypt",
    );
    expect(topicOf("what was I doing?").phrase).toBe("");
  });
});
