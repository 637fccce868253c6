// cli/page/src/view/gantt.tsx: single runs of scopes as bars, by thread, on the axis of the devices' panels.
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Profile } from "../data/profile";
import { packLanes, scopePath } from "../model/lanes";
import type { Change, State } from "../state";
import * as units from "../model/units";
import { categoryColour, inkOn, themeColour } from "./colours";
import { cut, kCharacter, kFont, prepare } from "./canvas";
import { kAxisLeft, kAxisRight, moved, zoomed } from "./time_axis";
import { Tooltip, type Tip } from "./tooltip";
import { useWidth } from "./use_width";

const kLane = 16;
const kMostHeight = 260;

export function Gantt(props: { profile: Profile; state: State; change: Change; all: number }) {
  const { profile, state, change, all } = props;
  const { scopes, texts, summary } = profile;
  const lanes = useMemo(() => packLanes(scopes), [scopes]);
  const holder = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const latest = useRef({ state, change });
  latest.current = { state, change };
  const dragged = useRef<{ x: number; zoom: [number, number] } | null>(null);
  const width = useWidth(holder);
  const [tip, setTip] = useState<Tip | null>(null);
  const [scrolled, setScrolled] = useState(0);
  const height = lanes.count * kLane + lanes.groups.length * 4 + 4;
  const viewHeight = Math.min(height, kMostHeight);
  const [from, to] = state.zoom ?? [0, all];
  const plotWidth = Math.max(width - kAxisLeft - kAxisRight, 1);
  const xOf = (time: number): number => kAxisLeft + ((time - from) / (to - from)) * plotWidth;
  const timeOf = (x: number): number => from + ((x - kAxisLeft) / plotWidth) * (to - from);
  const topOf = useMemo(() => {
    const tops = new Float64Array(lanes.count);
    lanes.groups.forEach((group, i) => {
      for (let lane = 0; lane < group.lanes; lane++) tops[group.firstLane + lane] = (group.firstLane + lane) * kLane + (i + 1) * 4;
    });
    return tops;
  }, [lanes]);

  useLayoutEffect(() => {
    const context = canvas.current && prepare(canvas.current, width, viewHeight);
    if (!context) return;
    context.font = kFont;
    context.textBaseline = "middle";
    const line = themeColour("line");
    const ink = themeColour("ink-2");
    for (const group of lanes.groups) {
      const y = topOf[group.firstLane] - scrolled;
      context.fillStyle = line;
      context.fillRect(0, y - 3, width, 1);
      context.fillStyle = ink;
      const thread = summary.threads.find((one) => one.id === group.thread);
      context.fillText(cut(thread?.name ? thread.name : `${group.thread}`, kAxisLeft - 8, kCharacter), 4, y + kLane / 2);
    }
    context.save();
    context.beginPath();
    context.rect(kAxisLeft, 0, plotWidth, viewHeight);
    context.clip();
    // Adjacent bars narrower than a pixel are drawn as one: `drawn` has the end of what is drawn in each lane.
    const drawn = new Float64Array(lanes.count).fill(-1);
    for (let run = 0; run < scopes.runScope.length; run++) {
      const lane = lanes.lane[run];
      const y = topOf[lane] - scrolled;
      if (y + kLane < 0 || y > viewHeight) continue;
      const left = xOf(scopes.runBegin[run]);
      const right = xOf(scopes.runBegin[run] + scopes.runLength[run]);
      if (right < kAxisLeft || left > kAxisLeft + plotWidth || right < drawn[lane]) continue;
      const scope = scopes.runScope[run];
      const wide = Math.max(right - left, 0.75);
      drawn[lane] = left + wide + 0.25;
      context.fillStyle = categoryColour(texts[scopes.category[scope]], scopes.isOperator[scope] !== 0);
      context.fillRect(left, y, wide, kLane - 2);
      const shownFrom = Math.max(left, kAxisLeft);
      const shown = wide > 24 ? cut(texts[scopes.name[scope]], Math.min(right, kAxisLeft + plotWidth) - shownFrom - 6, kCharacter) : "";
      if (shown !== "") {
        context.fillStyle = inkOn(context.fillStyle);
        context.fillText(shown, shownFrom + 3, y + kLane / 2 - 0.5);
      }
    }
    if (state.range) {
      context.fillStyle = themeColour("veil");
      context.fillRect(kAxisLeft, 0, xOf(state.range[0]) - kAxisLeft, viewHeight);
      context.fillRect(xOf(state.range[1]), 0, kAxisLeft + plotWidth - xOf(state.range[1]), viewHeight);
    }
    context.restore();
  });

  const runAt = (event: MouseEvent): number => {
    const bounds = canvas.current?.getBoundingClientRect();
    if (!bounds) return -1;
    const x = event.clientX - bounds.left;
    const y = event.clientY - bounds.top + scrolled;
    const time = timeOf(x);
    const near = (to - from) / plotWidth;
    for (let run = scopes.runScope.length - 1; run >= 0; run--) {
      const top = topOf[lanes.lane[run]];
      if (y < top || y >= top + kLane) continue;
      if (time >= scopes.runBegin[run] - near && time <= scopes.runBegin[run] + scopes.runLength[run] + near) return run;
    }
    return -1;
  };
  const describe = (event: MouseEvent): void => {
    const run = runAt(event);
    if (run < 0) return setTip(null);
    const scope = scopes.runScope[run];
    const begin = scopes.runBegin[run];
    const category = texts[scopes.category[scope]];
    setTip({
      x: event.clientX,
      y: event.clientY,
      title: scopePath(scopes, texts, scope),
      lines: [
        ...(category === "" ? [] : [`category ${category}`]),
        `${units.length(scopes.runLength[run], summary.time_unit)}, from ${units.moment(begin, summary.time_unit)} to ${units.moment(begin + scopes.runLength[run], summary.time_unit)}`,
        `${units.change(scopes.runGrowth[run])} on all devices`,
        ...((scopes.runFlags[run] & 2) !== 0 ? ["open at the end"] : (scopes.runFlags[run] & 1) !== 0 ? ["ended by an outer one"] : []),
      ],
    });
  };
  useLayoutEffect(() => {
    const element = canvas.current;
    if (!element) return;
    const wheel = (event: WheelEvent): void => {
      if (!event.ctrlKey && !event.shiftKey && viewHeight < height) return; // scrolls the lanes
      const { state: now, change: set } = latest.current;
      event.preventDefault();
      if (event.shiftKey) return set({ zoom: moved(now.zoom, all, Math.sign(event.deltaX || event.deltaY) * 0.15) });
      const [first, last] = now.zoom ?? [0, all];
      const about = first + ((event.clientX - element.getBoundingClientRect().left - kAxisLeft) / plotWidth) * (last - first);
      set({ zoom: zoomed(now.zoom, all, about, event.deltaY > 0 ? 1.35 : 1 / 1.35) });
    };
    element.addEventListener("wheel", wheel, { passive: false });
    return () => element.removeEventListener("wheel", wheel);
  }, [width, all, height]);

  if (scopes.runScope.length === 0) return null;
  return (
    <section class="panel gantt">
      <header>
        <b>scopes</b>
        <span class="dim">
          {units.counted(scopes.runScope.length, "run")}
          {scopes.leftOut > 0 ? `; ${units.count(scopes.leftOut)} more are not drawn: heapprof keeps the longest and the newest` : ""}
        </span>
      </header>
      <div ref={holder} class="lanes" style={{ height: `${viewHeight}px` }} onScroll={(event) => setScrolled((event.currentTarget as HTMLElement).scrollTop)}>
        <div style={{ height: `${height}px` }}>
          <canvas
            ref={canvas}
            class="sticky"
            onMouseDown={(event) => {
              if (state.zoom) dragged.current = { x: event.clientX, zoom: state.zoom };
            }}
            onMouseMove={(event) => {
              const drag = dragged.current;
              if (drag && event.buttons === 1) {
                setTip(null);
                change({ zoom: moved(drag.zoom, all, (drag.x - event.clientX) / plotWidth) });
              } else {
                dragged.current = null;
                describe(event);
              }
            }}
            onMouseUp={() => (dragged.current = null)}
            onMouseLeave={() => setTip(null)}
            onDblClick={(event) => {
              const run = runAt(event);
              if (run < 0) return change({ zoom: null });
              const begin = scopes.runBegin[run];
              const span = Math.max(scopes.runLength[run], 10);
              change({ zoom: [Math.max(0, begin - span * 0.05), Math.min(all, begin + span * 1.05)] });
            }}
          />
        </div>
      </div>
      <Tooltip tip={tip} />
    </section>
  );
}
