// cli/page/src/model/flame.ts: trees of functions with a number for each, as a flame graph draws them.
//
// Which function calls which does not depend on the metric. So the shape of a profile is made once for all devices and
// metrics, and each view needs only an array of numbers. The bottom-up shape does depend on the metric, because
// functions with a small part are left out there: of 100,000 sites no more than some thousand boxes can be seen.
import type { Profile, Tree } from "../data/profile";

/** Node 0 is the root; every other node's parent has a smaller number. */
export interface Flame {
  parent: Uint32Array;
  /** A frame of the profile that represents the node's function; or kHidden, kNoStack, kRest. */
  frame: Int32Array;
  value: Float64Array;
  firstChild: Uint32Array; // 0: no child; children are ordered by value, the largest first
  nextSibling: Uint32Array;
}

/** In a shape of two profiles, the numbers of the second one's frames follow those of the first. */
export const kHidden = -1; // system frames (standard library, allocator, runtime), in one box
export const kNoStack = -2;
export const kRest = -3; // several functions, each too small to be shown

export interface Shape {
  parent: Uint32Array;
  frame: Int32Array;
  functions: Uint32Array; // equal for nodes of one function
  ofNode: Uint32Array; // for each node of the profile, the node of this shape that represents it
  ofSecondNode: Uint32Array; // likewise for the second profile
  noStack: number;
}

class Growing {
  parent: number[] = [0];
  frame: number[] = [0];
  functions: number[] = [0];
  private children = new Map<number, number>(); // the key is a number made of parent and function, far below 2^53
  constructor(readonly functionCount: number) {}
  child(parent: number, functionNumber: number, frame: number): number {
    const key = parent * (this.functionCount + kOthers) + functionNumber;
    let node = this.children.get(key);
    if (node === undefined) {
      node = this.parent.length;
      this.parent.push(parent);
      this.frame.push(frame);
      this.functions.push(functionNumber);
      this.children.set(key, node);
    }
    return node;
  }
}

const kOthers = 2; // two numbers after the profile's functions: all hidden frames, and no stack

/** Functions by their callers. Without `allFrames`, system frames are one box between two user frames, and are left out elsewhere. */
export function shapeOf(profile: Profile, allFrames: boolean): Shape {
  const growing = new Growing(profile.tree.frames);
  const ofNode = addTree(growing, profile.tree, profile.tree.functionNumber, 0, allFrames);
  return finished(growing, [ofNode]);
}

/** The shape of two profiles: functions of one name are one. The numbers of the second one's frames follow those of the first. */
export function jointShapeOf(profiles: [Profile, Profile], allFrames: boolean): Shape {
  const growing = new Growing(profiles[0].tree.frames + profiles[1].tree.frames);
  const numbers = new Map<string, number>();
  const ofNodes = profiles.map((profile, side) => {
    const { tree, texts } = profile;
    const functions = Uint32Array.from(tree.function, (text) => {
      const number = numbers.get(texts[text]) ?? numbers.size;
      numbers.set(texts[text], number);
      return number;
    });
    return addTree(growing, tree, functions, side === 0 ? 0 : profiles[0].tree.frames, allFrames);
  });
  return finished(growing, ofNodes);
}

function finished(growing: Growing, ofNodes: Uint32Array[]): Shape {
  const noStack = growing.child(0, growing.functionCount + 1, kNoStack);
  return { parent: Uint32Array.from(growing.parent), frame: Int32Array.from(growing.frame), functions: Uint32Array.from(growing.functions), ofNode: ofNodes[0], ofSecondNode: ofNodes[1] ?? ofNodes[0], noStack };
}

/** Adds a profile's nodes; returns for each node the one that represents it. */
function addTree(growing: Growing, tree: Tree, functions: Uint32Array, firstFrame: number, allFrames: boolean): Uint32Array {
  const ofNode = new Uint32Array(tree.nodes);
  const isBetween = new Uint8Array(tree.nodes);
  for (let node = 1; node < tree.nodes; node++) {
    const parent = tree.parent[node];
    let base = ofNode[parent];
    if (!allFrames && tree.isShown[node] === 0) {
      ofNode[node] = base;
      isBetween[node] = base === 0 ? 0 : 1;
      continue;
    }
    const frame = tree.frame[node];
    // A function that calls itself is one box.
    if (base !== 0 && isBetween[parent] === 0 && growing.functions[base] === functions[frame]) {
      ofNode[node] = base;
      continue;
    }
    if (isBetween[parent] !== 0) base = growing.child(base, growing.functionCount, kHidden);
    ofNode[node] = growing.child(base, functions[frame], firstFrame + frame);
  }
  return ofNode;
}

