import { describe, expect, it } from "vitest";
import {
  foldedWords,
  foldWord,
  stemWord,
  wordLikeness,
  wordRarity,
} from "../../../src/capture/triage/words.ts";

describe("words of titles", () => {
  it("are folded: case, diacritics and ligatures do not matter", () => {
    expect(foldWord("Übersicht")).toBe("ubersicht");
    expect(foldWord("Straße Œuvre ﬁle Łódź")).toBe("strasse oeuvre file lodz");
  });

  it.each([
    ["TileCache.swift", ["tilecache", "tile", "cache", "swift", "tilecacheswift"]],
    ["chapter3-reef.tex", ["chapter3", "chapter", "reef", "tex", "chapter3reeftex"]],
    ["XMLParser", ["xmlparser", "xml", "parser"]],
    ["cart_view", ["cart", "view", "cartview"]],
    ["a, b & c!", ["a", "b", "c"]],
    ["日本語入力", ["日本", "本語", "語入", "入力"]],
    ["", []],
  ])("%j holds %j", (title, expected) => {
    expect(
      foldedWords(title)
        .map(({ text }) => text)
        .sort(),
    ).toEqual([...expected].sort());
  });
});

describe("inflected words share a stem", () => {
  it.each([
    ["flight", "flights"],
    ["prune", "pruned"],
    ["prune", "pruning"],
    ["memory", "memories"],
    ["running", "run"],
    ["knee", "knees"],
    ["thesis", "thesi"],
    ["rechnung", "rechnungen"],
    ["reise", "reisen"],
    ["factura", "facturas"],
    ["vuelo", "vuelos"],
    ["billet", "billets"],
  ])("%s and %s", (a, b) => {
    expect(stemWord(a)).toBe(stemWord(b));
  });

  it("and unlike words do not", () => {
    for (const [a = "", b = ""] of [
      ["car", "care"],
      ["paint", "pain"],
      ["tax", "taxi"],
      ["q4", "q3"],
    ]) {
      expect(stemWord(a)).not.toBe(stemWord(b));
    }
  });
});

describe("words are alike", () => {
  it.each([
    ["vaccination", "vaccine", "a long common beginning"],
    ["steuererklarung", "steuer", "a compound"],
    ["lisobn", "lisbon", "two letters swapped"],
    ["kubernets", "kubernetes", "a letter left out"],
    ["markus", "marcus", "a letter wrong"],
  ])("%s and %s: %s", (a, b) => {
    expect(wordLikeness(a, b)).toBeGreaterThan(0);
    expect(wordLikeness(b, a)).toBe(wordLikeness(a, b));
  });

  it.each([
    ["boot", "book"],
    ["fg800", "fg801"],
    ["train", "brain"],
    ["form", "platform"],
  ])("but not %s and %s", (a, b) => {
    expect(wordLikeness(a, b)).toBe(0);
  });
});

describe("the rarity of a word", () => {
  it("grows from the commonest words to those that no list of common words has", () => {
    expect(wordRarity("home")).toBeLessThan(wordRarity("contract"));
    expect(wordRarity("contract")).toBeLessThan(wordRarity("brompton"));
    expect(wordRarity("homes")).toBe(wordRarity("home"));
  });
});
