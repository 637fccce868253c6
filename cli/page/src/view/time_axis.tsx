// cli/page/src/view/time_axis.tsx: one time axis, with a panel for each device and the scopes below them. Each panel
// has its own scale, because on a common scale a GPU would flatten the host to nothing.
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import uPlot from "uplot";
import type { Device, Profile, Timeline } from "../data/profile";
import type { PlaceSeries, PlaceRow } from "../model/sites";
import type { Change, State } from "../state";
import * as units from "../model/units";
import { placeColour, themeColour } from "./colours";
import { useWidth } from "./use_width";

export const kAxisLeft = 76; // pixels, in all panels, so that equal times are below each other
export const kAxisRight = 14;
const kPanelHeight = 118;
const kTopPlaces = 5;
// A bucket of a curve has one largest and one smallest value; a slope between two buckets would be invented.
const stepped = uPlot.paths.stepped?.({ align: 1 });

/** The curve of another run, drawn over the device's own. */
export interface OtherCurve {
  name: string;
  timeline: Timeline;
  /** The other run's time for a time of this axis. */
  toOther: (time: number) => number;
}

/** Multiples of a power of two, up to `most`: about four of them. */
export function byteTicks(most: number): number[] {
  let step = 1;
  while (most / step > 5) step *= 2;
  const ticks: number[] = [];
  for (let at = 0; at <= most; at += step) ticks.push(at);
  return ticks;
}

/** The part of a zoom that lies on the axis; null: the zoom shows the whole axis, or there is no zoom. */
export function clampedZoom(zoom: [number, number] | null, all: number): [number, number] | null {
  if (!zoom) return null;
  const least = Math.min(Math.max(all / 1e6, 10), all);
  const from = Math.min(Math.max(zoom[0], 0), all - least);
  const to = Math.min(Math.max(zoom[1], from + least), all);
  return from <= 0 && to >= all ? null : [from, to];
}

/** Zooms in or out around a time: a factor above 1 shows more. Null: the whole axis is shown. */
export function zoomed(zoom: [number, number] | null, all: number, about: number, factor: number): [number, number] | null {
  const [from, to] = zoom ?? [0, all];
  const span = Math.min(Math.max((to - from) * factor, Math.max(all / 1e6, 10)), all);
  const start = Math.min(Math.max(about - ((about - from) / (to - from)) * span, 0), all - span);
  return span >= all ? null : [start, start + span];
}

export function moved(zoom: [number, number] | null, all: number, share: number): [number, number] | null {
  if (!zoom) return null;
  const span = zoom[1] - zoom[0];
  const from = Math.min(Math.max(zoom[0] + span * share, 0), all - span);
  return [from, from + span];
}

