/** Text for events that a test makes itself: it needs no privacy gate, since it comes from no stranger. */
import type { StorableText } from "../../src/capture/events.ts";

export function storable(text: string): StorableText {
  return text as StorableText;
}
