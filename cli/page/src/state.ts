// cli/page/src/state.ts: the user's choices, in one object. The page's address has them after its "#", so a link shows
// the same view again.
import type { Metric } from "./data/summary";
import type { AxisBy } from "./model/align";

export type Tab = "places" | "findings" | "scopes" | "threads" | "processes" | "sizes" | "coverage";
export type Direction = "down" | "up";
export type Widths = "change" | "current" | "base";

export interface State {
  device: number;
  metric: Metric;
  direction: Direction;
  allFrames: boolean;
  search: string;
  tab: Tab;
  sort: string; // a column of the places; "-" in front: ascending
  range: [number, number] | null; // times; the places show what was allocated in the range and is live at its end
  zoom: [number, number] | null; // times that the axis shows; null: all
  axis: AxisBy; // of two runs
  widths: Widths; // of the boxes of a difference
  theme: "" | "light" | "dark";
  help: boolean;
}

export const kStart: State = {
  device: 0,
  metric: "peak",
  direction: "down",
  allFrames: false,
  search: "",
  tab: "places",
  sort: "",
  range: null,
  zoom: null,
  axis: "time",
  widths: "change",
  theme: "",
  help: false,
};

const kTabs: Tab[] = ["places", "findings", "scopes", "threads", "processes", "sizes", "coverage"];
const kMetrics: Metric[] = ["peak", "total", "leaked", "allocations", "temporary"];

function timesText(times: [number, number] | null): string {
  return times ? `${Math.round(times[0])}-${Math.round(times[1])}` : "";
}

function readTimes(text: string | null): [number, number] | null {
  const match = /^(\d{1,16})-(\d{1,16})$/.exec(text ?? "");
  if (!match) return null;
  const times: [number, number] = [Number(match[1]), Number(match[2])];
  return times[0] < times[1] ? times : null;
}

/** What a page begins with. */
export interface Usual {
  device: number;
  allFrames: boolean;
}

export function toHash(state: State, usual: Usual): string {
  const words = new URLSearchParams();
  const put = (name: string, value: string, usual: string): void => {
    if (value !== usual) words.set(name, value);
  };
  put("device", String(state.device), String(usual.device));
  put("metric", state.metric, kStart.metric);
  put("up", state.direction, "down");
  put("all", state.allFrames ? "1" : "0", usual.allFrames ? "1" : "0");
  put("find", state.search, "");
  put("tab", state.tab, kStart.tab);
  put("sort", state.sort, "");
  put("range", timesText(state.range), "");
  put("zoom", timesText(state.zoom), "");
  put("axis", state.axis, kStart.axis);
  put("widths", state.widths, kStart.widths);
  put("theme", state.theme, "");
  return words.toString();
}

/** A value that this page does not offer is replaced by the initial one, because an address can be written by anybody. */
export function fromHash(hash: string, devices: number, usual: Usual): State {
  const words = new URLSearchParams(hash.replace(/^#/, ""));
  const one = <T extends string>(name: string, of: T[], usual: T): T => {
    const value = words.get(name) as T;
    return of.includes(value) ? value : usual;
  };
  const device = Number(words.get("device") ?? usual.device);
  return {
    device: Number.isInteger(device) && device >= 0 && device < devices ? device : usual.device,
    metric: one("metric", kMetrics, kStart.metric),
    direction: one<Direction>("up", ["down", "up"], "down"),
    allFrames: (words.get("all") ?? (usual.allFrames ? "1" : "0")) === "1",
    search: (words.get("find") ?? "").slice(0, 200),
    tab: one("tab", kTabs, kStart.tab),
    sort: /^-?[a-z_]{1,20}$/.test(words.get("sort") ?? "") ? (words.get("sort") as string) : "",
    range: readTimes(words.get("range")),
    zoom: readTimes(words.get("zoom")),
    axis: one<AxisBy>("axis", ["time", "marks", "scopes"], kStart.axis),
    widths: one<Widths>("widths", ["change", "current", "base"], kStart.widths),
    theme: one<State["theme"]>("theme", ["", "light", "dark"], ""),
    help: false,
  };
}

export type Change = (change: Partial<State>) => void;
