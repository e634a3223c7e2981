import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toneOf, type Scheme } from "../../../../src/web/ui/timeline/colours.ts";
import { law } from "../../../helpers/laws.ts";

/** The surfaces and text colours of theme.css. */
const PAGE = {
  light: { surface: "#ffffff", text: "#14181b" },
  dark: { surface: "#171b1e", text: "#e7ebee" },
} as const;

/** Linear sRGB of a colour, each channel 0 to 1 when it can be shown. */
function linear(colour: string): readonly [number, number, number] {
  const hex = /^#(..)(..)(..)$/.exec(colour);
  if (hex !== null) {
    const channel = (text = "0"): number => {
      const value = Number.parseInt(text, 16) / 255;
      return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    };
    return [channel(hex[1]), channel(hex[2]), channel(hex[3])];
  }
  const [lightness = 0, chroma = 0, hue = 0] = (colour.match(/[\d.]+/g) ?? []).map(Number);
  const a = chroma * Math.cos((hue * Math.PI) / 180);
  const b = chroma * Math.sin((hue * Math.PI) / 180);
  // From OKLab to linear sRGB as its author gives it: https://bottosson.github.io/posts/oklab/
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ];
}

function contrast(a: string, b: string): number {
  const luminance = (colour: string): number => {
    const [red, green, blue] = linear(colour);
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const [low = 0, high = 0] = [luminance(a), luminance(b)].toSorted((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}

const scheme = fc.constantFrom<Scheme>("light", "dark");
const name = fc.option(fc.string({ unit: "grapheme" }));

describe("the colour of an application", () => {
  it("is the same each time, and tells applications apart", () => {
    expect(toneOf("Firefox", "light")).toEqual(toneOf("Firefox", "light"));
    const names = [
      "Firefox",
      "Code",
      "Slack",
      "Terminal",
      "Signal",
      "Files",
      "Zoom",
      "Thunderbird",
    ];
    expect(new Set(names.map((each) => toneOf(each, "light").fill)).size).toBeGreaterThan(6);
  });

  law(
    "stands out from the page, and its text from it",
    fc.property(name, scheme, (app, mode) => {
      const { fill, text, tint } = toneOf(app, mode);
      const page = PAGE[mode];
      return (
        contrast(fill, page.surface) >= 3 &&
        contrast(fill, text) >= 4.5 &&
        contrast(tint, page.text) >= 4.5
      );
    }),
  );

  law(
    "is one that every screen can show",
    fc.property(name, scheme, (app, mode) => {
      const { fill, tint } = toneOf(app, mode);
      return [...linear(fill), ...linear(tint)].every((value) => value >= -0.002 && value <= 1.002);
    }),
  );
});