/** What one device had live, as a curve, with its largest places stacked under it. */
export function DevicePanel(props: {
  profile: Profile;
  device: Device;
  series: PlaceSeries;
  rows: PlaceRow[];
  state: State;
  change: Change;
  isLast: boolean;
  other?: OtherCurve;
  all: number; // the end of the axis
}) {
  const { profile, device, series, rows, state, change, isLast, other, all } = props;
  const holder = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const latest = useRef({ state, change });
  latest.current = { state, change };
  const here = useRef<HTMLSpanElement>(null); // the text for the position of the pointer
  const width = useWidth(holder);
  const unit = profile.summary.time_unit;
  const top = useMemo(() => {
    if (device.sites.bounds.length === 0) return [];
    return [...rows].sort((a, b) => b.peak - a.peak || a.place - b.place).slice(0, kTopPlaces).filter((row) => row.peak > 0);
  }, [rows, device]);
  const data = useMemo(() => panelData(device, series, top, all, other), [device, series, top, all, other, themeOf(state.theme)]);

  useLayoutEffect(() => {
    if (!holder.current || width === 0) return;
    const ink = themeColour("ink-2");
    const grid = themeColour("line");
    const most = Math.max(data.most, 1);
    const options: uPlot.Options = {
      width,
      height: kPanelHeight + (isLast ? 30 : 0),
      padding: [8, kAxisRight, isLast ? 0 : 4, 0],
      legend: { show: false },
      cursor: { y: false, sync: { key: "time" }, drag: { x: true, y: false, setScale: false }, points: { show: false }, focus: { prox: -1 } },
      scales: { x: { time: false, range: () => latest.current.state.zoom ?? [0, all] }, y: { range: [0, most * 1.04] } },
      axes: [
        { show: isLast, stroke: ink, grid: { stroke: grid, width: 1 }, ticks: { stroke: grid, width: 1 }, size: 30, font: "11px system-ui, sans-serif", values: (_, splits) => splits.map((split) => (split === 0 ? "0" : units.moment(Math.round(split), unit))) },
        { size: kAxisLeft, stroke: ink, grid: { stroke: grid, width: 1 }, ticks: { show: false }, font: "11px system-ui, sans-serif", splits: () => byteTicks(most), values: (_, splits) => splits.map((split) => (split === 0 ? "0" : units.bytes(split))) },
      ],
      series: [
        {},
        ...data.series.map((one) => ({ paths: stepped, stroke: one.stroke ?? "transparent", width: one.stroke ? 1.25 : 0, dash: one.dash, fill: one.fill, points: { show: false } })),
      ],
      hooks: {
        setSelect: [
          (self) => {
            if (self.select.width < 3) return;
            const from = self.posToVal(self.select.left, "x");
            const to = self.posToVal(self.select.left + self.select.width, "x");
            self.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
            latest.current.change({ range: [Math.max(0, Math.round(from)), Math.min(all, Math.round(to))] });
          },
        ],
        setCursor: [
          (self) => {
            const at = self.cursor.idx;
            const value = at === null || at === undefined ? null : self.data[1][at];
            if (here.current) here.current.textContent = value === null || value === undefined || at === null || at === undefined ? "" : `${units.moment(Math.round(self.data[0][at]), unit)}: ${units.bytes(value)}`;
          },
        ],
        draw: [(self) => drawNotes(self, device, profile, latest.current.state)],
      },
    };
    const made = new uPlot(options, [data.x, ...data.series.map((one) => one.values)] as uPlot.AlignedData, holder.current);
    plot.current = made;
    const wheel = (event: WheelEvent): void => {
      const { state: now, change: set } = latest.current;
      const sideways = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
      if (sideways && !now.zoom) return;
      event.preventDefault();
      if (sideways) return set({ zoom: moved(now.zoom, all, Math.sign(event.deltaX || event.deltaY) * 0.15) });
      const about = made.posToVal(event.clientX - made.over.getBoundingClientRect().left, "x");
      set({ zoom: zoomed(now.zoom, all, about, event.deltaY > 0 ? 1.35 : 1 / 1.35) });
    };
    made.over.addEventListener("wheel", wheel, { passive: false });
    made.over.addEventListener("dblclick", () => latest.current.change({ zoom: null }));
    return () => {
      made.destroy();
      plot.current = null;
    };
  }, [data, width, isLast]);
  useEffect(() => {
    const [min, max] = state.zoom ?? [0, all];
    plot.current?.setScale("x", { min, max });
  }, [state.zoom, all]);
  useEffect(() => plot.current?.redraw(false), [state.range, state.device]);

  const name = device.summary.name;
  return (
    <section class={`panel ${state.device === device.number ? "chosen" : ""}`}>
      <header>
        <button class="plain" onClick={() => change({ device: device.number })}>{name}</button>
        <span class="dim">
          peak {units.bytes(device.summary.peak_bytes)} at {units.moment(device.summary.peak_at, unit)}
        </span>
        <span class="here" ref={here} />
        <span class="legend">
          {top.map((row, rank) => (
            <span key={row.place} title={`${row.function} ${row.location}`}>
              <i style={{ background: placeColour(rank) }} />
              {top.some((other) => other !== row && other.function === row.function) ? `${row.function} ${row.location.slice(row.location.lastIndexOf("/") + 1)}` : row.function}
            </span>
          ))}
          {top.length > 0 && <span><i style={{ background: "var(--area)" }} />others</span>}
          {other && <span><i class="dashed" />{other.name}</span>}
        </span>
      </header>
      <div ref={holder} class="plot" />
    </section>
  );
}

