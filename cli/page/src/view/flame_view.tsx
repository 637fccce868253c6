// cli/page/src/view/flame_view.tsx: a flame graph on a canvas: the root on top, the width of a box by its value.
//
// Boxes narrower than half a pixel are not drawn, and their children are not visited. So drawing takes time for the
// visible part of the tree, not for all of it.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Profile } from "../data/profile";
import { kHidden, kNoStack, kRest, pathTo, type Flame } from "../model/flame";
import { boxColour, changeColour, themeColour } from "./colours";
import { cut, kCharacter, kFont, prepare } from "./canvas";
import { Tooltip, type Tip } from "./tooltip";
import { useWidth } from "./use_width";

const kRow = 18;
const kNarrowest = 0.5;
const kMostRows = 26; // of the view; the user scrolls to the others

export interface FlameText {
  /** A value of the tree as text: "1.92 GiB". */
  number: (value: number) => string;
  /** The same with all digits. */
  exact: (value: number) => string;
  /** The text after a box's name; absent: its number. */
  label?: (node: number) => string;
  percent: (value: number) => string;
  /** The text of the root's box and of its tooltip. */
  root: string;
  /** Further lines of a box's tooltip. */
  more?: (node: number) => string[];
}

interface Box {
  node: number;
  row: number;
  x: number;
  width: number;
}

export function frameName(profile: Profile, frame: number): string {
  if (frame === kHidden) return "standard library, allocator, runtime";
  if (frame === kNoStack) return "no stack";
  if (frame === kRest) return "others, each too small to be drawn";
  return profile.texts[profile.tree.function[frame]];
}

export function frameLocation(profile: Profile, frame: number): string {
  return frame < 0 ? "" : profile.texts[profile.tree.location[frame]];
}

/** All boxes at least half a pixel wide, from `focus` on. `focus` and its ancestors are as wide as the view. */
function layOut(flame: Flame, focus: number, width: number): { boxes: Box[]; rows: number } {
  const boxes: Box[] = [];
  let row = 0;
  for (const node of [0, ...pathTo(flame, focus)]) boxes.push({ node, row: row++, x: 0, width });
  let rows = row;
  const scale = width / Math.max(Math.abs(flame.value[focus]), 1e-9);
  const stack: Box[] = [boxes[boxes.length - 1]];
  for (let box = stack.pop(); box; box = stack.pop()) {
    let x = box.x;
    for (let child = flame.firstChild[box.node]; child !== 0; child = flame.nextSibling[child]) {
      const wide = Math.abs(flame.value[child]) * scale;
      if (wide < kNarrowest) break; // siblings are ordered by size
      const inner = { node: child, row: box.row + 1, x, width: wide };
      boxes.push(inner);
      stack.push(inner);
      rows = Math.max(rows, inner.row + 1);
      x += wide;
    }
  }
  return { boxes, rows };
}