/** Links children by value. `value` holds sums over subtrees already. */
export function linked(parent: Uint32Array, frame: Int32Array, value: Float64Array): Flame {
  const count = parent.length;
  const order = new Uint32Array(count);
  let used = 0;
  for (let i = 1; i < count; i++) {
    if (value[i] !== 0) order[used++] = i;
  }
  // Each child is put in front, in ascending order, so the list is in descending order.
  const ascending = order.subarray(0, used).sort((a, b) => Math.abs(value[a]) - Math.abs(value[b]) || b - a);
  const firstChild = new Uint32Array(count);
  const nextSibling = new Uint32Array(count);
  for (const node of ascending) {
    nextSibling[node] = firstChild[parent[node]];
    firstChild[parent[node]] = node;
  }
  return { parent, frame, value, firstChild, nextSibling };
}

/** `ofSite`: for each site the node of the profile where its stack ends, 0 without a stack; `weight`: the site's value. */
export function topDown(shape: Shape, ofSite: Uint32Array, weight: Float64Array): Flame {
  const value = selfValues(shape, ofSite, weight);
  for (let i = value.length - 1; i > 0; i--) value[shape.parent[i]] += value[i];
  return linked(shape.parent, shape.frame, value);
}

export function selfValues(shape: Shape, ofSite: Uint32Array, weight: Float64Array): Float64Array {
  const value = new Float64Array(shape.parent.length);
  for (let i = 0; i < ofSite.length; i++) value[ofSite[i] === 0 ? shape.noStack : shape.ofNode[ofSite[i]]] += weight[i];
  return value;
}

const kFewestShare = 4000; // bottom-up: functions with less than one part in so many are summed as kRest
const kMostBoxes = 60_000;

/** The same by callees: the innermost functions are children of the root, and their callers are children of them. */
export function bottomUp(shape: Shape, ofSite: Uint32Array, weight: Float64Array): Flame {
  const self = selfValues(shape, ofSite, weight);
  const parent = [0];
  const frame = [0];
  const value = [0];
  let total = 0;
  let level: { into: number; at: Uint32Array; weight: Float64Array }[] = [];
  const leaves: number[] = [];
  for (let i = 1; i < self.length; i++) {
    if (self[i] === 0) continue;
    leaves.push(i);
    total += self[i];
  }
  value[0] = total;
  level.push({ into: 0, at: Uint32Array.from(leaves), weight: Float64Array.from(leaves, (leaf) => self[leaf]) });
  while (level.length > 0) {
    const next: typeof level = [];
    for (const { into, at, weight: of } of level) {
      const groups = new Map<number, number[]>();
      for (let i = 0; i < at.length; i++) {
        if (at[i] === 0) continue; // this stack has no more callers
        const key = shape.functions[at[i]];
        const group = groups.get(key);
        if (group) group.push(i);
        else groups.set(key, [i]);
      }
      let rest = 0;
      for (const group of groups.values()) {
        let sum = 0;
        for (const i of group) sum += of[i];
        if (sum * kFewestShare < total || parent.length >= kMostBoxes) {
          rest += sum;
          continue;
        }
        const node = parent.length;
        parent.push(into);
        frame.push(shape.frame[at[group[0]]]);
        value.push(sum);
        next.push({ into: node, at: Uint32Array.from(group, (i) => shape.parent[at[i]]), weight: Float64Array.from(group, (i) => of[i]) });
      }
      if (rest > 0) {
        parent.push(into);
        frame.push(kRest);
        value.push(rest);
      }
    }
    level = next;
  }
  return linked(Uint32Array.from(parent), Int32Array.from(frame), Float64Array.from(value));
}

/** The nodes from the root (without it) to this one. */
export function pathTo(flame: Flame, node: number): number[] {
  const path: number[] = [];
  for (; node !== 0; node = flame.parent[node]) path.push(node);
  return path.reverse();
}
