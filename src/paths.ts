/**
 * Where things lie on this machine. It hides the platform's conventions and promises one answer for the
 * daemon and for every client, without reading a file.
 */
import { basename, join, resolve } from "node:path";
import envPaths from "env-paths";

/** Every place the program reads or writes. */
export interface Paths {
  /** The TOML file with the owner's settings; it need not exist. */
  readonly configFile: string;
  /** The database and its companions. */
  readonly dataDirectory: string;
  /** What the gateway put before which turn: blocks, and no word of the owner. */
  readonly gatewayTurnsFile: string;
  /** The conversations of `activityd chat`: the owner's words and the replies. */
  readonly chatFolder: string;
  /** What the model was given in them: turns with their blocks. */
  readonly chatModelFolder: string;
  /** What can be made again: the daemon's compiled code, and nothing that was recorded. */
  readonly cacheDirectory: string;
  /** Rotating logs, when the daemon does not log to stderr. */
  readonly logDirectory: string;
  /** The socket and what lives as long as the login; mode 0700. */
  readonly runtimeDirectory: string;
  readonly socketPath: string;
}

/**
 * The places for an environment. `ACTIVITYD_HOME` moves all of them under one folder (for trials and tests);
 * `ACTIVITYD_SOCKET` names the socket alone. Otherwise the XDG base directories decide, and the runtime folder
 * is the one of the service manager's `$RUNTIME_DIRECTORY` that is called `activityd`, else `$XDG_RUNTIME_DIR/activityd`, else `run` beside the logs.
 *
 * @see https://specifications.freedesktop.org/basedir-spec/latest/
 */
export function resolvePaths(env: Readonly<Record<string, string | undefined>>): Paths {
  const home = env["ACTIVITYD_HOME"];
  // Whole, as the daemon and who asks it may stand in different folders, and tell each other where things lie.
  const places =
    home === undefined || home === "" ? standardPlaces(env) : placesUnder(resolve(home));
  const socketPath = env["ACTIVITYD_SOCKET"] || join(places.runtimeDirectory, "activityd.sock");
  return { ...places, socketPath: resolve(socketPath) };
}

/** Where settings wait that `activityd config edit` could not take over yet. */
export function draftOf(configFile: string): string {
  return `${configFile}.edit.toml`;
}

const CHAT_MODEL = ["chat", "model"] as const;
const GATEWAY_TURNS = ["gateway", "turns.jsonl"] as const;

function placesUnder(home: string): Omit<Paths, "socketPath"> {
  return {
    configFile: join(home, "config.toml"),
    dataDirectory: join(home, "data"),
    gatewayTurnsFile: join(home, "data", ...GATEWAY_TURNS),
    chatFolder: join(home, "data", "chat"),
    chatModelFolder: join(home, "data", ...CHAT_MODEL),
    cacheDirectory: join(home, "cache"),
    logDirectory: join(home, "log"),
    runtimeDirectory: join(home, "run"),
  };
}

function standardPlaces(
  env: Readonly<Record<string, string | undefined>>,
): Omit<Paths, "socketPath"> {
  const standard = envPaths("activityd", { suffix: "" });
  // systemd gives each service its own, as a list separated by colons. A client may be one of another name, such as an
  // assistant, and its folder is none of ours.
  const given = env["RUNTIME_DIRECTORY"]?.split(":").find((path) => basename(path) === "activityd");
  const login = env["XDG_RUNTIME_DIR"];
  let runtimeDirectory = join(standard.log, "run");
  if (given !== undefined) runtimeDirectory = given;
  else if (login !== undefined && login !== "") runtimeDirectory = join(login, "activityd");
  return {
    configFile: join(standard.config, "config.toml"),
    dataDirectory: standard.data,
    gatewayTurnsFile: join(standard.data, ...GATEWAY_TURNS),
    chatFolder: join(standard.data, "chat"),
    chatModelFolder: join(standard.data, ...CHAT_MODEL),
    cacheDirectory: standard.cache,
    logDirectory: standard.log,
    runtimeDirectory,
  };
}
