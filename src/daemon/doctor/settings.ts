/** The settings, the privacy gate they make, and the ports they ask for. */
import { existsSync, statSync } from "node:fs";
import { createServer } from "node:net";
import { checkPrivacyGate } from "../../capture/privacy/check.ts";
import { createPrivacyGate } from "../../capture/privacy.ts";
import { readConfig, type Config } from "../../config.ts";
import { shellWord, toErrorEnvelope } from "../../errors.ts";
import type { Paths } from "../../paths.ts";
import { note, problem, sound, type Finding } from "./finding.ts";
import type { Machine } from "./machine.ts";

/** `config` is null where the settings are not valid: then nothing that follows from them can be said. */
export function examineSettings(
  { configFile }: Paths,
  machine: Machine,
): { readonly config: Config | null; readonly findings: readonly Finding[] } {
  let config: Config;
  try {
    config = readConfig(configFile, machine.env);
    checkPrivacyGate(createPrivacyGate(config.privacy), config.privacy, machine.nowUs());
  } catch (thrown) {
    const { message, hint } = toErrorEnvelope(thrown).error;
    return { config: null, findings: [problem("settings-invalid", message, hint)] };
  }
  const count = config.privacy.rules.length;
  const findings: Finding[] = [
    sound(
      "settings",
      existsSync(configFile)
        ? `settings: ${configFile} is valid`
        : `settings: there is no ${configFile}, and the defaults hold`,
    ),
    sound(
      "privacy",
      `privacy: ${count === 0 ? "no rules of yours" : `${count} rules of yours`}; no planted secret came through`,
    ),
  ];
  const mode = statSync(configFile, { throwIfNoEntry: false })?.mode ?? 0;
  if (machine.platform !== "win32" && (mode & 0o077) !== 0) {
    findings.push(
      note(
        "config-open",
        `Others on this machine can read your settings and the rules in them: ${configFile}`,
        `Take that right away with: chmod 600 ${shellWord(configFile)}`,
      ),
    );
  }
  findings.push(...examineDigest(config.digest));
  return { config, findings };
}

/** What the optional parts of the digest cost, and what they send where. */
function examineDigest(digest: Config["digest"]): readonly Finding[] {
  const { semantic, model_url: url, model_timeout_ms: timeoutMs } = digest;
  const findings: Finding[] = [];
  if (semantic) {
    findings.push(
      sound(
        "digest",
        "digest: topics are also found by meaning, in English; 4 MB of memory and some milliseconds",
      ),
    );
  }
  if (url !== "") {
    findings.push(
      note(
        "digest-model",
        `digest: every turn that is no small talk, with up to 40 lines of the record, is sent to ${url}, which has ${timeoutMs} ms to choose among them`,
      ),
    );
  }
  return findings;
}

/**
 * Whether the ports that the settings ask for are free. Only asked while no daemon runs, who holds them;
 * `holdsWatcherPort`: the service manager keeps that one open for it.
 */
export async function examinePorts(
  config: Config,
  holdsWatcherPort: boolean,
): Promise<readonly Finding[]> {
  return [
    ...(holdsWatcherPort ? [] : await examineWatcherPort(config)),
    ...(await examinePagePort(config)),
  ];
}

async function examinePagePort({ page }: Config): Promise<readonly Finding[]> {
  const { port } = page;
  if (port === 0 || (await isFree(port))) return [];
  return [
    note(
      "page-port-taken",
      `Port ${port} is taken, and the local page is to be served there: activityd open takes one that is free, and a tab that stays open does not find the daemon again after a restart.`,
      `See who holds it with: ss -ltnp 'sport = :${port}', and end it; or set another port in [page]: activityd config edit`,
    ),
  ];
}

async function examineWatcherPort(config: Config): Promise<readonly Finding[]> {
  const { enabled, port, testing } = config.activitywatch;
  const wanted = testing && port === 5600 ? 5666 : port;
  if (!enabled || wanted === 0 || (await isFree(wanted))) return [];
  return [
    problem(
      "port-taken",
      `Port ${wanted} is taken, and activityd is to listen there for ActivityWatch's watchers: the daemon will not start.`,
      `See who holds it with: ss -ltnp 'sport = :${wanted}', and end it; or: activityd activitywatch disable`,
    ),
  ];
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen({ host: "127.0.0.1", port, exclusive: true }, () =>
      server.close(() => resolve(true)),
    );
  });
}
