/**
 * The colour of each application: always the same one, whatever else is on the screen, and with enough contrast to
 * its surroundings and to the text on it in both schemes (3:1 for shapes, 4.5:1 for text, WCAG 2.2 §1.4).
 */

export type Scheme = "light" | "dark";

/** Colours of CSS. */
export interface Tone {
  readonly fill: string;
  /** On `fill`. */
  readonly text: string;
  /** A paler fill of the same hue, on which the page's own text colour is read. */
  readonly tint: string;
}

const HUES = 24;

/**
 * Perceived lightness (0–1) and chroma of OKLCH, low enough for every hue to lie within sRGB. `vivid` is for the hues
 * from blue over red to orange, of which dark colours can be purer than of greens.
 */
const SHADES = {
  light: {
    steps: [0.45, 0.5, 0.545],
    chroma: 0.076,
    vivid: 0.115,
    text: "#ffffff",
    tint: [0.935, 0.028],
  },
  dark: {
    steps: [0.68, 0.735, 0.79],
    chroma: 0.1,
    vivid: 0.1,
    text: "#0b0d0f",
    tint: [0.315, 0.035],
  },
} as const;

/** Null is for what has no name of its own: a grey. */
export function toneOf(name: string | null, scheme: Scheme): Tone {
  const { steps, chroma, vivid, text, tint } = SHADES[scheme];
  if (name === null) {
    return { fill: oklch(steps[1], 0.008, 230), text, tint: oklch(tint[0], 0.006, 230) };
  }
  const hash = hashOf(name);
  const hue = (hash % HUES) * (360 / HUES);
  const lightness = steps[Math.floor(hash / HUES) % steps.length] ?? steps[1];
  return {
    fill: oklch(lightness, hue >= 255 || hue <= 45 ? vivid : chroma, hue),
    text,
    tint: oklch(tint[0], tint[1], hue),
  };
}

function oklch(lightness: number, chroma: number, hue: number): string {
  return `oklch(${lightness} ${chroma} ${hue})`;
}

/** Chosen so that the applications most people have open beside each other differ well. */
const SEED = 0x811cc3b2;

/** FNV-1a with a final mix, 32 bits: the same on every machine. */
function hashOf(name: string): number {
  let hash = SEED;
  for (let index = 0; index < name.length; index += 1) {
    hash = Math.imul(hash ^ name.charCodeAt(index), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return (hash ^ (hash >>> 13)) >>> 0;
}
