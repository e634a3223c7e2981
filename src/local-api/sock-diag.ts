/**
 * Whose socket of this machine stands at the other end of a TCP connection, asked of the kernel by its addresses. It
 * hides netlink (through koffi, which is optional) and promises an answer in some hundredths of a millisecond, or none:
 * the table in /proc, which tells the same, takes as long as the machine is large.
 *
 * @see sock_diag(7), netlink(7)
 */
import { endianness } from "node:os";
import { loadKoffi } from "./koffi.ts";

/** Four bytes of an IPv4 address, and the port. */
export interface Endpoint {
  readonly address: readonly number[];
  readonly port: number;
}

export interface FoundSocket {
  readonly uid: number;
  readonly isEstablished: boolean;
}

/** The socket whose own address is `from` and that is connected to `to`; null when the kernel names none. */
export type FindSocket = (from: Endpoint, to: Endpoint) => FoundSocket | null;

const AF_INET = 2;
const AF_INET6 = 10;
const AF_NETLINK = 16;
const SOCK_RAW_CLOEXEC = 3 | 0o2000000;
const NETLINK_SOCK_DIAG = 4;
const MSG_DONTWAIT = 0x40;
const SOCK_DIAG_BY_FAMILY = 20;
const NLM_F_REQUEST = 1;
const IPPROTO_TCP = 6;
const ESTABLISHED = 1;

/** `struct nlmsghdr`, then `struct inet_diag_req_v2`, and in the answer `struct inet_diag_msg`. */
const HEADER_BYTES = 16;
const REQUEST_BYTES = HEADER_BYTES + 56;
const ANSWER_BYTES = HEADER_BYTES + 72;
/** Of `struct inet_diag_sockid`, which follows four bytes in the answer and eight in the request. */
const ID = { answer: HEADER_BYTES + 4, request: HEADER_BYTES + 8 } as const;
const ADDRESSES_BYTES = 36;
const UID_AT = HEADER_BYTES + 64;

/** Null where koffi is absent, on other systems, and where the order of the bytes in a number was not tried. */
export function loadFindSocket(): FindSocket | null {
  if (process.platform !== "linux" || endianness() !== "LE") return null;
  try {
    const library = loadKoffi().load(null);
    const socket = library.func("int socket(int domain, int type, int protocol)");
    const send = library.func("long send(int fd, void *bytes, size_t size, int flags)");
    const receive = library.func("long recv(int fd, _Out_ uint8_t *bytes, size_t size, int flags)");
    const close = library.func("int close(int fd)");
    return (from, to) => {
      const fd = Number(socket(AF_NETLINK, SOCK_RAW_CLOEXEC, NETLINK_SOCK_DIAG));
      // A service that was installed long ago may not.
      if (fd < 0) return null;
      try {
        const request = writeRequest(from, to);
        if (Number(send(fd, request, request.byteLength, 0)) !== request.byteLength) return null;
        const answer = Buffer.alloc(512);
        // The kernel has answered before `send` returns.
        const size = Number(receive(fd, answer, answer.byteLength, MSG_DONTWAIT));
        return size < ANSWER_BYTES ? null : readAnswer(answer, request);
      } finally {
        close(fd);
      }
    };
  } catch {
    // koffi or the C library is not there: the table tells it.
    return null;
  }
}

function writeRequest(from: Endpoint, to: Endpoint): Buffer {
  const request = Buffer.alloc(REQUEST_BYTES);
  request.writeUInt32LE(REQUEST_BYTES, 0);
  request.writeUInt16LE(SOCK_DIAG_BY_FAMILY, 4);
  request.writeUInt16LE(NLM_F_REQUEST, 6);
  request.writeUInt8(AF_INET, HEADER_BYTES);
  request.writeUInt8(IPPROTO_TCP, HEADER_BYTES + 1);
  // Of any state.
  request.writeUInt32LE(0xffffffff, HEADER_BYTES + 4);
  request.writeUInt16BE(from.port, ID.request);
  request.writeUInt16BE(to.port, ID.request + 2);
  request.set(from.address, ID.request + 4);
  request.set(to.address, ID.request + 20);
  // No cookie: whichever socket has these addresses.
  request.fill(0xff, ID.request + ADDRESSES_BYTES + 4, REQUEST_BYTES);
  return request;
}

/** Where no connection has these addresses, the kernel names whoever listens at the first: that is nobody's end. */
function readAnswer(answer: Buffer, request: Buffer): FoundSocket | null {
  if (answer.readUInt16LE(4) !== SOCK_DIAG_BY_FAMILY) return null;
  const asked = request.subarray(ID.request, ID.request + ADDRESSES_BYTES);
  // A socket of IPv6 may speak IPv4, and has its addresses in the form of its own.
  const named = answer.readUInt8(HEADER_BYTES) === AF_INET6 ? mapped(asked) : asked;
  if (!answer.subarray(ID.answer, ID.answer + ADDRESSES_BYTES).equals(named)) return null;
  return {
    uid: answer.readUInt32LE(UID_AT),
    isEstablished: answer.readUInt8(HEADER_BYTES + 1) === ESTABLISHED,
  };
}

/** The ports and both addresses, each of these as `::ffff:` and its four bytes. */
function mapped(addresses: Buffer): Buffer {
  const inSix = Buffer.from(addresses);
  for (const at of [4, 20]) {
    inSix.fill(0, at, at + 10).fill(0xff, at + 10, at + 12);
    addresses.copy(inSix, at + 12, at, at + 4);
  }
  return inSix;
}
