/** The X server in JavaScript of npm `x11` on a free port: enough of a display for tests without a desktop. */
import net from "node:net";
import x11 from "x11";

export interface JsXServer {
  readonly port: number;
  /** Such as "127.0.0.1:34567". */
  readonly display: string;
  /** Breaks all connections and stops listening. */
  readonly close: () => Promise<void>;
}

export async function startJsXServer(port = 0): Promise<JsXServer> {
  const server = x11.createServer({ width: 640, height: 480 });
  const sockets = new Set<net.Socket>();
  const listener = net.createServer((socket) => {
    socket.setNoDelay(true);
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => socket.destroy());
    server.addClientStream(socket);
  });
  await new Promise<void>((resolve, reject) => {
    listener.once("error", reject);
    listener.listen(port, "127.0.0.1", resolve);
  });
  const address = listener.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return {
    port: address.port,
    display: `127.0.0.1:${address.port - 6000}`,
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        listener.close(() => resolve());
      }),
  };
}
