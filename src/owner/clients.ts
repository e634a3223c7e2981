/**
 * Which clients the owner refuses. It promises that a refused client gets nothing from that moment on, also after a
 * restart, and that a client is known by its name, whatever version of itself it says.
 *
 * A name is what a client says of itself: this is the owner's switch, not a wall against programs that lie.
 */
import type { ClientRequest, ClientsAnswer, ClientUse } from "../api.ts";
import type { Clock } from "../clock.ts";
import { ActivityError, shellWord } from "../errors.ts";
import type { StoreDatabase } from "../store/database.ts";
import type { LedgerClient } from "../store/ledger.ts";
import { readMeta, REFUSED_CLIENT as META } from "../store/meta.ts";

export interface ClientAccessList {
  /** @throws ActivityError `client_revoked`; a client that says no name is not refused */
  readonly admit: (client: string | undefined) => void;
  readonly list: () => ClientsAnswer;
  /** @throws ActivityError `bad_request` for an empty name, `database_unwritable` */
  readonly set: (request: ClientRequest) => ClientsAnswer;
  /** The record is there again after it was recovered: whoever was refused is so in it, too. */
  readonly recovered: () => void;
}

export interface ClientAccessOptions {
  readonly database: StoreDatabase;
  /** See `EventStore.readIfThere`. */
  readonly readIfThere: <T>(read: () => T) => T | null;
  /** Refused clients as the store keeps them, from what is left of a record that is being recovered. */
  readonly peek: (prefix: string) => ReturnType<typeof readMeta>;
  /** Who was given something. */
  readonly used: () => readonly LedgerClient[];
  /** A name as it may be stored. */
  readonly clean: (name: string) => string;
  readonly clock: Clock;
}

export function createClientAccess(options: ClientAccessOptions): ClientAccessList {
  const { database, readIfThere, peek, used, clean, clock } = options;
  const writeMeta = database.prepare(
    "INSERT INTO meta(name, value) VALUES(?, ?) ON CONFLICT DO UPDATE SET value = excluded.value",
  );
  const dropMeta = database.prepare("DELETE FROM meta WHERE name = ?");
  const revoked = new Map<string, number>();
  const load = (read: (prefix: string) => ReturnType<typeof readMeta>): void => {
    for (const [name, value] of read(META)) revoked.set(name.slice(META.length), Number(value));
  };
  const stored = (prefix: string): ReturnType<typeof readMeta> => readMeta(database, prefix);
  load((prefix) => readIfThere(() => stored(prefix)) ?? peek(prefix));
  const nameOf = (client: string): string => clientName(clean(client));

  const list = (): ClientsAnswer => {
    const uses = new Map<string, ClientUse>();
    for (const use of used()) {
      const client = clientName(use.client);
      const known = uses.get(client);
      const revokedUs = revoked.get(client) ?? null;
      uses.set(client, {
        client,
        access: revokedUs === null ? "allowed" : "revoked",
        firstUs: Math.min(known?.firstUs ?? use.firstUs, use.firstUs),
        lastUs: Math.max(known?.lastUs ?? use.lastUs, use.lastUs),
        times: (known?.times ?? 0) + use.times,
        revokedUs,
      });
    }
    const silent = [...revoked]
      .filter(([client]) => !uses.has(client))
      .map(([client, revokedUs]) => ({
        client,
        access: "revoked" as const,
        firstUs: null,
        lastUs: null,
        times: 0,
        revokedUs,
      }));
    const byUse = [...uses.values()].sort((a, b) => (b.lastUs ?? 0) - (a.lastUs ?? 0));
    return { clients: [...byUse, ...silent] };
  };

  return {
    admit: (client) => {
      if (client === undefined || revoked.size === 0) return;
      const name = nameOf(client);
      if (!revoked.has(name)) return;
      throw new ActivityError(
        "client_revoked",
        `The owner refuses ${JSON.stringify(name)}.`,
        `Allow it again with: activityd clients allow ${shellWord(name)}`,
      );
    },
    list,
    set: ({ client, access }) => {
      const name = nameOf(client);
      if (name === "") {
        throw new ActivityError(
          "bad_request",
          "The name of the client is empty.",
          "Names stand in: activityd clients",
        );
      }
      // Committed before it counts: what was promised to outlive a restart does.
      if (access === "allowed") {
        database.transaction(() => dropMeta.run(META + name));
        revoked.delete(name);
      } else if (!revoked.has(name)) {
        const nowUs = clock.nowUs();
        database.transaction(() => writeMeta.run(META + name, String(nowUs)));
        revoked.set(name, nowUs);
      }
      return list();
    },
    recovered: () => {
      database.transaction(() => {
        for (const [client, sinceUs] of revoked) writeMeta.run(META + client, String(sinceUs));
      });
      load(stored);
    },
  };
}

/** "curl" for "curl/8.5.0 (x86_64)", and whole for what is no product and version (RFC 9110 §10.1.5). */
function clientName(client: string): string {
  return (/^([^/\s]+)\/v?\d\S*/.exec(client)?.[1] ?? client).trim();
}
