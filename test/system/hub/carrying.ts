/** Carries numbered records from one device to another while something goes wrong, and counts what became of them. */
import { randomBytes } from "node:crypto";
import type { CarriedRecord, HubDriver, SealedRecord } from "../../../src/hub/driver.ts";
import { until } from "../../helpers/until.ts";

export interface Carried {
  /** Records whose append was acknowledged. */
  readonly sent: number;
  /** Different records that came out at the other device. */
  readonly received: number;
  readonly lost: number;
  readonly doubled: number;
  /** Whether they came in the order of the log. */
  readonly inOrder: boolean;
  /** Appends that had to be called again, and the longest time one record waited. */
  readonly retries: number;
  readonly longestMs: number;
}

export interface CarryOptions {
  readonly from: HubDriver;
  readonly to: HubDriver;
  readonly device: string;
  readonly records: number;
  /** Called before the record of this number is appended. */
  readonly during?: Readonly<Record<number, () => Promise<unknown> | void>>;
  readonly firstSeq?: number;
}

const AT_ONCE = 20;

/** Appends in batches of 20, each again until it is acknowledged. */
export async function carry(options: CarryOptions): Promise<Carried> {
  const { from, to, device, records, during = {}, firstSeq = 1 } = options;
  const received: CarriedRecord[] = [];
  const subscription = to.subscribe({
    cursor: null,
    deliver: async (given) => void received.push(...given),
  });
  const wanted = (): CarriedRecord[] =>
    received.filter((each) => each.device === device && each.seq >= firstSeq);
  const log = Array.from({ length: records }, (_, index): SealedRecord => ({
    device,
    epoch: 1,
    seq: firstSeq + index,
    bytes: randomBytes(200),
  }));
  let retries = 0;
  let longestMs = 0;
  for (let at = 0; at < records; at += AT_ONCE) {
    for (let each = at; each < at + AT_ONCE; each += 1) await during[each]?.();
    const begun = performance.now();
    const batch = log.slice(at, at + AT_ONCE);
    while (!(await from.append(batch, 2_000).then(() => true, onlyAway))) retries += 1;
    longestMs = Math.max(longestMs, performance.now() - begun);
  }
  await until("all records come", () => new Set(wanted().map(toText)).size >= records, 100_000);
  await subscription.close();
  const came = new Map<string, number>();
  for (const record of wanted()) came.set(toText(record), (came.get(toText(record)) ?? 0) + 1);
  const seqs = wanted().map(({ seq }) => seq);
  return {
    sent: records,
    received: came.size,
    lost: log.filter((record) => !came.has(toText(record))).length,
    doubled: [...came.values()].filter((times) => times > 1).length,
    inOrder: seqs.every((seq, index) => index === 0 || seq > (seqs[index - 1] ?? 0)),
    retries,
    longestMs: Math.round(longestMs),
  };
}

/** One line for the person who reads the run. */
export function print(what: string, carried: Carried): void {
  const { sent, received, lost, doubled, retries, longestMs } = carried;
  process.stdout.write(
    `${what}: sent ${sent}, received ${received}, lost ${lost}, doubled ${doubled} (longest wait ${longestMs} ms, ${retries} appends called again)\n`,
  );
}

function onlyAway(thrown: unknown): false {
  if (thrown instanceof Error && "code" in thrown && thrown.code === "hub_away") return false;
  throw thrown;
}

function toText({ epoch, seq, bytes }: SealedRecord): string {
  return `${epoch}:${seq}:${Buffer.from(bytes).toString("base64")}`;
}