export function FlameView(props: {
  profile: Profile;
  flame: Flame;
  text: FlameText;
  search: RegExp | null;
  /** For each node its share of growth, from -1 to 1. If present, the graph is a difference. */
  growth?: Float64Array;
  onSearch: (name: string) => void;
}) {
  const { profile, flame, text, search, growth } = props;
  const holder = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const width = useWidth(holder);
  const [focus, setFocus] = useState(0);
  const [selected, setSelected] = useState(0);
  const [tip, setTip] = useState<Tip | null>(null);
  const [scrolled, setScrolled] = useState(0);
  useEffect(() => {
    setFocus(0);
    setSelected(0);
  }, [flame]);
  const at = focus < flame.parent.length ? focus : 0;
  const { boxes, rows } = useMemo(() => layOut(flame, at, width), [flame, at, width]);
  // A canvas has no elements, so tests find here what it shows.
  useLayoutEffect(() => {
    if (holder.current) Object.assign(holder.current, { flame, boxes });
  });
  const viewHeight = Math.min(Math.max(rows, 6), kMostRows) * kRow;
  const firstRow = Math.floor(scrolled / kRow);

  useLayoutEffect(() => {
    const context = canvas.current && prepare(canvas.current, width, viewHeight);
    if (!context) return;
    context.font = kFont;
    context.textBaseline = "middle";
    const ink = themeColour("box-ink");
    const paper = themeColour("paper");
    const box = themeColour("box");
    const found = themeColour("found");
    const mark = themeColour("accent");
    for (const { node, row, x, width: wide } of boxes) {
      const y = row * kRow - scrolled;
      if (y + kRow < 0 || y > viewHeight) continue;
      const frame = node === 0 ? 0 : flame.frame[node];
      const name = node === 0 ? text.root : frameName(profile, frame);
      const isFound = node !== 0 && search !== null && frame >= 0 && (search.test(name) || search.test(frameLocation(profile, frame)));
      if (node === 0) context.fillStyle = box;
      else if (isFound) context.fillStyle = found;
      else if (growth) context.fillStyle = changeColour(growth[node]);
      else if (frame < 0) context.fillStyle = box;
      else context.fillStyle = boxColour(profile.texts[profile.tree.module[frame]], name);
      context.globalAlpha = search !== null && !isFound ? 0.55 : 1;
      const isInlined = frame > 0 && (profile.tree.frameFlags[frame] & 1) !== 0;
      // There is no line between a function and a function inlined into it, because both are one frame of the machine.
      context.fillRect(x, isInlined ? y - 1 : y, Math.max(wide - (wide > 3 ? 1 : 0), kNarrowest), isInlined ? kRow : kRow - 1);
      if (frame === kHidden && wide > 3) {
        context.strokeStyle = themeColour("faint");
        context.setLineDash([3, 3]);
        context.strokeRect(x + 0.5, y + 0.5, wide - 2, kRow - 2);
        context.setLineDash([]);
      }
      const shown = wide > 24 ? cut(node === 0 ? name : `${name}  ${text.label ? text.label(node) : text.number(flame.value[node])}`, wide - 8, kCharacter) : "";
      if (shown !== "") {
        context.fillStyle = ink;
        context.fillText(shown, x + 4, y + kRow / 2);
      }
      context.globalAlpha = 1;
      if (node === selected && node !== 0) {
        context.strokeStyle = mark;
        context.lineWidth = 2;
        context.strokeRect(x + 1, y + 1, Math.max(wide - 2, 1), kRow - 3);
        context.lineWidth = 1;
      }
    }
    context.fillStyle = paper;
  });

  const boxAt = (event: MouseEvent): Box | null => {
    const bounds = canvas.current?.getBoundingClientRect();
    if (!bounds) return null;
    const x = event.clientX - bounds.left;
    const row = Math.floor((event.clientY - bounds.top + scrolled) / kRow);
    for (let i = boxes.length - 1; i >= 0; i--) {
      const box = boxes[i];
      if (box.row === row && x >= box.x && x < box.x + Math.max(box.width, 1)) return box;
    }
    return null;
  };
  const describe = (node: number): Omit<Tip, "x" | "y"> => {
    const value = flame.value[node];
    const frame = flame.frame[node];
    return {
      title: node === 0 ? text.root : frameName(profile, frame),
      lines: [
        ...(node === 0 ? [] : [frameLocation(profile, frame)].filter((line) => line !== "")),
        ...(text.label ? [] : [`${text.number(value)} (${text.exact(value)}), ${text.percent(value)}`]),
        ...(text.more?.(node) ?? []),
      ],
    };
  };
  const onKey = (event: KeyboardEvent): void => {
    const drawn = (node: number): Box | undefined => boxes.find((box) => box.node === node);
    const step = (node: number): void => {
      if (!drawn(node) || (node === 0 && event.key !== "ArrowUp")) return;
      event.preventDefault();
      event.stopPropagation();
      setSelected(node);
      const bounds = canvas.current?.getBoundingClientRect();
      const box = drawn(node);
      if (box && holder.current) {
        if (box.row < firstRow) holder.current.scrollTop = box.row * kRow;
        else if (box.row >= firstRow + viewHeight / kRow) holder.current.scrollTop = (box.row + 1) * kRow - viewHeight;
        if (bounds) setTip({ x: bounds.left + Math.min(box.x, width - 80), y: bounds.top + (box.row + 1) * kRow - scrolled, ...describe(node) });
      }
    };
    if (event.key === "ArrowDown") step(flame.firstChild[selected]);
    else if (event.key === "ArrowUp") step(flame.parent[selected]);
    else if (event.key === "ArrowRight") step(flame.nextSibling[selected]);
    else if (event.key === "ArrowLeft") {
      let before = flame.firstChild[flame.parent[selected]];
      while (before !== 0 && flame.nextSibling[before] !== selected) before = flame.nextSibling[before];
      step(before);
    } else if (event.key === "Enter") setFocus(selected);
    else if (event.key === "Escape" && (focus !== 0 || selected !== 0)) {
      event.stopPropagation();
      setFocus(0);
      setSelected(0);
      setTip(null);
    }
  };
  return (
    <div
      class="flame"
      ref={holder}
      tabIndex={0}
      role="img"
      aria-label="Flame graph. Arrow keys move from box to box, Enter widens one, Escape goes back."
      style={{ height: `${viewHeight}px` }}
      onScroll={(event) => setScrolled((event.currentTarget as HTMLElement).scrollTop)}
      onKeyDown={onKey}
      onBlur={() => setTip(null)}
    >
      <div style={{ height: `${rows * kRow}px` }}>
        <canvas
          ref={canvas}
          class="sticky"
          onMouseMove={(event) => {
            const box = boxAt(event);
            setTip(box ? { x: event.clientX, y: event.clientY, ...describe(box.node) } : null);
          }}
          onMouseLeave={() => setTip(null)}
          onClick={(event) => {
            const box = boxAt(event);
            if (!box) return;
            setFocus(box.node);
            setSelected(box.node);
          }}
          onDblClick={(event) => {
            const box = boxAt(event);
            if (box && box.node !== 0 && flame.frame[box.node] >= 0) props.onSearch(frameName(profile, flame.frame[box.node]));
          }}
        />
      </div>
      <Tooltip tip={tip} />
    </div>
  );
}
