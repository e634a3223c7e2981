/** Requests over a Unix socket exactly as a test words them, for what no client of ours would send. */
import { request, type IncomingHttpHeaders } from "node:http";
import { connect } from "node:net";

export interface RawAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export function sendRaw(
  socketPath: string,
  options: {
    readonly method?: string;
    readonly path: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: string | Buffer;
  },
): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const sent = request({
      socketPath,
      agent: false,
      method: options.method ?? "GET",
      path: options.path,
      headers: { host: "localhost", ...options.headers },
    });
    sent.once("error", reject);
    sent.once("response", (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.once("error", reject);
      response.once("end", () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: Buffer.concat(chunks).toString("utf8"),
        }),
      );
    });
    sent.end(options.body);
  });
}

/** Sends bytes that need not be HTTP and gives everything that comes back until the other end closes. */
export function sendBytes(socketPath: string, bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(socketPath, () => socket.write(bytes));
    let received = "";
    socket.setEncoding("utf8");
    socket.on("data", (chunk) => (received += chunk));
    socket.once("error", reject);
    socket.once("close", () => resolve(received));
  });
}
