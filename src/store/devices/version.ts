/**
 * The place of a record in the log of its device as one number: the version of what the record says. It promises that a
 * later record of a log has a greater one, also when the log began anew in between.
 */

/** Records of an epoch are numbered from here on. */
const EPOCH = 2 ** 40;

export function toVersion({
  epoch,
  seq,
}: {
  readonly epoch: number;
  readonly seq: number;
}): number {
  return epoch * EPOCH + seq;
}

/** The version right before the first record of the same epoch. */
export function epochStart(version: number): number {
  return version - (version % EPOCH);
}
