// @ts-check
/**
 * How long after a change of the focus the block shows it, on X11 and sway: from the request to the window
 * manager until the watch stream of the daemon gives the new block. Beside it, in the same runs, how long the
 * window manager itself takes until it announces the change.
 *
 * Usage: scripts/bench/focus-latency [changes]
 */
import {
  createCleanup,
  openSwayDesktop,
  openXDesktop,
  quantile,
  sleep,
  startDaemon,
} from "./desktop.mjs";

const CHANGES = Number(process.argv[2] ?? 200);
const GOAL_P50_MS = 5;
const GOAL_P99_MS = 100;

let isMet = true;
for (const [name, openDesktop] of /** @type {const} */ ([
  ["x11 (openbox)", openXDesktop],
  ["sway", openSwayDesktop],
])) {
  const cleanup = createCleanup();
  try {
    isMet = (await measure(name, await openDesktop(cleanup), cleanup)) && isMet;
  } finally {
    cleanup.run();
  }
}
process.exit(isMet ? 0 : 1);

/**
 * @param {string} name
 * @param {import("./desktop.mjs").Desktop} desktop
 * @param {import("./desktop.mjs").Cleanup} cleanup
 */
async function measure(name, desktop, cleanup) {
  const windows = [await desktop.open("window zero"), await desktop.open("window one")];
  const titles = ["window zero", "window one"];
  const { api } = await startDaemon(cleanup, desktop.env);
  /** Called with the time when the wanted window is announced and when it is shown. */
  let onAnnounced = (/** @type {number} */ _at) => {};
  let onShown = (/** @type {number} */ _at) => {};
  let wanted = 0;
  desktop.onFocus((window) => {
    if (window === windows[wanted]) onAnnounced(performance.now());
  });
  const stop = new AbortController();
  cleanup.add(() => stop.abort());
  void (async () => {
    for await (const { answer } of api.watch({ signal: stop.signal })) {
      const focused = answer.block?.split("\n").find((line) => line.startsWith("- Focused"));
      if (focused?.includes(titles[wanted] ?? "")) onShown(performance.now());
    }
  })();

  /** @param {number} index */
  const change = async (index) => {
    wanted = index;
    const announced = new Promise((resolve) => (onAnnounced = resolve));
    const shown = new Promise((resolve) => (onShown = resolve));
    const start = performance.now();
    desktop.focus(windows[index] ?? 0);
    const late = sleep(5_000).then(() => {
      throw new Error(`${name}: a change was never shown`);
    });
    const [announcedAt, shownAt] = await Promise.race([Promise.all([announced, shown]), late]);
    late.catch(() => {});
    return { total: shownAt - start, manager: announcedAt - start, added: shownAt - announcedAt };
  };

  // Whichever had the focus, the first change counted below is one.
  desktop.focus(windows[1] ?? 0);
  await sleep(1_000);
  const times = [];
  for (let count = 0; count < CHANGES; count += 1) {
    times.push(await change(count % 2));
    await sleep(20 + (count % 7) * 5);
  }
  const [total, manager, added] = [
    times.map((each) => each.total),
    times.map((each) => each.manager),
    times.map((each) => each.added),
  ];
  const line = (/** @type {readonly number[]} */ values) =>
    ["p50", 0.5, "p95", 0.95, "p99", 0.99]
      .map((part) => (typeof part === "number" ? `${quantile(values, part).toFixed(2)} ms,` : part))
      .join(" ")
      .replace(/,$/, "");
  console.log(
    `${name}: focus change to visible in the block: ${line(total)} (${total.length} changes)`,
  );
  console.log(`  of it the window manager until it announces the change: ${line(manager)}`);
  console.log(`  of it the daemon from then on: ${line(added)}`);
  console.log(`  goals: p50 ${GOAL_P50_MS} ms, p99 ${GOAL_P99_MS} ms`);
  return quantile(total, 0.5) <= GOAL_P50_MS && quantile(total, 0.99) <= GOAL_P99_MS;
}
