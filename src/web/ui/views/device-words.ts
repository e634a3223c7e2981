/** The words for how the owner's other devices stand. Pure. */
import type { HubDevice } from "../../../api.ts";

type OtherDevice = Pick<HubDevice, "state" | "lastHeardUs" | "lagUs" | "clockOffsetUs" | "missing">;

export interface DeviceMark {
  readonly word: string;
  /** The class of its chip. */
  readonly chip: "chip-on" | "chip-warn" | "chip-bad" | "";
}

const MINUTE_US = 60_000_000;
/** A device in use tells of itself once a minute. */
const IN_TOUCH_US = 3 * MINUTE_US;
/** A clock that is off by less harms nobody. */
const CLOCK_US = 2 * MINUTE_US;
/** A record that took less was not held up by anything. */
const LAG_US = MINUTE_US;

/** How a device stands: whether it belongs to the hub, and whether it was heard just now. */
export function deviceMark({ state, lastHeardUs }: OtherDevice, nowUs: number): DeviceMark {
  switch (state) {
    case "forked":
      return { word: "Two records under one name", chip: "chip-bad" };
    case "revoked":
      return { word: "Taken out", chip: "" };
    case "left":
      return { word: "Left", chip: "" };
    case "member":
      if (lastHeardUs === null) return { word: "Not heard yet", chip: "chip-warn" };
      return nowUs - lastHeardUs <= IN_TOUCH_US
        ? { word: "In touch", chip: "chip-on" }
        : { word: "Quiet", chip: "" };
  }
}

/** What is worth knowing besides, each as a clause: what is missing, slow or off. */
export function deviceRemarks(
  { lagUs, clockOffsetUs, missing }: OtherDevice,
  duration: (us: number) => string,
): readonly string[] {
  return [
    missing > 0 ? `${missing} of its records have not arrived` : null,
    clockOffsetUs !== null && clockOffsetUs > CLOCK_US
      ? `its clock is ${duration(clockOffsetUs)} ahead`
      : null,
    // Which of the two it is nobody can tell from here.
    clockOffsetUs !== null && clockOffsetUs < -CLOCK_US
      ? `its clock is ${duration(-clockOffsetUs)} behind, or its records take that long`
      : lagUs !== null && lagUs >= LAG_US
        ? `its last record took ${duration(lagUs)}`
        : null,
  ].filter((remark) => remark !== null);
}
