import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { listKeys } from "../src/config-schema.ts";
import { parseConfig, readConfig } from "../src/config.ts";
import { ActivityError } from "../src/errors.ts";
import { createTempHome } from "./helpers/temp-home.ts";

describe("settings", () => {
  it("are all defaults when the file is empty", () => {
    const config = parseConfig("", "config.toml");
    expect(config.capture.window).toBe(true);
    expect(config.capture.notification).toBe(false);
    expect(config.capture.idle_after_seconds).toBe(180);
  });

  it("in the file win over the defaults, and variables win over the file", () => {
    const text = "[capture]\nidle_after_seconds = 60\nmedia = false\n";
    expect(parseConfig(text, "config.toml").capture).toMatchObject({
      idle_after_seconds: 60,
      media: false,
    });
    const env = {
      ACTIVITYD_CAPTURE_IDLE_AFTER_SECONDS: "90",
      ACTIVITYD_CAPTURE_ASSISTANT_APPS: '["koi"]',
    };
    expect(parseConfig(text, "config.toml", env).capture).toMatchObject({
      idle_after_seconds: 90,
      media: false,
      assistant_apps: ["koi"],
    });
  });
});

describe("a wrong configuration", () => {
  it("is told whole, each problem with its line and key", () => {
    const text =
      '[capture]\nwindow = "yes"\n\nidle_after_seconds = 1\ncolour = "red"\n\n[captur]\nx = 1\n';
    const error = failureOf(text);
    expect(error.code).toBe("config_invalid");
    expect(error.message).toContain("4 problems");
    expect(error.message).toContain("config.toml:2: capture.window:");
    expect(error.message).toContain("config.toml:4: capture.idle_after_seconds:");
    expect(error.message).toContain("config.toml:5: capture.colour: there is no such key");
    expect(error.message).toContain("config.toml:7: captur: there is no such key");
  });

  it("is named by its variable when a variable is wrong", () => {
    const error = failureOf("", { ACTIVITYD_CAPTURE_WINDOW: "perhaps" });
    expect(error.message).toContain("ACTIVITYD_CAPTURE_WINDOW: capture.window:");
    expect(error.hint).toBe("Mend ACTIVITYD_CAPTURE_WINDOW and start again.");
  });

  it("that is no TOML is told with line and column", () => {
    expect(failureOf("[capture]\nwindow = = 1\n").message).toMatch(/^config\.toml:2:\d+: /);
  });

  it("that is a pipe is told at once, and not waited for", () => {
    const file = join(createTempHome(), "config.toml");
    execFileSync("mkfifo", [file]);
    expect(() => readConfig(file, {})).toThrow(
      `Cannot read the configuration ${file}: it is a pipe.`,
    );
  });

  it("lists the keys there are where one is meant that is none", () => {
    expect(failureOf("x = 1").hint).toContain(listKeys().join(", "));
    expect(failureOf("[capture]\nwindow = 1").hint).toBe("Mend config.toml and start again.");
  });
});

function failureOf(text: string, env: Record<string, string> = {}): ActivityError {
  try {
    parseConfig(text, "config.toml", env);
  } catch (thrown) {
    if (thrown instanceof ActivityError) return thrown;
    throw thrown;
  }
  throw new Error("the configuration was accepted");
}
