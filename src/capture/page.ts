/**
 * What a browser's own extension says of the tab in front, laid over what the desktop says of the window. It
 * promises that a private tab hides its window, and that window and tab are one document.
 */
import type { WindowSample } from "./events.ts";
import { readAppNames } from "./privacy/match.ts";
import { readPrivateMarking } from "./privacy/windows.ts";
import { documentTitle } from "./titles.ts";

/** The last word of an extension on its active tab. */
export interface PageReport {
  readonly title: string;
  readonly url: string | null;
  readonly private: boolean;
  readonly atUs: number;
}

/** Extensions report at each change of tab and once a minute; older than this, the word is no longer of now. */
const FRESH_US = 90_000_000;

/**
 * The window with what the tab adds. Of a browser whose last report was of a private tab every window counts as
 * private, whatever its title: only another report ends that, or its age.
 */
export function withPage(
  sample: WindowSample,
  page: PageReport | null,
  nowUs: number,
): WindowSample {
  if (page === null || nowUs - page.atUs > FRESH_US) return sample;
  if (readPrivateMarking(...readAppNames(sample.app, sample.executable)) === null) return sample;
  if (page.private) return { ...sample, private: true };
  if (sample.url !== null || sample.title === null) return sample;
  const isSame = documentTitle(sample.app, sample.title) === documentTitle(sample.app, page.title);
  // Of this one it is known, then, though its browser sets no mark.
  return isSame ? { ...sample, url: page.url, private: sample.private ?? false } : sample;
}
