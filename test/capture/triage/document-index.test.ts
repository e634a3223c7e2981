import { describe, expect, it } from "vitest";
import { createDocumentIndex, documentWords } from "../../../src/capture/triage/document-index.ts";
import type { HistoryDocument } from "../../../src/store/history.ts";
import { createMemoryHistory, type RecordedWindow } from "../../helpers/memory-history.ts";

function windows(...titles: readonly string[]): readonly RecordedWindow[] {
  return titles.map((title, index) => ({
    app: "gedit",
    title,
    startUs: index * 1e9,
    endUs: index * 1e9 + 1e8,
  }));
}

function hits(titles: readonly string[], word: string): readonly number[] {
  const index = createDocumentIndex();
  index.refresh(createMemoryHistory(windows(...titles)));
  return [...index.find(word).documents.keys()];
}

describe("the document index", () => {
  it("finds a word as written, inflected, in a compound and mistyped", () => {
    expect(hits(["tomato plants", "tomatoes"], "tomato")).toEqual([1, 2]);
    expect(hits(["Steuererklärung 2026"], "steuer")).toEqual([1]);
    expect(hits(["Arbeitsunfähigkeitsbescheinigung.pdf"], "bescheinigung")).toEqual([1]);
    expect(hits(["Gesellschaftsvertrag Entwurf"], "vertrag")).toEqual([1]);
    expect(hits(["Cheap flights to Lisbon"], "lisobn")).toEqual([1]);
    expect(hits(["How immune memory works"], "meomries")).toEqual([1]);
    expect(hits(["Cheap flights to Lisbon"], "madrid")).toEqual([]);
  });

  it("finds umlauts however they are typed, in titles and in turns, also within compounds", () => {
    expect(hits(["Kündigung Fitnessstudio"], "kuendigung")).toEqual([1]);
    expect(hits(["Kuendigung_Vertrag.docx"], "kundigung")).toEqual([1]);
    expect(hits(["Küchengerät Öfen"], "kuechengeraet")).toEqual([1]);
    expect(hits(["Prüfungsgebührenordnung"], "pruefungsgebuehr")).toEqual([1]);
    expect(hits(["Steuer 2026", "Bauer", "blue"], "stur")).toEqual([]);
  });

  it("looks for what is only alike after the word itself failed", () => {
    expect(hits(["budget", "budgit"], "budget")).toEqual([1]);
  });

  it("reads host and path of a page, and holds words of the address for less than those of the title", () => {
    const page: HistoryDocument = {
      id: 1,
      app: "firefox",
      title: "Idempotent requests",
      place: "docs.example.com/payments/api",
    };
    const words = documentWords(page);
    expect(words.get("requests")).toBe(false);
    expect(words.get("example")).toBe(false);
    expect(words.get("payments")).toBe(true);
    expect(words.has("com")).toBe(false);
  });

  it("takes in what is new, a part at a time if need be, and nothing twice", () => {
    const titles = ["alpha one", "alpha two", "alpha three", "alpha four", "alpha five"];
    const index = createDocumentIndex();
    index.refresh(createMemoryHistory(windows(...titles.slice(0, 1))));
    const all = createMemoryHistory(windows(...titles));
    expect(index.refresh(all, undefined, 2)).toBe(false);
    expect(index.size()).toBe(3);
    while (!index.refresh(all, undefined, 2));
    expect(index.refresh(all)).toBe(true);
    expect(index.size()).toBe(5);
    expect([...index.find("alpha").documents.keys()]).toEqual([1, 2, 3, 4, 5]);
  });

  it("forgets the words of a deleted document when the next one comes, or at once when told to", () => {
    const titles = ["secret plan", "weather", "news"];
    const index = createDocumentIndex();
    index.refresh(createMemoryHistory(windows(...titles)));
    const after = createMemoryHistory(windows(...titles, "sports"));
    index.refresh({
      ...after,
      documentCount: () => 3,
      documentsAfter: (id, limit) => after.documentsAfter(id, limit).filter(({ id }) => id !== 1),
    });
    expect(index.find("secret").how).toBe("none");
    expect(index.find("sports").how).toBe("exact");
    index.clear();
    expect(index.find("weather").how).toBe("none");
    expect(index.size()).toBe(0);
  });
});
