/** How many of something, in words. It promises that one of it is told as one. */

/** `counted(1, "event")` is `1 event`, `counted(2, "entry", "entries")` is `2 entries`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
