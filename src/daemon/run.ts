/**
 * Runs the daemon in this process: the only place where all parts are put together. It promises that a second
 * daemon on the same data never starts, that nothing it creates is readable by others, and that a signal ends
 * it with everything written.
 */
import { once } from "node:events";
import { setTimeout } from "node:timers/promises";
import { createActivityApp } from "../app.ts";
import { systemClock } from "../clock.ts";
import { readConfig } from "../config.ts";
import { serveActivityApi } from "../local-api/server.ts";
import { ACTIVITYWATCH_SOCKET, inheritedSocketFd } from "../local-api/socket.ts";
import { makeFolder } from "../make-folder.ts";
import type { Paths } from "../paths.ts";
import { reasonForLog } from "../log.ts";
import { holdInstanceLock } from "../store/lock.ts";
import { clearRemains } from "../store/recovery/remains.ts";
import { VERSION } from "../version.ts";
import { keepPlaces } from "./keep-places.ts";
import { openFileLog, openStderrLog } from "./logging.ts";
import { createPageService } from "./page.ts";
import { findServiceManager, type ServiceManager } from "./notify.ts";
import { watchSettings } from "./settings-watch.ts";

/** What polls for the socket every few milliseconds finds it within these. */
const FIRST_ASKERS_MS = 10;

export interface RunOptions {
  /** Called once, when clients can connect, with a sentence that says where. */
  readonly onReady: (line: string) => void;
  /** Whether log lines go to stderr instead of the log folder. */
  readonly logToStderr: boolean;
}

/** Resolves when the daemon was told to end and has ended. Throws what keeps it from starting. */
export async function runDaemon(
  paths: Paths,
  env: Readonly<Record<string, string | undefined>>,
  options: RunOptions,
): Promise<void> {
  process.umask(0o077);
  const config = readConfig(paths.configFile, env);
  makeFolder(paths.dataDirectory);
  const releases: (() => Promise<void> | void)[] = [];
  try {
    const sink = options.logToStderr ? openStderrLog() : openFileLog(paths.logDirectory);
    releases.push(sink.close);
    const lock = holdInstanceLock(paths.dataDirectory, process.pid);
    releases.push(lock.release);
    clearRemains(paths.dataDirectory, systemClock.nowUs() / 1000);
    const app = createActivityApp({ config, paths, env, clock: systemClock, log: sink.log });
    releases.push(app.close);
    // The signals are heard before anything can be in flight, or an early one would cut it off.
    const told = hearSignals();
    const manager = findServiceManager(env, sink.log);
    const fd = inheritedSocketFd(env, process.pid);
    const page = createPageService({ app, config, paths, env, clock: systemClock, log: sink.log });
    releases.push(page.close);
    const server = await serveActivityApi({
      api: { ...app, openPage: page.openPage },
      prepared: app.prepared,
      at: { socketPath: paths.socketPath, fd },
      log: sink.log,
      version: VERSION,
    });
    releases.push(server.close);
    // Whoever waits for the socket is answered before the rest takes the processor. Who is told to end begins no more.
    await setTimeout(FIRST_ASKERS_MS, undefined, { signal: told }).catch(() => {});
    if (!told.aborted) await begin();
    if (!told.aborted) await once(told, "abort");
    manager.stopping();
    sink.log.info("stopping");

    async function begin(): Promise<void> {
      await page.resume();
      if (config.activitywatch.enabled) {
        const { openActivityWatch } = await import("./activitywatch.ts");
        const guests = await openActivityWatch({
          app,
          config: config.activitywatch,
          clock: systemClock,
          log: sink.log,
          fd: inheritedSocketFd(env, process.pid, ACTIVITYWATCH_SOCKET),
        });
        releases.push(guests.close);
      }
      const rereadRules = () =>
        app
          .reloadRules(() => readConfig(paths.configFile, env).privacy)
          .catch((thrown: unknown) => {
            sink.log.error("the privacy rules were not read anew", {
              reason: reasonForLog(thrown),
            });
          });
      const settings = watchSettings(paths.configFile, () => void rereadRules(), sink.log);
      releases.push(settings.close);
      const places = [
        { name: "the socket", keep: server.keep },
        { name: "the lock of the data folder", keep: lock.keep },
        { name: "the folder of the settings", keep: settings.keep },
      ];
      releases.push(keepPlaces(places, sink.log));
      if (config.hub.driver !== "none") {
        const { keepHubService } = await import("./hub.ts");
        const hub = await keepHubService({
          app,
          config,
          dataDirectory: paths.dataDirectory,
          clock: systemClock,
          log: sink.log,
        });
        releases.push(hub.close);
      }
      await app.start(told);
      if (told.aborted) return;
      manager.ready();
      releases.push(keepAlive(manager, app.isAlive));
      options.onReady(`activityd ${VERSION} listens on ${paths.socketPath}`);
      sink.log.info("started", { version: VERSION, pid: process.pid, serviceManager: manager.way });
    }
  } finally {
    // The last opened is closed first: no face asks an app that is gone.
    for (const release of releases.reverse()) await release();
  }
}

/** Gives signs of life for as long as there is life: a stuck store or sampler lets the manager restart us. */
function keepAlive(manager: ServiceManager, isAlive: () => boolean): () => void {
  if (manager.watchdogMs === null) return () => {};
  const timer = setInterval(() => {
    if (isAlive()) manager.alive();
  }, manager.watchdogMs);
  return () => clearInterval(timer);
}

/** Aborts when the process is told to end. */
function hearSignals(): AbortSignal {
  const told = new AbortController();
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const)
    process.once(signal, () => told.abort());
  return told.signal;
}
