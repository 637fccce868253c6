// cli/page/src/data/profile.ts: a profile in columns: number i of a column belongs to frame, node or site number i.
// cli/write/html/page_parts.h says in which order the columns come.
import { Columns } from "./columns";
import { readBlock, readTexts } from "./blocks";
import type { DeviceSummary, SideSummary } from "./summary";

export interface Tree {
  frames: number;
  nodes: number;
  function: Uint32Array; // the first three are of frames, and are numbers of texts
  location: Uint32Array;
  module: Uint32Array;
  frameFlags: Uint32Array; // 1: inlined, 2: a system frame
  functionNumber: Uint32Array; // equal for frames of one function
  parent: Uint32Array; // of nodes; 0 is the root
  frame: Uint32Array;
  isShown: Uint32Array; // 1: shown also without "all frames"
}

export interface Sites {
  places: number;
  sites: number;
  placeFunction: Uint32Array; // texts
  placeLocation: Uint32Array;
  placeFlags: Uint32Array; // 1: the memory that libstdc++ reserves for exceptions
  node: Uint32Array;
  placeNode: Uint32Array;
  place: Uint32Array;
  peakBytes: Float64Array;
  peakBlocks: Float64Array;
  totalBytes: Float64Array;
  totalBlocks: Float64Array;
  leakedBytes: Float64Array; // without what a rule suppresses
  leakedBlocks: Float64Array;
  isSuppressed: Uint32Array; // 1: a rule explains why its blocks were never freed
  temporaryBlocks: Float64Array;
  lifetime: Float64Array; // summed over all blocks
  bounds: Float64Array; // boundaries of the time buckets of lifetimes ("stays"); empty: not known
  stayAt: Uint32Array; // site i has the lifetimes from stayAt[i] to stayAt[i + 1]
  stayBegin: Uint32Array;
  stayEnd: Uint32Array;
  stayBytes: Float64Array;
  stayBlocks: Float64Array;
}

export interface Timeline {
  bucket: number;
  min: Float64Array;
  max: Float64Array;
}

export interface Scopes {
  parent: Uint32Array; // the parent's index in the list + 1; 0: outermost
  category: Uint32Array; // texts
  name: Uint32Array;
  isOperator: Uint32Array;
  begun: Float64Array;
  time: Float64Array;
  ownTime: Float64Array;
  longest: Float64Array;
  growth: Float64Array; // in all runs that the profile has
  runScope: Uint32Array;
  runBegin: Float64Array;
  runLength: Float64Array;
  runThread: Uint32Array;
  runGrowth: Float64Array;
  runFlags: Uint32Array; // 1: ended by an outer one, 2: open at the end
  leftOut: number; // how many runs are not in these columns
  markCategory: Uint32Array;
  markName: Uint32Array;
  markAt: Float64Array;
  markThread: Uint32Array;
}

export interface Device {
  number: number;
  summary: DeviceSummary;
  sites: Sites;
  timeline: Timeline;
}

export interface Profile {
  summary: SideSummary;
  texts: string[];
  tree: Tree;
  devices: Device[];
  scopes: Scopes;
}

function readTree(columns: Columns): Tree {
  const frames = columns.number();
  const nodes = columns.number();
  const ofNodes = (read: () => Uint32Array): Uint32Array => {
    const column = new Uint32Array(nodes);
    column.set(read(), 1);
    return column;
  };
  const tree: Tree = {
    frames,
    nodes,
    function: columns.indexes(frames),
    location: columns.indexes(frames),
    module: columns.indexes(frames),
    frameFlags: columns.indexes(frames),
    functionNumber: columns.indexes(frames),
    parent: ofNodes(() => columns.indexes(nodes - 1)),
    frame: ofNodes(() => columns.indexes(nodes - 1)),
    isShown: ofNodes(() => columns.indexes(nodes - 1)),
  };
  for (let i = 1; i < nodes; i++) tree.parent[i] = i - tree.parent[i];
  return tree;
}

