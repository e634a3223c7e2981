/** The addresses of a hub's NATS servers. It promises that none with a secret in it is ever taken, shown or written down. */
import { ActivityError } from "../../errors.ts";

/** The addresses for the owner's eyes. Throws `config_invalid` where one cannot be meant. */
export function placeOfServers(servers: readonly string[]): string {
  if (servers.length === 0) {
    throw invalid("[hub] servers is empty", 'Name at least one, such as "tls://hub.example:4222".');
  }
  return servers
    .map((server) => {
      const url = URL.canParse(server) ? new URL(server) : null;
      if (url === null || !["nats:", "tls:"].includes(url.protocol) || url.hostname === "") {
        throw invalid(
          `[hub] servers: "${server}" is no address of a NATS server`,
          'Write it as "tls://hub.example:4222".',
        );
      }
      if (url.username !== "" || url.password !== "") {
        throw invalid(
          `[hub] servers: the address of ${url.host} holds a user`,
          "Put a key in a file and name it under [hub] credentials_file.",
        );
      }
      return `${url.protocol}//${url.host}`;
    })
    .join(", ");
}

function invalid(message: string, hint: string): ActivityError {
  return new ActivityError("config_invalid", `${message}.`, hint);
}
