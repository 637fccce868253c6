// cli/page/src/model/lanes.ts: puts single runs of scopes into lanes, so that no two runs overlap in a lane: an inner
// run is in a lane below the outer one.
import type { Scopes } from "../data/profile";

export interface Group {
  thread: number;
  firstLane: number;
  lanes: number;
}

export interface Lanes {
  lane: Uint16Array; // by run; counted over all groups
  groups: Group[];
  count: number;
}

/** Runs are ordered by begin, and those with the same begin by descending length. So a run belongs in the lane just
 * below the innermost run that encloses it. */
export function packLanes(scopes: Scopes): Lanes {
  const runs = scopes.runScope.length;
  const byThread = new Map<number, number[]>();
  for (let i = 0; i < runs; i++) {
    const of = byThread.get(scopes.runThread[i]);
    if (of) of.push(i);
    else byThread.set(scopes.runThread[i], [i]);
  }
  const lane = new Uint16Array(runs);
  const groups: Group[] = [];
  let first = 0;
  for (const [thread, of] of byThread) {
    const ends: number[] = []; // of each lane's last run
    for (const run of of) {
      const begin = scopes.runBegin[run];
      // The last lane that is busy has the innermost run that encloses this one.
      let at = ends.length;
      while (at > 0 && ends[at - 1] <= begin) at--;
      ends.length = at;
      ends.push(begin + Math.max(scopes.runLength[run], 1e-9));
      lane[run] = first + at;
    }
    let lanes = 0;
    for (const run of of) lanes = Math.max(lanes, lane[run] - first + 1);
    groups.push({ thread, firstLane: first, lanes });
    first += lanes;
  }
  return { lane, groups, count: first };
}

/** "load > parse", outermost first. */
export function scopePath(scopes: Scopes, texts: string[], scope: number): string {
  const names: string[] = [];
  for (let at = scope + 1; at !== 0; at = scopes.parent[at - 1]) names.push(texts[scopes.name[at - 1]]);
  return names.reverse().join(" > ");
}
