/** The command line where its output can go nowhere. */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const MAIN = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));

test.each(["--help", "privacy explain", "completion bash"])(
  "%s onto a disk that is full fails with one sentence and no stack",
  (line) => {
    const { status, stderr } = spawnSync(
      "sh",
      ["-c", `"$0" "$1" ${line} > /dev/full`, process.execPath, MAIN],
      {
        encoding: "utf8",
        env: { PATH: process.env["PATH"] ?? "", ACTIVITYD_HOME: "/nonexistent" },
        timeout: 20_000,
      },
    );
    expect(stderr).toBe("activityd: The system refuses «write»: the disk is full (ENOSPC).\n");
    expect(status).toBe(1);
  },
);
