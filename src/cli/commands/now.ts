/** `activityd now`: the real-time block, in the very bytes that an assistant would be given. */
import { connectActivity } from "../../local-api/client.ts";
import type { CliIo, ExitCode } from "../io.ts";

export async function runNow(
  io: CliIo,
  options: { readonly json?: boolean } = {},
): Promise<ExitCode> {
  const api = connectActivity({ socketPath: io.paths().socketPath });
  try {
    const answer = await api.context({ form: "exact", client: "activityd now" });
    if (options.json === true) io.out(`${JSON.stringify(answer)}\n`);
    else if (answer.block !== null) io.out(answer.block);
    return 0;
  } finally {
    await api.close();
  }
}
