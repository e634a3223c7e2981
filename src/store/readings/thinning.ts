/**
 * Makes of many stretches of time as many as can be drawn. It promises at most one for each piece of the resolution,
 * that no time is added or lost, and that what lasts longer than the resolution keeps its edges to within it.
 */

/** Something that went on, in `[startUs, endUs)`. */
export interface Stretch {
  readonly startUs: number;
  readonly endUs: number;
  /** The part of it that counts. */
  readonly activeUs: number;
  /** What it is of. */
  readonly key: number;
  /** How many stretches of the record it stands for; 1 unless given. */
  readonly count?: number;
}

/** What is drawn for one stretch, or for several: `key` is that of the one with the most time. */
export interface Drawn extends Stretch {
  /** How many stretches it stands for. */
  readonly merged: number;
}

export interface ThinningFrame {
  readonly fromUs: number;
  readonly toUs: number;
  readonly resolutionUs: number;
}

/**
 * Joins each stretch with those that begin within the resolution after it. The stretches come by their start.
 * Neighbours of one key with at most `followsUs` between them are one, and count as one. `areApart`: they never meet, and
 * shall not when they are drawn.
 */
export function clusterStretches(
  stretches: Iterable<Stretch>,
  { resolutionUs }: ThinningFrame,
  { followsUs, areApart }: { readonly followsUs: number; readonly areApart: boolean },
): readonly Drawn[] {
  const drawn: Drawn[] = [];
  let open: Cluster | null = null;
  for (const stretch of joinFollowing(stretches, followsUs)) {
    if (open !== null && stretch.startUs < open.startUs + resolutionUs) {
      addTo(open, stretch);
      continue;
    }
    if (open !== null) drawn.push(close(open, areApart ? stretch.startUs : open.endUs));
    open = { ...stretch, activeUs: 0, merged: 0, times: new Map() };
    addTo(open, stretch);
  }
  if (open !== null) drawn.push(close(open, open.endUs));
  return drawn;
}

/** Stretches that may meet and come in any order, counted in pieces of the length of the resolution. */
export interface Buckets {
  readonly add: (stretch: Stretch) => void;
  /** One span for each run of pieces in which the same key has most of the time. */
  readonly draw: () => readonly Drawn[];
}

export function createBuckets({ fromUs, toUs, resolutionUs }: ThinningFrame): Buckets {
  const buckets: (Bucket | undefined)[] = [];
  return {
    add: (stretch) => {
      const { key, count = 1 } = stretch;
      const startUs = Math.max(stretch.startUs, fromUs);
      const endUs = Math.min(stretch.endUs, toUs);
      if (endUs <= startUs) return;
      const spanUs = stretch.endUs - stretch.startUs;
      const last = Math.floor((endUs - 1 - fromUs) / resolutionUs);
      const first = Math.floor((startUs - fromUs) / resolutionUs);
      for (let index = first; index <= last; index += 1) {
        const bucketUs = fromUs + index * resolutionUs;
        const partStartUs = Math.max(startUs, bucketUs);
        const partEndUs = Math.min(endUs, bucketUs + resolutionUs);
        // The time that counts lies evenly in a stretch, for all that is known of it here.
        const activeUs = (stretch.activeUs * (partEndUs - partStartUs)) / spanUs;
        const part = { startUs: partStartUs, endUs: partEndUs, activeUs, key, count };
        const bucket = (buckets[index] ??= {
          ...part,
          activeUs: 0,
          merged: 0,
          begun: 0,
          times: new Map(),
        });
        addTo(bucket, part);
        if (index === first) bucket.begun += count;
      }
    },
    draw: () => {
      const drawn: Drawn[] = [];
      for (const bucket of buckets) {
        if (bucket === undefined) continue;
        const span = close(bucket, bucket.endUs);
        const last = drawn.at(-1);
        const goesOn = last?.key === span.key && span.startUs - last.endUs < resolutionUs;
        if (last === undefined || !goesOn) drawn.push(span);
        // What goes on from the piece before is counted there.
        else drawn[drawn.length - 1] = joined(last, { ...span, merged: bucket.begun });
      }
      return drawn;
    },
  };
}

/** The same for stretches that are all there. */
export function fillBuckets(stretches: Iterable<Stretch>, frame: ThinningFrame): readonly Drawn[] {
  const buckets = createBuckets(frame);
  for (const stretch of stretches) buckets.add(stretch);
  return buckets.draw();
}

interface Cluster {
  startUs: number;
  endUs: number;
  activeUs: number;
  merged: number;
  /** Time by key. */
  readonly times: Map<number, number>;
}

interface Bucket extends Cluster {
  /** How many of those that it stands for began in it. */
  begun: number;
}

function* joinFollowing(stretches: Iterable<Stretch>, followsUs: number): Generator<Stretch> {
  let held: Stretch | null = null;
  for (const stretch of stretches) {
    if (held !== null && held.key === stretch.key && stretch.startUs - held.endUs <= followsUs) {
      held = prolonged(held, stretch);
      continue;
    }
    if (held !== null) yield held;
    held = stretch;
  }
  if (held !== null) yield held;
}

function prolonged(held: Stretch, next: Stretch): Stretch {
  return {
    startUs: held.startUs,
    endUs: Math.max(held.endUs, next.endUs),
    activeUs: held.activeUs + next.activeUs,
    key: held.key,
  };
}

function addTo(cluster: Cluster, { startUs, endUs, activeUs, key, count = 1 }: Stretch): void {
  cluster.startUs = Math.min(cluster.startUs, startUs);
  cluster.endUs = Math.max(cluster.endUs, endUs);
  cluster.activeUs += activeUs;
  cluster.merged += count;
  cluster.times.set(key, (cluster.times.get(key) ?? 0) + activeUs);
}

function close(cluster: Cluster, latestEndUs: number): Drawn {
  const { startUs, endUs, activeUs, merged, times } = cluster;
  let key = 0;
  let longestUs = -1;
  for (const [candidate, us] of times) {
    if (us > longestUs) [key, longestUs] = [candidate, us];
  }
  return {
    startUs,
    endUs: Math.max(startUs, Math.min(endUs, latestEndUs)),
    activeUs: Math.round(activeUs),
    key,
    merged,
  };
}

function joined(a: Drawn, b: Drawn): Drawn {
  return {
    startUs: a.startUs,
    endUs: b.endUs,
    activeUs: a.activeUs + b.activeUs,
    key: a.key,
    merged: a.merged + b.merged,
  };
}
