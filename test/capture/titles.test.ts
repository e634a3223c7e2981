import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { directoryProject, documentTitle, titleParts } from "../../src/capture/titles.ts";

describe("documentTitle", () => {
  it.each([
    ["firefox", "(3) Inbox — Mozilla Firefox", "Inbox"],
    ["Firefox", "How bees overwinter - YouTube — Mozilla Firefox", "How bees overwinter - YouTube"],
    ["google-chrome", "Prices - Google Chrome", "Prices"],
    ["Google Chrome", "Prices (12) - Google Chrome", "Prices"],
    ["Code", "● cart.ts — shop — Visual Studio Code", "cart.ts — shop"],
    ["code-oss", "cart.ts - shop - Code - OSS", "cart.ts - shop"],
    ["LibreOffice Calc", "Rent 2026.ods — LibreOffice Calc", "Rent 2026.ods"],
    ["soffice.bin", "Rent 2026.ods - LibreOffice Calc", "Rent 2026.ods"],
    ["org.kde.okular", "map.pdf — Okular", "map.pdf"],
    ["org.gnome.Nautilus", "Holiday — Files", "Holiday"],
    ["Slack", "(9) #garden — Club — Slack", "#garden — Club"],
    ["zoom", "Talk with Ines — Zoom Meeting", "Talk with Ines — Zoom Meeting"],
    ["kitty", "⠋ npm test", "npm test"],
    ["kitty", "⠙ npm test", "npm test"],
    ["dolphin", "45 % Copying files", "Copying files"],
    ["dolphin", "Copying files – 45%", "Copying files"],
    ["gedit", "*notes.txt (~/Documents) - gedit", "notes.txt (~/Documents)"],
    ["firefox", "17% of 2300 - Kagi — Mozilla Firefox", "17% of 2300 - Kagi"],
    ["firefox", "Metropolis (1927) — Mozilla Firefox", "Metropolis (1927)"],
    ["msedge", "Plan - Personal - Microsoft\u200b Edge", "Plan - Personal"],
    ["firefox", "Mozilla Firefox", "Mozilla Firefox"],
    ["Thunderbird", "Inbox - Thunderbird", "Inbox"],
  ])("in %s, %j shows the document %j", (app, title, expected) => {
    expect(documentTitle(app, title)).toBe(expected);
  });

  it("changes nothing when applied twice, and never empties a title", () => {
    const piece = fc.constantFrom(
      "(3) ",
      "● ",
      "*",
      "⠋ ",
      "45% ",
      "a",
      "Firefox",
      " — ",
      " - ",
      "(2)",
    );
    const title = fc.oneof(
      fc.string({ unit: "grapheme" }),
      fc.array(piece).map((p) => p.join("")),
    );
    fc.assert(
      fc.property(fc.constantFrom("firefox", "Code", ""), title, (app, text) => {
        const once = documentTitle(app, text);
        expect(documentTitle(app, once)).toBe(once);
        expect(once === "").toBe(text.trim() === "");
      }),
    );
  });
});

describe("titleParts", () => {
  it.each([
    [
      "Code",
      "● cart.ts — shop — Visual Studio Code",
      { file: "cart.ts", directory: null, project: "shop" },
    ],
    ["jetbrains-idea", "shop – Cart.java", { file: "Cart.java", directory: null, project: "shop" }],
    ["kitty", "npm test — ~/src/shop", { file: null, directory: "~/src/shop", project: "shop" }],
    [
      "kitty",
      "ana@box: ~/src/shop/lib",
      { file: null, directory: "~/src/shop/lib", project: "shop" },
    ],
    [
      "gedit",
      "tax.md (~/Documents/Move 2026) - gedit",
      { file: "tax.md", directory: "~/Documents/Move 2026", project: "Move 2026" },
    ],
    [
      "LibreOffice Calc",
      "Rent 2026.ods — LibreOffice Calc",
      { file: "Rent 2026.ods", directory: null, project: null },
    ],
    [
      "LibreOffice Writer",
      "Chapter 2 - Weavers.odt — LibreOffice Writer",
      { file: "Chapter 2 - Weavers.odt", directory: null, project: null },
    ],
    [
      "Code",
      "cart.ts - shop - Visual Studio Code",
      { file: "cart.ts", directory: null, project: "shop" },
    ],
    ["firefox", "example.com", { file: null, directory: null, project: null }],
    ["firefox", "How bees overwinter - YouTube", { file: null, directory: null, project: null }],
  ])("in %s, %j names its parts", (app, title, expected) => {
    expect(titleParts(app, title)).toEqual(expected);
  });

  it("a directory of nothing but usual roots names no project", () => {
    expect(directoryProject("~/Documents")).toBeNull();
    expect(directoryProject("/home/ana/src")).toBeNull();
    expect(directoryProject("/home/ana/src/shop/lib")).toBe("shop");
  });
});