/** The theme in effect: the user's, or else the system's. */
function themeOf(chosen: string): string {
  return chosen !== "" ? chosen : window.matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

interface Curve {
  values: (number | null)[];
  fill?: string;
  stroke?: string;
  dash?: number[];
}

const kMostPoints = 8192;

/** Smallest and largest value of a curve between two times; null: the curve has no values there. */
function extent({ bucket, min, max }: Timeline, from: number, to: number): [number, number] | null {
  const first = Math.max(0, Math.floor(from / bucket));
  const last = Math.min(max.length - 1, Math.max(first, Math.ceil(to / bucket) - 1));
  if (first >= max.length || to < 0) return null;
  let [least, most] = [min[first], max[first]];
  for (let i = first + 1; i <= last; i++) {
    least = Math.min(least, min[i]);
    most = Math.max(most, max[i]);
  }
  return [least, most];
}

function panelData(device: Device, series: PlaceSeries, top: PlaceRow[], all: number, other?: OtherCurve): { x: number[]; series: Curve[]; most: number } {
  const { timeline } = device;
  const end = timeline.bucket * timeline.max.length;
  const step = Math.max(timeline.bucket, all / kMostPoints, 1);
  const x: number[] = [];
  for (let at = 0; at < all; at += step) x.push(at);
  x.push(all);
  const extents = x.map((at, i) => (at > end ? null : extent(timeline, Math.min(at, end - 1), i + 1 < x.length ? x[i + 1] : all)));
  const maxima = extents.map((of) => (of ? of[1] : null));
  const curves: Curve[] = [{ values: maxima, fill: themeColour("area"), stroke: themeColour("curve") }];
  const bounds = device.sites.bounds;
  let sum = new Float64Array(x.length);
  const stacked: Curve[] = [];
  top.forEach((row, rank) => {
    const live = series.live[row.place];
    const next = new Float64Array(x.length);
    let at = 0;
    x.forEach((time, i) => {
      while (at + 1 < bounds.length - 1 && bounds[at + 1] <= time) at++;
      const span = bounds[at + 1] - bounds[at];
      const share = span > 0 ? Math.min(Math.max((time - bounds[at]) / span, 0), 1) : 0;
      next[i] = Math.min(sum[i] + live[at] + (live[at + 1] - live[at]) * share, maxima[i] ?? 0);
    });
    sum = next;
    stacked.push({ values: Array.from(next, (value, i) => (maxima[i] === null ? null : value)), fill: placeColour(rank) });
  });
  // The largest sum is drawn first, and the smaller ones over it.
  curves.push(...stacked.reverse());
  curves.push({ values: extents.map((of) => (of ? of[0] : null)), stroke: themeColour("faint") });
  let most = device.summary.peak_bytes;
  if (other) {
    const values = x.map((at, i) => extent(other.timeline, other.toOther(at), other.toOther(i + 1 < x.length ? x[i + 1] : all))?.[1] ?? null);
    for (const value of values) most = Math.max(most, value ?? 0);
    curves.push({ values, stroke: themeColour("other"), dash: [5, 3] });
  }
  return { x, series: curves, most };
}

/** The chosen range, marks, and the peak. */
function drawNotes(plot: uPlot, device: Device, profile: Profile, state: State): void {
  const { ctx: context, bbox } = plot;
  const ratio = uPlot.pxRatio;
  const at = (time: number): number => plot.valToPos(time, "x", true);
  context.save();
  context.beginPath();
  context.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  context.clip();
  if (state.range) {
    const [from, to] = [at(state.range[0]), at(state.range[1])];
    context.fillStyle = themeColour("veil");
    context.fillRect(bbox.left, bbox.top, from - bbox.left, bbox.height);
    context.fillRect(to, bbox.top, bbox.left + bbox.width - to, bbox.height);
    context.fillStyle = themeColour("accent");
    for (const edge of [from, to]) context.fillRect(edge - ratio / 2, bbox.top, ratio, bbox.height);
  }
  context.strokeStyle = themeColour("mark");
  context.lineWidth = ratio;
  context.setLineDash([2 * ratio, 3 * ratio]);
  const marks = profile.scopes.markAt;
  let before = -10;
  for (let i = 0; i < marks.length; i++) {
    const x = at(marks[i]);
    if (x - before < 2 * ratio) continue;
    before = x;
    context.beginPath();
    context.moveTo(x, bbox.top);
    context.lineTo(x, bbox.top + bbox.height);
    context.stroke();
  }
  context.setLineDash([]);
  // Marks where ranges can begin and end.
  context.fillStyle = themeColour("ink-2");
  for (const bound of device.sites.bounds) context.fillRect(at(bound) - ratio / 2, bbox.top + bbox.height - 4 * ratio, ratio, 4 * ratio);
  if (profile.summary.runs === 1 && device.timeline.max.length > 0) {
    const x = at(device.summary.peak_at);
    const y = plot.valToPos(device.summary.peak_bytes, "y", true);
    context.fillStyle = themeColour("accent");
    context.strokeStyle = themeColour("paper");
    context.lineWidth = 1.5 * ratio;
    context.beginPath();
    context.arc(x, y, 4 * ratio, 0, 2 * Math.PI);
    context.fill();
    context.stroke();
  }
  context.restore();
}
