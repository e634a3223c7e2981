/**
 * A port for a server that is started, ended and started again. It lies below those that the kernel gives to outgoing
 * connections (ip_local_port_range of ip(7): 32768 and up on Linux), so that none of these takes it meanwhile.
 */
import { randomInt } from "node:crypto";
import { createServer } from "node:net";

export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 32_768);
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}
