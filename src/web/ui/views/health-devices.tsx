/** The owner's other devices: when each was last heard, what of it is late, and whether the way to them is open. */
import type { JSX } from "preact";
import type { HubAnswer, HubDevice } from "../../../api.ts";
import { useLoad } from "../load.ts";
import { usePage } from "../page.ts";
import { Foreign, Panel } from "../parts.tsx";
import { useNowUs } from "../ticking.ts";
import { deviceMark, deviceRemarks } from "./device-words.ts";
import { RemedyText } from "./remedy.tsx";
import { StaleNote } from "./stale-note.tsx";

const LINKS = {
  connected: { word: "open", chip: "chip-on" },
  away: { word: "out of reach", chip: "chip-warn" },
  refused: { word: "closed", chip: "chip-bad" },
} as const;

/** Nothing at all where this device is in no hub. */
export function DevicesPanel(): JSX.Element {
  const { api, formats } = usePage();
  const loaded = useLoad("hub", (signal) => api.get<HubAnswer>("/api/v1/hub", {}, signal));
  const nowUs = useNowUs(10_000);
  const hub = loaded.value.answer;
  if (hub === null || hub.place === null) return <></>;
  const others = hub.devices.filter(({ key }) => key !== 0);
  return (
    <Panel title="Devices" class="devices">
      <StaleNote />
      {hub.link !== null && (
        <p class="small">
          The way to them, <bdi>{hub.place}</bdi>, is{" "}
          <span class={`chip ${LINKS[hub.link.state].chip}`}>{LINKS[hub.link.state].word}</span>
          {hub.waiting > 0 && `; ${formats.count(hub.waiting)} changes wait to be told`}.
        </p>
      )}
      {hub.link?.why != null && (
        <>
          <p class="small">
            <bdi>{hub.link.why.reason}</bdi>
          </p>
          <RemedyText remedy={hub.link.why.remedy} />
        </>
      )}
      {others.length === 0 ? (
        <p class="muted">No other device was heard yet.</p>
      ) : (
        <table class="table">
          <thead>
            <tr>
              <th scope="col">Device</th>
              <th scope="col">State</th>
            </tr>
          </thead>
          <tbody>
            {others.map((device) => (
              <Device key={device.id} device={device} nowUs={nowUs.value} />
            ))}
          </tbody>
        </table>
      )}
    </Panel>
  );
}

function Device(props: { readonly device: HubDevice; readonly nowUs: number }): JSX.Element {
  const { formats } = usePage();
  const { device, nowUs } = props;
  const { name, kind, lastHeardUs } = device;
  const { word, chip } = deviceMark(device, nowUs);
  const remarks = deviceRemarks(device, formats.duration);
  return (
    <tr>
      <th scope="row">
        <Foreign text={name} maxGraphemes={40} />
        {kind !== null && <span class="muted small"> {kind}</span>}
      </th>
      <td>
        <span class={`chip ${chip}`}>{word}</span>{" "}
        {lastHeardUs !== null && (
          <span class="muted small">
            last heard {formats.ago(Math.min(lastHeardUs, nowUs), nowUs)}
          </span>
        )}
        {remarks.map((remark) => (
          <p key={remark} class="small">
            {remark}
          </p>
        ))}
      </td>
    </tr>
  );
}
