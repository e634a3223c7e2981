/** The settings of nats-server in docs/devices.md are ones that nats-server takes, and let a device do what it does. */
import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it, onTestFinished } from "vitest";
import { openCluster } from "./cluster-rig.ts";

const PAGE = fileURLToPath(new URL("../../../docs/devices.md", import.meta.url));

it("the settings of docs/devices.md are right", async () => {
  const [one = "", devices = "", three = "", ...others] = [
    ...readFileSync(PAGE, "utf8").matchAll(/```conf\n(.*?)```/gs),
  ].map(([, text = ""]) => text);
  expect(others).toEqual([]);
  const cluster = await openCluster({ args: ["--servers", "1"] });
  onTestFinished(cluster.close);
  const at = (name: string) => join(cluster.folder, name);
  const local = (text: string) =>
    text
      .replaceAll(/"\/etc\/nats\/[^"]*-key\.pem"/g, `"${at("server-key.pem")}"`)
      .replaceAll(/"\/etc\/nats\/[^"]*\.pem"/g, `"${at("server.pem")}"`)
      .replace('include "devices.conf"', 'include "docs-devices.conf"');
  writeFileSync(at("docs-devices.conf"), devices);
  for (const settings of [one, three]) {
    writeFileSync(at("docs.conf"), local(settings));
    await promisify(execFile)("nats-server", ["-t", "-c", at("docs.conf")]);
  }
  // What the page permits is what hub-up does, which every other test of a hub stands on.
  const publicKey = /nkey: (U[A-Z2-7]{55})/.exec(devices)?.[1] ?? "";
  const permitted = (text: string, key: string) =>
    [...text.matchAll(/"([^"]+)"/g)].map(([, subject = ""]) => subject.replaceAll(key, "KEY"));
  const mine = readFileSync(at("devices/laptop.pub"), "utf8").trim();
  const written = readFileSync(at("devices.conf"), "utf8")
    .split("{ nkey: ")
    .find((block) => block.startsWith(mine));
  expect(permitted(devices, publicKey).toSorted()).toEqual(
    permitted(written ?? "", mine).toSorted(),
  );
}, 60_000);
