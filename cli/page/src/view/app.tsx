// cli/page/src/view/app.tsx: the page from top to bottom, and the keys.
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import type { Profile } from "../data/profile";
import type { Metric } from "../data/summary";
import { bottomUp, shapeOf, topDown } from "../model/flame";
import { metricOf, nearestRange, placeRows, rangeOf, seriesOf } from "../model/sites";
import type { Change, State, Tab } from "../state";
import * as units from "../model/units";
import { Cards } from "./cards";
import { FlameView } from "./flame_view";
import { Gantt } from "./gantt";
import { PlacesTab } from "./places_tab";
import { CoverageTab, FindingsTab, ProcessesTab, ScopesTab, SizesTab, ThreadsTab } from "./tabs";
import { clampedZoom, DevicePanel } from "./time_axis";

/** Searches for the words literally, in upper or lower case. No regular expressions: an address could contain one that never ends. */
export function searchOf(text: string): RegExp | null {
  return text === "" ? null : new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), "i");
}

export function App({ profile, state: chosen, change, version }: { profile: Profile; state: State; change: Change; version: string }) {
  const { summary } = profile;
  const all = Math.max(summary.duration, 1);
  const state = useMemo(() => ({ ...chosen, zoom: clampedZoom(chosen.zoom, all) }), [chosen, all]);
  const device = profile.devices[Math.min(state.device, profile.devices.length - 1)];
  const metric: Metric = summary.metrics.includes(state.metric) ? state.metric : summary.metrics[0];
  const search = useMemo(() => searchOf(state.search), [state.search]);
  const searchBox = useRef<HTMLInputElement>(null);
  const range = useMemo(() => (state.range ? nearestRange(device.sites, state.range[0], state.range[1]) : null), [device, state.range]);
  const inRange = useMemo(() => (range ? rangeOf(device.sites, range) : null), [device, range]);
  const ofRange = useMemo(
    () =>
      profile.devices.map((one) => {
        const own = state.range && nearestRange(one.sites, state.range[0], state.range[1]);
        return own ? rangeOf(one.sites, own).bytes.reduce((sum, bytes) => sum + bytes, 0) : null;
      }),
    [profile, state.range],
  );
  const series = useMemo(() => profile.devices.map((one) => seriesOf(one.sites)), [profile]);
  const allRows = useMemo(() => profile.devices.map((one) => placeRows(profile, one.sites, null)), [profile]);
  const rows = useMemo(() => (inRange ? placeRows(profile, device.sites, inRange.bytes).filter((row) => row.inRange > 0) : allRows[device.number]), [inRange, device]);
  const shape = useMemo(() => shapeOf(profile, state.allFrames), [profile, state.allFrames]);
  const weights = inRange ? { weight: inRange.bytes, isBytes: true } : metricOf(device.sites, metric);
  const ofSite = state.allFrames ? device.sites.node : device.sites.placeNode;
  const flame = useMemo(
    () => (state.direction === "down" ? topDown(shape, ofSite, weights.weight) : bottomUp(shape, ofSite, weights.weight)),
    [shape, ofSite, weights.weight, state.direction],
  );
  const shownDevices = profile.devices.filter((one) => one.timeline.max.length > 0 && (one.summary.is_shown || one.number === device.number));
  const boundsText = range ? `${units.moment(device.sites.bounds[range.from], summary.time_unit)} to ${units.moment(device.sites.bounds[range.to], summary.time_unit)}` : "";
  const number = (value: number): string => (weights.isBytes ? units.bytes(value) : units.counted(value, "alloc"));

  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const isTyping = event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement;
      if (event.key === "Escape") {
        if (isTyping) (event.target as HTMLElement).blur();
        if (state.help) change({ help: false });
        else if (state.search !== "") change({ search: "" });
        else if (state.range) change({ range: null });
        else if (state.zoom) change({ zoom: null });
        return;
      }
      if (isTyping) return;
      if (event.key === "/") {
        event.preventDefault();
        searchBox.current?.focus();
      } else if (event.key === "?") change({ help: !state.help });
      else if (/^[1-5]$/.test(event.key)) {
        const chosen = summary.metrics[Number(event.key) - 1];
        if (chosen) change({ metric: chosen, range: null });
      } else if (event.key === "d") change({ device: (device.number + 1) % profile.devices.length });
      else if (event.key === "u") change({ direction: state.direction === "down" ? "up" : "down" });
      else if (event.key === "a") change({ allFrames: !state.allFrames });
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  });

  const sorting = { sort: state.sort, onSort: (sort: string) => change({ sort }) };
  // A zoom changes neither the flame graph nor the table, so these are not rendered again.
  const shownFlame = useMemo(
    () => (
      <FlameView
        profile={profile}
        flame={flame}
        search={search}
        onSearch={(name) => change({ search: name })}
        text={{
          number,
          exact: weights.isBytes ? units.bytesExact : units.countExact,
          percent: (value) => `${units.percent(value, flame.value[0])} of ${inRange ? "the range" : metric === "leaked" ? `what is ${summary.live_word}` : `the ${metric}`}`,
          root: `${device.summary.name}   ${inRange ? boundsText : metric === "leaked" ? summary.live_word : metric}   ${number(flame.value[0])}`,
        }}
      />
    ),
    [profile, flame, search, state.theme, metric, boundsText],
  );
  const shownTab = useMemo(
    () => (
      <>
        {state.tab === "places" && <PlacesTab profile={profile} device={device} rows={rows} series={series[device.number]} search={search} state={{ ...state, metric }} change={change} isRange={inRange !== null} />}
        {state.tab === "findings" && <FindingsTab profile={profile} change={change} />}
        {state.tab === "scopes" && <ScopesTab profile={profile} {...sorting} />}
        {state.tab === "threads" && <ThreadsTab profile={profile} {...sorting} />}
        {state.tab === "processes" && <ProcessesTab profile={profile} />}
        {state.tab === "sizes" && <SizesTab device={device} />}
        {state.tab === "coverage" && <CoverageTab profile={profile} device={device} />}
      </>
    ),
    [profile, state.tab, state.sort, state.search, rows, series, search, metric, device, inRange],
  );
  const tabs: [Tab, string][] = [
    ["places", `places ${units.count(rows.length)}`],
    ["findings", `findings ${summary.findings.length}`],
    ["scopes", `scopes ${units.count(profile.scopes.name.length)}`],
    ["threads", `threads ${units.count(summary.threads_count)}`],
    ["processes", `processes ${units.count(summary.processes.length + summary.other_processes + 1)}`],
    ["sizes", "sizes"],
    ["coverage", summary.warnings.length > 0 ? `coverage: ${units.counted(summary.warnings.length, "warning")}` : "coverage"],
  ];
  const hasRanges = device.sites.bounds.length > 1;
  return (
    <>
      <header class="top">
        <span class="command" title={summary.command}>{summary.command || summary.file}</span>
        <span class="dim">
          {[summary.started, units.length(summary.duration, summary.time_unit), summary.end, summary.pid ? `pid ${summary.pid}` : "", summary.runs > 1 ? `${summary.runs} runs` : ""].filter((word) => word !== "").join("   ")}
        </span>
        <span class={summary.lost_events > 0 || summary.incomplete_reason !== "" ? "warning" : "dim"}>
          {summary.incomplete_reason !== "" ? `incomplete: ${summary.incomplete_reason}` : summary.tool === "heapprof" ? `${units.count(summary.lost_events)} events lost` : `of ${summary.tool}`}
        </span>
        <span class="buttons">
          <button onClick={() => change({ theme: state.theme === "dark" ? "light" : state.theme === "light" ? "" : "dark" })} title="dark, light, as the system has it">{state.theme === "" ? "◐" : state.theme === "dark" ? "●" : "○"}</button>
          <button onClick={() => change({ help: true })} title="keys">?</button>
        </span>
      </header>
      <h1>{summary.sentence}</h1>
      {summary.conclusion.map((line) => (
        <h2 class="conclusion">
          <b>{line.label}</b> {line.sentence}
        </h2>
      ))}
      <Cards profile={profile} state={{ ...state, device: device.number }} change={change} inRange={ofRange} />
      {shownDevices.length > 0 && (
        <div class="axis">
          <div class="bar-line">
            <b>over time</b>
            <span class="dim">{hasRanges ? "drag: what was allocated there and is live at the end of it   wheel: zoom" : "wheel: zoom"}</span>
            {state.range && (
              <button class="chip" onClick={() => change({ range: null })} title="Esc">
                {range ? `${boundsText}: allocated there, live at its end` : hasRanges ? "shorter than this file can tell" : "this file does not say what ranges need"} ✕
              </button>
            )}
            {state.zoom && <button class="chip" onClick={() => change({ zoom: null })}>zoomed to {units.length(Math.round(state.zoom[1] - state.zoom[0]), summary.time_unit)} ✕</button>}
          </div>
          {shownDevices.map((one, i) => (
            <DevicePanel key={one.number} profile={profile} device={one} series={series[one.number]} rows={allRows[one.number]} state={{ ...state, device: device.number, range: boundsOf(one, state.range) }} change={change} isLast={i === shownDevices.length - 1} all={all} />
          ))}
          <Gantt profile={profile} state={state} change={change} all={all} />
        </div>
      )}
      <div class="bar-line tools">
        <span class="segments" role="radiogroup" aria-label="what is counted">
          {summary.metrics.map((one, i) => (
            <button key={one} role="radio" aria-checked={!inRange && metric === one} class={!inRange && metric === one ? "on" : ""} title={`key ${i + 1}`} onClick={() => change({ metric: one, range: null, sort: "" })}>
              {one === "leaked" ? summary.live_word : one}
            </button>
          ))}
          {inRange && <button class="on" role="radio" aria-checked="true">in range</button>}
        </span>
        <select aria-label="device" value={device.number} onChange={(event) => change({ device: Number((event.currentTarget as HTMLSelectElement).value) })}>
          {profile.devices.map((one) => <option key={one.number} value={one.number}>{one.summary.name}</option>)}
        </select>
        <span class="segments" role="radiogroup" aria-label="direction">
          <button role="radio" aria-checked={state.direction === "down"} class={state.direction === "down" ? "on" : ""} onClick={() => change({ direction: "down" })} title="key u">callers on top</button>
          <button role="radio" aria-checked={state.direction === "up"} class={state.direction === "up" ? "on" : ""} onClick={() => change({ direction: "up" })} title="key u">allocating on top</button>
        </span>
        <button class={`chip ${state.allFrames ? "off" : ""}`} onClick={() => change({ allFrames: !state.allFrames })} title="key a">
          {state.allFrames ? "all frames" : `${units.count(summary.hidden_frames)} std, allocator and runtime frames hidden ✕`}
        </button>
        <input ref={searchBox} type="search" placeholder="find a function or a file   /" value={state.search} onInput={(event) => change({ search: (event.currentTarget as HTMLInputElement).value })} aria-label="find" />
        {search && <span class="dim" data-found>{foundText(flame, profile, search, number)}</span>}
      </div>
      {shownFlame}
      <nav class="tabs" role="tablist">
        {tabs.map(([tab, title]) => (
          <button key={tab} role="tab" aria-selected={state.tab === tab} class={state.tab === tab ? "on" : ""} onClick={() => change({ tab, sort: "" })}>{title}</button>
        ))}
      </nav>
      <div class="tab" role="tabpanel">
        {shownTab}
      </div>
      <footer class="dim">heapprof {version}   {summary.file}   <code>heapprof report {summary.file}</code> shows the same as text</footer>
      {state.help && <Help close={() => change({ help: false })} />}
    </>
  );
}

