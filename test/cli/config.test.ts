import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { parse } from "smol-toml";
import { describe, expect, test } from "vitest";
import { renderConfigTemplate } from "../../src/config-pages.ts";
import { describeKeys, listKeys } from "../../src/config-schema.ts";
import { parseConfig } from "../../src/config.ts";
import { runCli } from "../helpers/run-cli.ts";
import { createTempHome } from "../helpers/temp-home.ts";

/** A program that stands in for an editor: it runs `script` on the file. */
function editorThat(script: string): string {
  const path = join(createTempHome(), "editor");
  writeFileSync(path, `#!/bin/sh\n${script}\n`, { mode: 0o700 });
  return path;
}

describe("activityd config init", () => {
  test("writes a file for its owner alone that means the same as no file", async () => {
    const home = createTempHome();
    const { exitCode } = await runCli(["config", "init"], { home });
    expect(exitCode).toBe(0);
    const file = join(home, "config.toml");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const text = readFileSync(file, "utf8");
    expect(parseConfig(text, file)).toEqual(parseConfig("", file));
    expect((await runCli(["config", "init", "--print"])).out).toBe(text);
  });

  test("holds every key there is with its default, once, and a sentence about it", () => {
    const text = renderConfigTemplate();
    const uncommented = text.replaceAll(/^# (?=[a-z_]+ = )/gm, "").split("# [[privacy.rules]]");
    const tables = parse([uncommented[0], uncommented[1]?.replace(/^(.*\n){3,4}/, "")].join("\n"));
    // A list of tables has no value to stand behind a "#"; its example is left out above.
    const { rules: _, ...privacy } = parseConfig("", "config.toml").privacy;
    expect(tables).toEqual({ ...parseConfig("", "config.toml"), privacy });
    expect(describeKeys().map(({ table, key }) => `${table}.${key}`)).toEqual(listKeys());
    for (const { description } of describeKeys()) expect(description).toMatch(/^[A-Z].{15,}\.$/);
    for (const line of text.split("\n")) expect(line.length).toBeLessThanOrEqual(160);
  });

  test("leaves a file that is there", async () => {
    const home = createTempHome();
    const { exitCode, talk } = await runCli(["config", "init"], { home, config: "# mine\n" });
    expect(exitCode).toBe(2);
    expect(talk).toContain("There is a file already");
    expect(readFileSync(join(home, "config.toml"), "utf8")).toBe("# mine\n");
  });
});

describe("activityd config show", () => {
  const config = `[capture]\nmedia = false\n[activitywatch]\napi_key = "s3cret"\n[[privacy.rules]]\naction = "drop"\napp = "slack"\n`;
  test("prints a file that means what is in force, and says what comes from where", async () => {
    const { out } = await runCli(["config", "show"], { config });
    expect(out).toContain("media = false  # from the file\n");
    expect(out).not.toContain("s3cret");
    const shown = parseConfig(out.replace('"(set)"', '"s3cret"'), "shown.toml");
    expect(shown).toEqual(parseConfig(config, "config.toml"));
  });

  test("as JSON, setting by setting", async () => {
    const { out } = await runCli(["config", "show", "--json"], { config });
    const settings: readonly { path: string }[] = JSON.parse(out);
    expect(settings.map(({ path }) => path)).toEqual(listKeys());
    expect(settings).toContainEqual({
      path: "activitywatch.api_key",
      value: "(set)",
      origin: "file",
    });
    expect(settings).toContainEqual({ path: "capture.window", value: true, origin: "default" });
  });
});

describe("activityd config edit", () => {
  test("takes over what is valid", async () => {
    const home = createTempHome();
    const editor = editorThat(`printf '[capture]\\nmedia = false\\n' > "$1"`);
    const { talk, exitCode } = await runCli(["config", "edit"], { home, env: { EDITOR: editor } });
    expect({ exitCode, talk }).toMatchObject({
      exitCode: 0,
      talk: expect.stringContaining("was changed"),
    });
    expect(readFileSync(join(home, "config.toml"), "utf8")).toBe("[capture]\nmedia = false\n");
    expect(existsSync(join(home, "config.toml.edit.toml"))).toBe(false);
  });

  test("keeps what is not, names the line, and goes on with it the next time", async () => {
    const home = createTempHome();
    const wrong = editorThat(`printf '[capture]\\nmedia = 7\\n' > "$1"`);
    const first = await runCli(["config", "edit"], { home, config: "", env: { EDITOR: wrong } });
    expect(first.exitCode).toBe(2);
    expect(first.talk).toContain("config.toml.edit.toml:2: capture.media");
    expect(readFileSync(join(home, "config.toml"), "utf8")).toBe("");
    const mend = editorThat(
      `grep -q 'media = 7' "$1" && printf '[capture]\\nmedia = true\\n' > "$1"`,
    );
    expect((await runCli(["config", "edit"], { home, env: { EDITOR: mend } })).exitCode).toBe(0);
    expect(readFileSync(join(home, "config.toml"), "utf8")).toBe("[capture]\nmedia = true\n");
  });

  test("begins with the commented file where there is none, and leaves all as it was when the editor fails", async () => {
    const home = createTempHome();
    const copy = join(createTempHome(), "copy");
    const editor = editorThat(`cp "$1" ${copy}; exit 3`);
    const { exitCode, talk } = await runCli(["config", "edit"], { home, env: { VISUAL: editor } });
    expect(exitCode).toBe(2);
    expect(talk).toContain("ended with 3");
    expect(readFileSync(copy, "utf8")).toBe(renderConfigTemplate());
    expect(existsSync(join(home, "config.toml"))).toBe(false);
    expect(existsSync(join(home, "config.toml.edit.toml"))).toBe(false);
  });

  test("leaves a link to a file elsewhere a link", async () => {
    const home = createTempHome();
    const kept = join(createTempHome(), "dotfile.toml");
    writeFileSync(kept, "");
    symlinkSync(kept, join(home, "config.toml"));
    const editor = editorThat(`printf '[capture]\\nmedia = false\\n' > "$1"`);
    const { exitCode } = await runCli(["config", "edit"], { home, env: { EDITOR: editor } });
    expect(exitCode).toBe(0);
    expect(lstatSync(join(home, "config.toml")).isSymbolicLink()).toBe(true);
    expect(readFileSync(kept, "utf8")).toBe("[capture]\nmedia = false\n");
  });

  test("changes nothing where the editor took the file away", async () => {
    const home = createTempHome();
    const config = "[capture]\nmedia = false\n";
    const env = { EDITOR: editorThat(`rm "$1"`) };
    const { exitCode, talk } = await runCli(["config", "edit"], { home, config, env });
    expect({ exitCode, talk }).toMatchObject({
      exitCode: 2,
      talk: expect.stringContaining("left no file"),
    });
    expect(readFileSync(join(home, "config.toml"), "utf8")).toBe(config);
  });

  test("starts no editor that wants a terminal where there is none, and reads no folder", async () => {
    const home = createTempHome();
    const { exitCode, talk } = await runCli(["config", "edit"], { home });
    expect({ exitCode, talk }).toMatchObject({
      exitCode: 2,
      talk: expect.stringContaining("There is no terminal for an editor here"),
    });
    mkdirSync(join(home, "config.toml"));
    const folder = await runCli(["config", "edit"], { home, env: { EDITOR: "true" } });
    expect(folder.talk).toContain("Cannot read the configuration");
    expect(folder.exitCode).toBe(2);
  });
});

describe("activityd config check", () => {
  test("says what holds", async () => {
    expect((await runCli(["config", "check"])).out).toMatch(/the defaults hold; nothing differs/);
    const { out } = await runCli(["config", "check"], { config: "[store]\nkeep_days = 30\n" });
    expect(out).toMatch(/config\.toml is valid; other than by default: store\.keep_days\n$/);
  });

  test("names a variable that sets nothing, such as one with a slip in its name", async () => {
    const env = { ACTIVITYD_CAPTRE_MEDIA: "false", ACTIVITYD_CAPTURE_MEDIA: "false" };
    const { out, talk, exitCode } = await runCli(["config", "check"], { env });
    expect(out).toContain("other than by default: capture.media\n");
    expect(talk).toBe(
      "activityd: no setting belongs to the variable ACTIVITYD_CAPTRE_MEDIA; it changes nothing.\n",
    );
    expect(exitCode).toBe(0);
  });

  test("says what is wrong, with its line", async () => {
    const { exitCode, talk } = await runCli(["config", "check"], {
      config: "[store]\nkeep = 30\n",
    });
    expect(exitCode).toBe(2);
    expect(talk).toContain("config.toml:2: store.keep: there is no such key");
  });

  test("reads a folder in place of a file as what it is", async () => {
    const home = createTempHome();
    mkdirSync(join(home, "config.toml"));
    const { exitCode, talk } = await runCli(["config", "check"], { home });
    expect(talk).toContain("Cannot read the configuration");
    expect(exitCode).toBe(2);
  });
});
