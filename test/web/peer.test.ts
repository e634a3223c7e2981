import { expect, test } from "vitest";
import { findPeer } from "../../src/web/peer.ts";

/** As Linux writes it: the listener, our end of a connection, and the other's. */
const TABLE = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:15FE 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 22 1 0 100 0 0 10 0
   1: 0100007F:15FE 0100007F:D431 01 00000000:00000000 00:00000000 00000000  1000        0 23 1 0 20 4 30 10 -1
   2: 0100007F:D431 0100007F:15FE 01 00000000:00000000 00:00000000 00000000  1001        0 24 1 0 20 4 30 10 -1
   3: 0200A8C0:D432 0100007F:15FE 01 00000000:00000000 00:00000000 00000000  1002        0 25 1 0 20 4 30 10 -1
`;
const OUR_PORT = 0x15fe;

test("the user at the other end is the one whose socket speaks to ours", () => {
  expect(findPeer(TABLE, { localPort: OUR_PORT, remotePort: 0xd431 })).toBe(1001);
});

test.each([
  ["a connection that is over", 0xd433],
  ["one from another address", 0xd432],
])("%s names nobody", (_, remotePort) => {
  expect(findPeer(TABLE, { localPort: OUR_PORT, remotePort })).toBeNull();
});

test("a client that speaks IPv6 is found as well", () => {
  const line =
    "   0: 0000000000000000FFFF00000100007F:D431 0000000000000000FFFF00000100007F:15FE 01 0:0 0:0 0  1003 0 1";
  expect(findPeer(line, { localPort: OUR_PORT, remotePort: 0xd431 })).toBe(1003);
});

test("a table that is none names nobody", () => {
  expect(findPeer("", { localPort: 1, remotePort: 2 })).toBeNull();
});
