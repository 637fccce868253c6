// cli/page/src/model/align.ts: puts two runs on one axis: by elapsed time, or so that moments which both runs have in
// common are at the same position: marks, or begins and ends of outermost scopes.
import type { Profile } from "../data/profile";

export type AxisBy = "time" | "marks" | "scopes";

/** Moments that both runs have in common, ascending in both. */
export interface Alignment {
  base: number[];
  current: number[];
  /** How many common moments were found, without the begin and the end of the runs. */
  shared: number;
}

/** Moments by name: the n-th moment of a name in one run corresponds to the n-th of that name in the other. */
function namedMoments(profile: Profile, by: AxisBy): Map<string, number[]> {
  const moments = new Map<string, number[]>();
  const { scopes, texts } = profile;
  const add = (name: string, at: number): void => {
    const of = moments.get(name);
    if (of) of.push(at);
    else moments.set(name, [at]);
  };
  if (by === "marks") scopes.markAt.forEach((at, i) => add(`${texts[scopes.markCategory[i]]}\n${texts[scopes.markName[i]]}`, at));
  if (by === "scopes") {
    scopes.runScope.forEach((scope, run) => {
      if (scopes.parent[scope] !== 0) return;
      const name = `${texts[scopes.category[scope]]}\n${texts[scopes.name[scope]]}`;
      add(`${name}\nbegin`, scopes.runBegin[run]);
      add(`${name}\nend`, scopes.runBegin[run] + scopes.runLength[run]);
    });
  }
  return moments;
}

export function align(base: Profile, current: Profile, by: AxisBy): Alignment {
  const pairs: [number, number][] = [];
  const ofBase = namedMoments(base, by);
  for (const [name, of] of namedMoments(current, by)) {
    const others = ofBase.get(name) ?? [];
    for (let i = 0; i < Math.min(of.length, others.length); i++) pairs.push([others[i], of[i]]);
  }
  pairs.sort((a, b) => a[1] - b[1] || a[0] - b[0]);
  const alignment: Alignment = { base: [0], current: [0], shared: 0 };
  for (const [at, time] of pairs) {
    const last = alignment.base.length - 1;
    if (at <= alignment.base[last] || time <= alignment.current[last]) continue;
    if (at >= base.summary.duration || time >= current.summary.duration) continue;
    alignment.base.push(at);
    alignment.current.push(time);
    alignment.shared++;
  }
  alignment.base.push(Math.max(base.summary.duration, 1));
  alignment.current.push(Math.max(current.summary.duration, 1));
  return alignment;
}

/** The time in base that corresponds to a time in current: interpolated between two common moments. */
export function toBase({ base, current }: Alignment, time: number): number {
  let at = 0;
  while (at + 2 < current.length && current[at + 1] <= time) at++;
  return base[at] + ((time - current[at]) / (current[at + 1] - current[at])) * (base[at + 1] - base[at]);
}
