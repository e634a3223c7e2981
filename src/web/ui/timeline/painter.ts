/**
 * When the timeline is drawn: a frame after something changed and never otherwise, anew when the size, the fineness or
 * the scheme of the screen changes.
 */
import { effect, type Signal } from "@preact/signals";
import type { Page } from "../page.ts";
import { firstWeekday } from "../wall-clock.ts";
import type { TimelineController } from "./controller.ts";
import { createDrawing, type Drawing } from "./draw.ts";
import { layOut, type Layout } from "./lanes.ts";
import type { Pointed } from "./pointers.ts";
import type { Ink } from "./span-brush.ts";
import { axisOf } from "./ticks.ts";

/** The canvas is not finer than this, whatever the screen is: beyond, only the time to draw grows. */
const MAX_DEVICE_PIXELS = 2;

/** Draws when something changed, at most once a frame. */
export function createPainter(
  place: HTMLElement,
  canvas: HTMLCanvasElement,
  timeline: TimelineController,
  page: Page,
  pointed: Signal<Pointed | null>,
  onLayout: (layout: Layout) => void,
): { readonly close: () => void } {
  const weekStart = firstWeekday(page.formats.locale);
  let drawing: Drawing | null = null;
  let ink: Ink | null = null;
  let frame = 0;
  let widthPx = 0;
  let heightPx = 0;
  let devicePixels = 1;
  let isMarked = false;

  const begin = (): void => {
    devicePixels = Math.min(MAX_DEVICE_PIXELS, devicePixelRatio);
    ink = readInk(place);
    drawing = createDrawing(canvas, ink, page.formats, devicePixels);
    heightPx = 0;
    request();
  };

  const request = (): void => {
    if (frame === 0) frame = requestAnimationFrame(paint);
  };

  const paint = (): void => {
    frame = 0;
    if (drawing === null || ink === null || widthPx === 0) return;
    const viewport = timeline.viewport.peek();
    const layers = timeline.layers.peek();
    const layout = layOut(widthPx, ink.remPx, layers, timeline.rowCounts.peek());
    const lanesPx = widthPx - layout.left;
    onLayout(layout);
    timeline.setWidth(lanesPx);
    if (heightPx !== layout.height || canvas.width !== Math.round(widthPx * devicePixels)) {
      heightPx = layout.height;
      canvas.width = Math.round(widthPx * devicePixels);
      canvas.height = Math.round(heightPx * devicePixels);
      canvas.style.height = `${heightPx}px`;
    }
    drawing.draw({
      viewport,
      widthPx,
      layout,
      layers,
      axis: axisOf(viewport, lanesPx, page.clock, drawing.labelWidths, weekStart),
      nowUs: timeline.nowUs.peek(),
      hovered: pointed.peek()?.hit ?? null,
      selected: timeline.selected.peek(),
    });
    if (layers.length > 0 && !isMarked) {
      // For whoever measures how long that took, in the browser's own list of times.
      performance.mark("lanes drawn");
      isMarked = true;
    }
  };

  const stopWatching = effect(() => {
    for (const changing of [
      timeline.viewport,
      timeline.layers,
      timeline.nowUs,
      timeline.selected,
      pointed,
    ]) {
      void changing.value;
    }
    request();
  });
  const sizes = new ResizeObserver(([entry]) => {
    widthPx = Math.floor(entry?.contentRect.width ?? 0);
    begin();
  });
  sizes.observe(place);
  const schemes = matchMedia("(prefers-color-scheme: dark)");
  schemes.addEventListener("change", begin);

  return {
    close: () => {
      cancelAnimationFrame(frame);
      stopWatching();
      sizes.disconnect();
      schemes.removeEventListener("change", begin);
    },
  };
}

function readInk(place: HTMLElement): Ink {
  const style = getComputedStyle(place);
  const colour = (name: string): string => style.getPropertyValue(`--${name}`).trim();
  return {
    scheme: matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light",
    surface: colour("surface"),
    sunken: colour("sunken"),
    line: colour("line"),
    lineStrong: colour("line-strong"),
    text: colour("text"),
    muted: colour("muted"),
    accent: colour("accent"),
    bad: colour("bad"),
    family: style.fontFamily,
    remPx: Number.parseFloat(getComputedStyle(document.documentElement).fontSize),
  };
}
