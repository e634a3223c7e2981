import { describe, expect, it } from "vitest";
import type { ActivityEvent } from "../../../../src/capture/events.ts";
import { gapWords, readRemedy, sumGaps } from "../../../../src/web/ui/views/health-words.ts";

/** The commands of a remedy; the words between them are dropped. */
const commandsOf = (remedy: string) =>
  readRemedy(remedy).flatMap(({ kind, text }) => (kind === "command" ? [text] : []));

describe("a remedy", () => {
  it.each([
    [
      "Restart the daemon with: activityd stop && activityd start --detach",
      ["activityd stop && activityd start --detach"],
    ],
    [
      "Apply the rules backwards with: activityd forget --by-rules (--dry-run counts first)",
      ["activityd forget --by-rules"],
    ],
    [
      "Run: activityd gnome install-extension, then log out and in again.",
      ["activityd gnome install-extension"],
    ],
    [
      "Restart the daemon: activityd stop; activityd start --detach",
      ["activityd stop; activityd start --detach"],
    ],
    [
      "Move it away: mv /run/a.sock /run/a.sock.away; then: activityd start",
      ["mv /run/a.sock /run/a.sock.away", "activityd start"],
    ],
    [
      "Make it yours: sudo chown -R 1000 /run/a; or run this as user 0.",
      ["sudo chown -R 1000 /run/a"],
    ],
    [
      "See who holds it with: ss -ltnp 'sport = :5600', and end it; or: activityd activitywatch disable",
      ["ss -ltnp 'sport = :5600'", "activityd activitywatch disable"],
    ],
    [
      "See what KWin says about it: journalctl --user -b | grep -i kwin_scripting",
      ["journalctl --user -b | grep -i kwin_scripting"],
    ],
    ["It needs xprop and xwininfo: apt-get install x11-utils", ["apt-get install x11-utils"]],
    [
      "Give an end in the future: activityd pause 1h, or activityd pause until-resume.",
      ["activityd pause 1h", "activityd pause until-resume"],
    ],
    [
      "Recover it with: activityd stop && activityd doctor --repair",
      ["activityd stop && activityd doctor --repair"],
    ],
    [
      `See why in: sudo dmesg; then: sudo mount -o remount,rw "$(findmnt -n -o TARGET --target '/a b')"`,
      ["sudo dmesg", `sudo mount -o remount,rw "$(findmnt -n -o TARGET --target '/a b')"`],
    ],
    ["When you need it no more: rm -r '/home/a b/damaged'", ["rm -r '/home/a b/damaged'"]],
    [
      "Look at that one with: env -u ACTIVITYD_HOME activityd doctor",
      ["env -u ACTIVITYD_HOME activityd doctor"],
    ],
    [
      "Read it with: activityd service logs; mend the cause, then: systemctl --user reset-failed a && activityd service restart",
      ["activityd service logs", "systemctl --user reset-failed a && activityd service restart"],
    ],
    [
      "Make one with: activityd hub create. Or take part in one: activityd hub join CODE",
      ["activityd hub create", "activityd hub join CODE"],
    ],
    [
      "To take part again: activityd hub leave, then activityd hub join CODE with a new code (activityd hub invite).",
      ["activityd hub leave", "activityd hub join CODE"],
    ],
    ["End it and start it again: kill -9 4; activityd start", ["kill -9 4; activityd start"]],
    [
      "Write it anew: activityd service install (see what changes with --dry-run)",
      ["activityd service install"],
    ],
    ["Set DISPLAY to the display of the session, such as :0.", []],
    ["Nothing to do: it is used again when it returns.", []],
    ["", []],
  ])("%j has the commands that it names", (remedy, commands) => {
    expect(commandsOf(remedy)).toEqual(commands);
    expect(
      readRemedy(remedy)
        .map(({ text }) => text)
        .join(""),
    ).toBe(remedy);
  });
});

describe("gaps", () => {
  const gap = (startUs: number, endUs: number, facts: object): ActivityEvent =>
    // The union takes no spread of an unknown kind; the fields are those of a gap.
    ({
      id: startUs,
      startUs,
      endUs,
      utcOffsetMinutes: 0,
      timeZone: "UTC",
      ...facts,
    }) as ActivityEvent;

  it("are summed by their kind within the time that is looked at, the longest first", () => {
    const events = [
      gap(0, 150, { kind: "gap", reason: "paused" }),
      gap(200, 210, { kind: "gap", reason: "filtered" }),
      gap(300, 320, { kind: "gap", reason: "filtered" }),
      gap(400, 500, { kind: "sleep" }),
      gap(150, 400, { kind: "idle", state: "away" }),
    ];
    expect(sumGaps(events, 100, 450)).toEqual([
      { name: "paused", count: 1, durationUs: 50, lastUs: 150 },
      { name: "sleep", count: 1, durationUs: 50, lastUs: 500 },
      { name: "filtered", count: 2, durationUs: 30, lastUs: 320 },
    ]);
  });

  it("are told in words", () => {
    expect(gapWords("source-lost")).toBe("no source could see windows");
  });
});