function readSites(columns: Columns): Sites {
  const places = columns.number();
  const sites = columns.number();
  const numbers = (): Float64Array => columns.numbers(sites);
  const read = {
    places,
    sites,
    placeFunction: columns.indexes(places),
    placeLocation: columns.indexes(places),
    placeFlags: columns.indexes(places),
    node: columns.indexes(sites),
    placeNode: columns.indexes(sites),
    place: columns.indexes(sites),
    peakBytes: numbers(),
    peakBlocks: numbers(),
    totalBytes: numbers(),
    totalBlocks: numbers(),
    leakedBytes: numbers(),
    leakedBlocks: numbers(),
  };
  const isSuppressed = columns.indexes(sites);
  for (let i = 0; i < sites; i++) {
    if (isSuppressed[i] !== 0) read.leakedBytes[i] = read.leakedBlocks[i] = 0;
  }
  const rest = { isSuppressed, temporaryBlocks: numbers(), lifetime: numbers() };
  const bounds = columns.deltas(columns.number());
  const stayAt = new Uint32Array(sites + 1);
  const begin: number[] = [];
  const end: number[] = [];
  const bytes: number[] = [];
  const blocks: number[] = [];
  for (let i = 0; i < sites && bounds.length > 0; i++) {
    for (let left = columns.number(); left > 0; left--) {
      begin.push(columns.number());
      end.push(columns.number());
      bytes.push(columns.number());
      blocks.push(columns.number());
    }
    stayAt[i + 1] = begin.length;
  }
  return {
    ...read,
    ...rest,
    bounds,
    stayAt,
    stayBegin: Uint32Array.from(begin),
    stayEnd: Uint32Array.from(end),
    stayBytes: Float64Array.from(bytes),
    stayBlocks: Float64Array.from(blocks),
  };
}

function readTimeline(columns: Columns, bucket: number): Timeline {
  const count = columns.number();
  return { bucket, min: columns.deltas(count), max: columns.deltas(count) };
}

function readScopes(columns: Columns): Scopes {
  const scopes = columns.number();
  const runs = columns.number();
  const leftOut = columns.number();
  const marks = columns.number();
  const read: Scopes = {
    leftOut,
    parent: columns.indexes(scopes),
    category: columns.indexes(scopes),
    name: columns.indexes(scopes),
    isOperator: columns.indexes(scopes),
    begun: columns.numbers(scopes),
    time: columns.numbers(scopes),
    ownTime: columns.numbers(scopes),
    longest: columns.numbers(scopes),
    growth: columns.signeds(scopes),
    runScope: columns.indexes(runs),
    runBegin: columns.deltas(runs),
    runLength: columns.numbers(runs),
    runThread: columns.indexes(runs),
    runGrowth: columns.signeds(runs),
    runFlags: columns.indexes(runs),
    markCategory: columns.indexes(marks),
    markName: columns.indexes(marks),
    markAt: columns.deltas(marks),
    markThread: columns.indexes(marks),
  };
  for (let i = 0; i < scopes; i++) {
    const distance = read.parent[i];
    if (distance !== 0) read.parent[i] = i + 1 - distance;
  }
  return read;
}

/** Reads all blocks of one side, one after the other, so that the browser may draw in between. */
export async function readProfile(number: number, summary: SideSummary): Promise<Profile> {
  const columns = async (name: string): Promise<Columns> => new Columns(await readBlock(`${number}.${name}`));
  const timelines: Timeline[] = [];
  for (let i = 0; i < summary.devices.length; i++)
    timelines.push(readTimeline(await columns(`timeline.${i}`), summary.devices[i].bucket));
  const tree = readTree(await columns("tree"));
  const devices: Device[] = [];
  for (let i = 0; i < summary.devices.length; i++)
    devices.push({ number: i, summary: summary.devices[i], sites: readSites(await columns(`sites.${i}`)), timeline: timelines[i] });
  const scopes = readScopes(await columns("scopes"));
  return { summary, texts: await readTexts(`${number}.texts`), tree, devices, scopes };
}
