import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { loadFindSocket } from "../../src/local-api/sock-diag.ts";
import { readTcpPeer, type TcpPeer } from "../../src/local-api/tcp-peer.ts";
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

function toWord(peer: TcpPeer): string | null {
  return peer === null || peer === "ended" ? peer : JSON.stringify(peer);
}

describe.each([
  ["asked of the kernel", loadFindSocket()],
  ["read in its table", null],
])("%s", (_, find) => {
  test.each(["127.0.0.1", "::ffff:127.0.0.1"])(
    "the other end, on %s, is of this user",
    async (host) => {
      const { ours, other } = await openConnection(host);
      expect(readTcpPeer(ours, find)).toEqual({ uid: process.getuid?.() });
      // Each end has the other, and not itself, at its other end.
      expect(readTcpPeer(other, find)).toEqual({ uid: process.getuid?.() });
    },
  );

  test("who has gone is not taken for root, to whom is given what is kept of them", async () => {
    const { ours, other } = await openConnection("127.0.0.1");
    other.destroy();
    ours.resume();
    await once(ours, "end");
    // A kernel may still know whose it was; of root it says the same as of what nobody holds any more.
    expect(["ended", null, JSON.stringify({ uid: process.getuid?.() || "nobody" })]).toContain(
      toWord(readTcpPeer(ours, find)),
    );
  });
});

test("the kernel names a connection, and not who listens at its address", async () => {
  const find = loadFindSocket();
  if (find === null) throw new Error("koffi is not there");
  const { ours } = await openConnection("127.0.0.1");
  const address = [127, 0, 0, 1];
  const [from, to] = [
    { address, port: ours.remotePort ?? 0 },
    { address, port: ours.localPort ?? 0 },
  ];
  expect(find(from, to)).toEqual({ uid: process.getuid?.(), isEstablished: true });
  expect(find(to, from)).toEqual({ uid: process.getuid?.(), isEstablished: true });
  expect(find(to, { address, port: 9 })).toBeNull();
});
