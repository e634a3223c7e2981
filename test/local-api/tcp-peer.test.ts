import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { readTcpPeer } from "../../src/local-api/tcp-peer.ts";
import { until } from "../helpers/until.ts";

/** A connection to a port of the loopback: our end and the other. */
async function openConnection(
  host: string,
): Promise<{ readonly ours: Socket; readonly other: Socket }> {
  const server = createServer({ allowHalfOpen: true }).listen(0, "127.0.0.1");
  await once(server, "listening");
  // A server on an address of its own.
  const { port } = server.address() as AddressInfo;
  const accepted = once(server, "connection");
  const other = connect(port, host);
  const [ours]: Socket[] = await accepted;
  if (ours === undefined) throw new Error("nobody came");
  await until("the other end is connected", () => !other.connecting);
  onTestFinished(async () => {
    other.destroy();
    ours.destroy();
    server.close();
    await once(server, "close");
  });
  return { ours, other };
}

test.each(["127.0.0.1", "::ffff:127.0.0.1"])(
  "the other end, on %s, is of this user",
  async (host) => {
    const { ours } = await openConnection(host);
    expect(readTcpPeer(ours)).toEqual({ uid: process.getuid?.() });
  },
);

test("who has gone is not taken for root, to whom the table gives what it keeps of them", async () => {
  const { ours, other } = await openConnection("127.0.0.1");
  other.destroy();
  ours.resume();
  await once(ours, "end");
  expect(["ended", null]).toContain(readTcpPeer(ours));
});