/** The boundaries that a range is rounded to on a device, so that the shaded range is what is counted. */
function boundsOf(device: { sites: { bounds: Float64Array } & Parameters<typeof nearestRange>[0] }, times: [number, number] | null): [number, number] | null {
  if (!times) return null;
  const range = nearestRange(device.sites, times[0], times[1]);
  return range ? [device.sites.bounds[range.from], device.sites.bounds[range.to]] : times;
}

/** The sum of all functions that were found; one inside another found one counts once. */
function foundText(flame: { parent: Uint32Array; frame: Int32Array; value: Float64Array }, profile: Profile, search: RegExp, number: (value: number) => string): string {
  const isFound = new Uint8Array(flame.parent.length);
  const names = new Map<number, boolean>();
  let sum = 0;
  for (let node = 1; node < flame.parent.length; node++) {
    const frame = flame.frame[node];
    if (frame < 0) {
      isFound[node] = isFound[flame.parent[node]];
      continue;
    }
    let matches = names.get(frame);
    if (matches === undefined) {
      matches = search.test(profile.texts[profile.tree.function[frame]]) || search.test(profile.texts[profile.tree.location[frame]]);
      names.set(frame, matches);
    }
    isFound[node] = matches || isFound[flame.parent[node]] !== 0 ? 1 : 0;
    if (matches && isFound[flame.parent[node]] === 0) sum += flame.value[node];
  }
  return `${number(sum)}, ${units.percent(sum, flame.value[0])} goes through what was found`;
}

function Help({ close }: { close: () => void }) {
  const keys: [string, string][] = [
    ["1 … 5", "what is counted: peak, live at the end, total, allocations, temporary"],
    ["d", "the next device"],
    ["u", "flame graph: from callers inwards, or from allocating functions outwards"],
    ["a", "all frames, or the program's own"],
    ["/", "find a function or a file"],
    ["click, Enter", "flame graph: widen a box"],
    ["arrows", "flame graph: from box to box; table: from row to row"],
    ["drag", "over time: what was allocated there and is live at the end of it"],
    ["wheel, Shift and wheel", "over time: zoom, move"],
    ["double click", "all of the time; of a scope: its run"],
    ["Esc", "one step back: search, range, zoom"],
  ];
  return (
    <div class="help" role="dialog" aria-modal="true" aria-label="keys" onClick={close}>
      <dl>{keys.map(([key, what]) => [<dt key={key}>{key}</dt>, <dd key={what}>{what}</dd>])}</dl>
      <button ref={(button) => button?.focus()} onClick={close}>close</button>
      <p class="dim">The address of the page keeps all choices but a widened box. Bytes have all their digits where the pointer rests on them.</p>
    </div>
  );
}
