// cli/page/src/data/diff.ts: what changed, as cli/write/html/page_diff.cc writes it.
import { Columns } from "./columns";
import { readBlock, readTexts } from "./blocks";
import type { Metric, Summary } from "./summary";

/** By metric: what base had, and what current has. */
export type BothSides = Record<Metric, { base: Float64Array; current: Float64Array }>;

export interface DeviceDiff {
  name: string;
  /** Numbers of the device in the lists of the two profiles; -1: the profile does not have the device. */
  base: number;
  current: number;
  places: number;
  placeFunction: Uint32Array; // texts of the diff
  placeLocation: Uint32Array;
  ofPlace: BothSides;
  stacks: number;
  stackPlace: Uint32Array;
  isCurrent: Uint32Array; // 1: the node is one of current's, 0: of base's
  node: Uint32Array;
  placeNode: Uint32Array;
  ofStack: BothSides;
}

export interface Diff {
  sentences: string[];
  remarks: string[];
  texts: string[];
  devices: DeviceDiff[];
}

const kOrder: Metric[] = ["peak", "total", "leaked", "allocations", "temporary"];

function readBothSides(columns: Columns, count: number): BothSides {
  const both = {} as BothSides;
  for (const metric of kOrder) both[metric] = { base: columns.numbers(count), current: new Float64Array(0) };
  for (const metric of kOrder) both[metric].current = columns.numbers(count);
  return both;
}

export async function readDiff(summary: Summary): Promise<Diff | null> {
  const said = summary.diff;
  if (!said) return null;
  const devices: DeviceDiff[] = [];
  for (let i = 0; i < said.devices.length; i++) {
    const columns = new Columns(await readBlock(`diff.${i}`));
    const places = columns.number();
    const stacks = columns.number();
    devices.push({
      name: said.devices[i].name,
      base: said.devices[i].base - 1,
      current: said.devices[i].current - 1,
      places,
      placeFunction: columns.indexes(places),
      placeLocation: columns.indexes(places),
      ofPlace: readBothSides(columns, places),
      stacks,
      stackPlace: columns.indexes(stacks),
      isCurrent: columns.indexes(stacks),
      node: columns.indexes(stacks),
      placeNode: columns.indexes(stacks),
      ofStack: readBothSides(columns, stacks),
    });
  }
  return { sentences: said.sentences ?? [], remarks: said.remarks ?? [], texts: await readTexts("diff.texts"), devices };
}
