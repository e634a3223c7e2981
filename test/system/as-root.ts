/** Before the tests that need root: says so in one sentence where they would all fail. */
export function setup(): void {
  if (process.getuid?.() === 0) return;
  throw new Error(
    "these tests ask as other users, fill disks and part networks, which needs root: sudo npm run test:root",
  );
}
