// cli/page/src/model/sites.ts: the value of each site: for a metric, or what it allocated in a range of time and is
// live at the range's end.
import type { Profile, Sites } from "../data/profile";
import type { Metric } from "../data/summary";

export interface Weights {
  weight: Float64Array; // by site
  isBytes: boolean;
}

export function metricOf(sites: Sites, metric: Metric): Weights {
  switch (metric) {
    case "peak": return { weight: sites.peakBytes, isBytes: true };
    case "total": return { weight: sites.totalBytes, isBytes: true };
    case "leaked": return { weight: sites.leakedBytes, isBytes: true };
    case "allocations": return { weight: sites.totalBlocks, isBytes: false };
    case "temporary": return { weight: sites.temporaryBlocks, isBytes: false };
  }
}

/** Two boundaries of time buckets, by number: from < to. */
export interface Range {
  from: number;
  to: number;
}

/** Bytes and blocks that each site allocated in the range, and that are live at the range's end. */
export function rangeOf(sites: Sites, range: Range): { bytes: Float64Array; blocks: Float64Array } {
  const bytes = new Float64Array(sites.sites);
  const blocks = new Float64Array(sites.sites);
  for (let site = 0; site < sites.sites; site++) {
    for (let i = sites.stayAt[site]; i < sites.stayAt[site + 1]; i++) {
      const begin = sites.stayBegin[i];
      if (begin < range.from || begin >= range.to || sites.stayEnd[i] < range.to) continue;
      bytes[site] += sites.stayBytes[i];
      blocks[site] += sites.stayBlocks[i];
    }
  }
  return { bytes, blocks };
}

/** The boundaries nearest to two times; null: there are none, or both are the same. */
export function nearestRange(sites: Sites, from: number, to: number): Range | null {
  const nearest = (at: number): number => {
    let best = 0;
    for (let i = 1; i < sites.bounds.length; i++) {
      if (Math.abs(sites.bounds[i] - at) < Math.abs(sites.bounds[best] - at)) best = i;
    }
    return best;
  };
  if (sites.bounds.length < 2) return null;
  const range = { from: nearest(Math.min(from, to)), to: nearest(Math.max(from, to)) };
  return range.from < range.to ? range : null;
}

/** What each place had live at each boundary: rows of bounds.length numbers. `kept`: the part that was never freed, without what a rule explains. */
export interface PlaceSeries {
  live: Float64Array[];
  kept: Float64Array[];
}

export function seriesOf(sites: Sites): PlaceSeries {
  const bounds = sites.bounds.length;
  const rows = (): Float64Array[] => Array.from({ length: bounds > 0 ? sites.places : 0 }, () => new Float64Array(bounds));
  const series = { live: rows(), kept: rows() };
  if (bounds === 0) return series;
  // The blocks of an entry are live at the boundaries from begin + 1 to end. Changes are noted first, and summed
  // afterwards.
  for (let site = 0; site < sites.sites; site++) {
    const live = series.live[sites.place[site]];
    const kept = series.kept[sites.place[site]];
    for (let i = sites.stayAt[site]; i < sites.stayAt[site + 1]; i++) {
      const from = sites.stayBegin[i] + 1;
      const isKept = sites.stayEnd[i] >= bounds - 1;
      live[from] += sites.stayBytes[i];
      if (isKept && sites.isSuppressed[site] === 0) kept[from] += sites.stayBytes[i];
      if (!isKept && sites.stayEnd[i] + 1 < bounds) live[sites.stayEnd[i] + 1] -= sites.stayBytes[i];
    }
  }
  for (const row of [...series.live, ...series.kept]) {
    for (let i = 1; i < bounds; i++) row[i] += row[i - 1];
  }
  return series;
}

export interface PlaceRow {
  place: number;
  function: string;
  location: string;
  peak: number;
  total: number;
  leaked: number;
  blocks: number;
  temporary: number;
  lifetime: number; // summed over all blocks
  inRange: number;
}

export function placeRows(profile: Profile, sites: Sites, inRange: Float64Array | null): PlaceRow[] {
  const rows: PlaceRow[] = Array.from({ length: sites.places }, (_, place) => ({
    place,
    function: profile.texts[sites.placeFunction[place]],
    location: profile.texts[sites.placeLocation[place]],
    peak: 0,
    total: 0,
    leaked: 0,
    blocks: 0,
    temporary: 0,
    lifetime: 0,
    inRange: 0,
  }));
  for (let i = 0; i < sites.sites; i++) {
    const row = rows[sites.place[i]];
    row.peak += sites.peakBytes[i];
    row.total += sites.totalBytes[i];
    row.leaked += sites.leakedBytes[i];
    row.blocks += sites.totalBlocks[i];
    row.temporary += sites.temporaryBlocks[i];
    row.lifetime += sites.lifetime[i];
    if (inRange) row.inRange += inRange[i];
  }
  return rows;
}
