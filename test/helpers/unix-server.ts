/** A server on a Unix socket in a folder of its own, for backends that speak to one. */
import { mkdtempSync, rmSync } from "node:fs";
import net from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";

export interface UnixServer {
  readonly folder: string;
  readonly socketPath: string;
  /** Breaks the connections and takes the socket away; the folder stays. */
  readonly stop: () => Promise<void>;
  readonly close: () => Promise<void>;
}

export async function startUnixServer(
  relativePath: string,
  onConnection: (socket: net.Socket) => void,
  folder = mkdtempSync(path.join(tmpdir(), "activityd-socket-")),
): Promise<UnixServer> {
  const socketPath = path.join(folder, relativePath);
  const sockets = new Set<net.Socket>();
  const server = net.createServer((socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => socket.destroy());
    onConnection(socket);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(socketPath, resolve);
  });
  const stop = (): Promise<void> =>
    new Promise((resolve) => {
      for (const socket of sockets) socket.destroy();
      server.close(() => resolve());
    });
  return {
    folder,
    socketPath,
    stop,
    close: async () => {
      await stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
