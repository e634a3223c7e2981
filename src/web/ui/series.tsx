/**
 * One bar a day, and the value of the day that is pointed at. What it shows stands in a table too, for those who
 * do not see it.
 */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import { useScheme } from "./timeline/scheme.ts";

export interface SeriesPoint {
  /** `Fri 27 Nov` */
  readonly label: string;
  /** For the axis, where there is less room: `27`, or null for no label. */
  readonly tick: string | null;
  /** Null: nothing is known. */
  readonly value: number | null;
  /** The value as it is told: `6 h 12 min`. */
  readonly text: string;
}

const HEIGHT_REM = 11;

export function Series(props: {
  readonly title: string;
  readonly points: readonly SeriesPoint[];
  /** The values at which the axis has a line, and how each is told. */
  readonly axis: { readonly step: number; readonly tell: (value: number) => string };
}): JSX.Element {
  const place = useRef<HTMLDivElement>(null);
  const scheme = useScheme();
  const pointed = useSignal<number | null>(null);
  const { title, points, axis } = props;

  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const style = getComputedStyle(element);
    const colour = (name: string): string => style.getPropertyValue(`--${name}`).trim();
    const remPx = Number.parseFloat(getComputedStyle(document.documentElement).fontSize);
    const font = `${0.78 * remPx}px ${style.fontFamily}`;
    const highest = Math.max(axis.step, ...points.map(({ value }) => value ?? 0));
    const top = Math.ceil(highest / axis.step) * axis.step;
    const lines = Array.from({ length: top / axis.step + 1 }, (_, index) => index * axis.step);
    const ticks = points.flatMap(({ tick }, index) => (tick === null ? [] : [index]));
    const plot = new uPlot(
      {
        width: element.clientWidth,
        height: HEIGHT_REM * remPx,
        padding: [0.5 * remPx, 0, 0, 0],
        legend: { show: false },
        cursor: { y: false, drag: { x: false, y: false }, points: { show: false } },
        scales: { x: { time: false, range: [-0.6, points.length - 0.4] }, y: { range: [0, top] } },
        axes: [
          {
            font,
            stroke: colour("muted"),
            grid: { show: false },
            ticks: { show: false },
            size: 1.6 * remPx,
            gap: 0.3 * remPx,
            splits: ticks,
            values: (_, splits) => splits.map((index) => points[index]?.tick ?? ""),
          },
          {
            font,
            stroke: colour("muted"),
            grid: { stroke: colour("line"), width: 1 },
            ticks: { show: false },
            size: 3.2 * remPx,
            gap: 0.3 * remPx,
            splits: lines,
            values: (_, splits) => splits.map(axis.tell),
          },
        ],
        series: [
          {},
          {
            fill: colour("accent"),
            stroke: colour("accent"),
            width: 0,
            points: { show: false },
            ...(uPlot.paths.bars === undefined
              ? {}
              : { paths: uPlot.paths.bars({ size: [0.72, 2.6 * remPx], radius: [0.2, 0] }) }),
          },
        ],
        hooks: {
          setCursor: [
            ({ cursor }) => {
              pointed.value = cursor.idx ?? null;
            },
          ],
        },
      },
      [points.map((_, index) => index), points.map(({ value }) => value)],
      element,
    );
    const sizes = new ResizeObserver(() => {
      plot.setSize({ width: element.clientWidth, height: HEIGHT_REM * remPx });
    });
    sizes.observe(element);
    return () => {
      sizes.disconnect();
      plot.destroy();
    };
  }, [points, axis, scheme, pointed]);

  const shown = pointed.value === null ? null : points[pointed.value];
  return (
    <figure class="series">
      <figcaption class="series-caption">
        <span>{title}</span>
        <span class="muted">{shown ? `${shown.label}: ${shown.text}` : ""}</span>
      </figcaption>
      <div ref={place} class="series-place" aria-hidden="true" />
      <table class="visually-hidden">
        <caption>{title}</caption>
        <tbody>
          {points.map(({ label, text }) => (
            <tr key={label}>
              <th scope="row">{label}</th>
              <td>{text}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </figure>
  );
}
