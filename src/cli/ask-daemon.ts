/**
 * One command's question to the daemon. It hides the client, which is loaded when a command asks, and promises that no
 * connection outlives the answer, whatever that is.
 */
import type { ActivityApi } from "../api.ts";
import type { CliIo } from "./io.ts";

/** What `question` makes of the daemon's answer. Throws `daemon_unreachable` where none answers. */
export async function askDaemon<T>(
  io: CliIo,
  question: (api: ActivityApi) => Promise<T>,
): Promise<T> {
  const { connectActivity } = await import("../local-api/client.ts");
  const api = connectActivity({ socketPath: io.paths().socketPath });
  try {
    return await question(api);
  } finally {
    await api.close();
  }
}
