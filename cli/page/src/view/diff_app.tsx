// cli/page/src/view/diff_app.tsx: two runs: what changed, when, and which places explain it.
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import type { Diff, DeviceDiff } from "../data/diff";
import type { Profile } from "../data/profile";
import type { DeviceSummary, Metric } from "../data/summary";
import { align, toBase, type AxisBy } from "../model/align";
import { jointShapeOf, linked, type Shape } from "../model/flame";
import { placeRows, seriesOf } from "../model/sites";
import type { Change, State, Widths } from "../state";
import * as units from "../model/units";
import { searchOf } from "./app";
import { Bytes } from "./bytes";
import { DataTable, type Column } from "./data_table";
import { FlameView } from "./flame_view";
import { Gantt } from "./gantt";
import { clampedZoom, DevicePanel } from "./time_axis";


/** A tree of both runs: `value` gives the width of each box, `growth` how much more it has than before. */
function differenceOf(shape: Shape, diff: DeviceDiff, metric: Metric, widths: Widths, allFrames: boolean) {
  const nodes = shape.parent.length;
  const base = new Float64Array(nodes);
  const current = new Float64Array(nodes);
  const { base: ofBase, current: ofCurrent } = diff.ofStack[metric];
  for (let i = 0; i < diff.stacks; i++) {
    const node = allFrames ? diff.node[i] : diff.placeNode[i];
    const at = node === 0 ? shape.noStack : diff.isCurrent[i] !== 0 ? shape.ofSecondNode[node] : shape.ofNode[node];
    base[at] += ofBase[i];
    current[at] += ofCurrent[i];
  }
  const value = new Float64Array(nodes);
  for (let i = 0; i < nodes; i++) value[i] = widths === "change" ? Math.abs(current[i] - base[i]) : widths === "base" ? base[i] : current[i];
  for (let i = nodes - 1; i > 0; i--) {
    const parent = shape.parent[i];
    base[parent] += base[i];
    current[parent] += current[i];
    value[parent] += value[i];
  }
  const growth = new Float64Array(nodes);
  for (let i = 0; i < nodes; i++) growth[i] = current[i] === base[i] ? 0 : (current[i] - base[i]) / Math.max(widths === "change" ? value[i] : Math.max(base[i], current[i]), 1);
  return { flame: linked(shape.parent, shape.frame, value), base, current, growth };
}

interface PlaceChange {
  place: number;
  function: string;
  location: string;
  base: number;
  current: number;
}

/** Name, base and current (null: not known), and whether they are bytes. */
type Fact = [string, number | null, number | null, boolean];

/** Facts about the resident set, which is sampled, as the text of heapprof diff has them. */
function residentFacts(before: DeviceSummary | null, now: DeviceSummary | null): Fact[] {
  const all: Fact[] = [
    ["resident at most", before?.resident_max_bytes || null, now?.resident_max_bytes || null, true],
    ["resident, unused", before?.unused_resident_bytes ?? null, now?.unused_resident_bytes ?? null, true],
    ["not touched", before?.untouched_bytes ?? null, now?.untouched_bytes ?? null, true],
  ];
  return all.filter(([, from, to]) => from !== null || to !== null);
}

function Changed({ base, current, isBytes = true }: { base: number; current: number; isBytes?: boolean }) {
  const text = units.change(current - base, isBytes ? units.bytes : units.count);
  return <span class={current > base ? "grew" : current < base ? "shrank" : ""} title={isBytes ? units.change(current - base, units.bytesExact) : ""}>{text}</span>;
}

export function DiffApp({ diff, profiles, state, change, version }: { diff: Diff; profiles: [Profile, Profile]; state: State; change: Change; version: string }) {
  const [base, current] = profiles;
  const chosen = diff.devices[Math.min(state.device, diff.devices.length - 1)];
  const metrics = current.summary.metrics.filter((metric) => base.summary.metrics.includes(metric));
  const metric = metrics.includes(state.metric) ? state.metric : metrics[0];
  const isBytes = metric !== "allocations" && metric !== "temporary";
  const number = isBytes ? units.bytes : units.count;
  const shown = (value: number) => (isBytes ? <Bytes value={value} /> : units.count(value));
  const widths = state.widths;
  const search = useMemo(() => searchOf(state.search), [state.search]);
  const searchBox = useRef<HTMLInputElement>(null);
  const alignments = useMemo(() => ({ marks: align(base, current, "marks"), scopes: align(base, current, "scopes") }), [profiles]);
  const by: AxisBy = state.axis !== "time" && alignments[state.axis].shared > 0 ? state.axis : "time";
  const all = by === "time" ? Math.max(base.summary.duration, current.summary.duration, 1) : Math.max(current.summary.duration, 1);
  const zoom = useMemo(() => clampedZoom(state.zoom, all), [state.zoom, all]);
  const toOther = useMemo(() => (by === "time" ? (time: number) => time : (time: number) => toBase(alignments[by], time)), [by]);
  const shape = useMemo(() => jointShapeOf(profiles, state.allFrames), [profiles, state.allFrames]);
  const tree = useMemo(() => differenceOf(shape, chosen, metric, widths, state.allFrames), [shape, chosen, metric, widths, state.allFrames]);
  const panels = useMemo(
    () =>
      diff.devices
        .map((one) => ({ one, profile: one.current >= 0 ? current : base, device: one.current >= 0 ? current.devices[one.current] : base.devices[one.base], before: one.current >= 0 && one.base >= 0 ? base.devices[one.base] : undefined }))
        .filter(({ one, device }) => device.timeline.max.length > 0 && (device.summary.is_shown || one === chosen))
        .map((panel) => ({ ...panel, series: seriesOf(panel.device.sites), rows: placeRows(panel.profile, panel.device.sites, null) })),
    [diff, chosen],
  );
  const others = useMemo(
    () => panels.map(({ before }) => (before ? { name: `before: ${base.summary.file}`, timeline: before.timeline, toOther } : undefined)),
    [panels, toOther],
  );
  const rows = useMemo((): PlaceChange[] => {
    const list: PlaceChange[] = [];
    const { base: ofBase, current: ofCurrent } = chosen.ofPlace[metric];
    for (let place = 0; place < chosen.places; place++) {
      if (ofBase[place] === 0 && ofCurrent[place] === 0) continue;
      list.push({ place, function: diff.texts[chosen.placeFunction[place]], location: diff.texts[chosen.placeLocation[place]], base: ofBase[place], current: ofCurrent[place] });
    }
    return list;
  }, [chosen, metric]);
  const shownRows = useMemo(() => (search ? rows.filter((row) => search.test(row.function) || search.test(row.location)) : rows), [rows, search]);
  const sum = (of: PlaceChange[], side: "base" | "current"): number => of.reduce((total, row) => total + row[side], 0);
  const columns: Column<PlaceChange>[] = [
    { key: "place", title: "place", help: "matched by function and way there, whatever its lines and addresses are", isText: true, width: "minmax(18em, 6fr)", by: (row) => row.function, cell: (row) => <span title={`${row.function}\n${row.location}`}><button class="plain name" onClick={() => change({ search: row.function })}>{row.function}</button><span class="dim"> {row.location}</span></span>, sum: (of) => units.counted(of.length, "place") },
    { key: "base", title: "base", help: "what it had before", by: (row) => row.base, cell: (row) => shown(row.base), sum: (of) => shown(sum(of, "base")) },
    { key: "current", title: "current", help: "what it has now", by: (row) => row.current, cell: (row) => shown(row.current), sum: (of) => shown(sum(of, "current")) },
    { key: "change", title: "change", help: "sorted by how much, whichever way", by: (row) => Math.abs(row.current - row.base), cell: (row) => <Changed base={row.base} current={row.current} isBytes={isBytes} />, sum: (of) => <Changed base={sum(of, "base")} current={sum(of, "current")} isBytes={isBytes} /> },
    { key: "percent", title: "of the base", help: "new: it was not there; gone: it is no more", by: (row) => (row.base === 0 ? Infinity : Math.abs(row.current - row.base) / row.base), cell: (row) => units.changePercent(row.base, row.current), sum: (of) => units.changePercent(sum(of, "base"), sum(of, "current")) },
  ];
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const isTyping = event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement;
      if (event.key === "Escape") {
        if (isTyping) (event.target as HTMLElement).blur();
        if (state.search !== "") change({ search: "" });
        else if (state.zoom) change({ zoom: null });
        return;
      }
      if (isTyping) return;
      if (event.key === "/") {
        event.preventDefault();
        searchBox.current?.focus();
      } else if (/^[1-5]$/.test(event.key)) {
        const wanted = metrics[Number(event.key) - 1];
        if (wanted) change({ metric: wanted });
      } else if (event.key === "d") change({ device: (state.device + 1) % diff.devices.length });
      else if (event.key === "a") change({ allFrames: !state.allFrames });
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  });

  useEffect(() => {
    const { heapprof } = window as unknown as { heapprof?: object };
    if (heapprof) Object.assign(heapprof, { shown: { device: chosen.name, metric, base: tree.base[0], current: tree.current[0], rows } });
  }, [chosen, metric, tree, rows]);
  const [first, ...further] = [...diff.sentences];
  const word = (one: Metric): string => (one === "leaked" ? current.summary.live_word : one);
  const net = tree.current[0] - tree.base[0];
  const joint = useMemo(() => jointNames(profiles), [profiles]);
  const shownFlame = useMemo(
    () => (
      <FlameView
        profile={joint}
        flame={tree.flame}
        growth={tree.growth}
        search={search}
        onSearch={(name) => change({ search: name })}
        text={{
          number,
          exact: isBytes ? units.bytesExact : units.countExact,
          label: (node) => units.change(tree.current[node] - tree.base[node], number),
          percent: (value) => `${units.percent(value, tree.flame.value[0])} of ${widths === "change" ? "what changed" : widths}`,
          root: `${chosen.name}   ${word(metric)}   ${units.change(net, number)}`,
          more: (node) => [`${number(tree.base[node])} → ${number(tree.current[node])}, ${units.change(tree.current[node] - tree.base[node], number)} (${units.changePercent(tree.base[node], tree.current[node])})`],
        }}
      />
    ),
    [joint, tree, search, state.theme, metric, chosen],
  );
  return (
    <>
      <header class="two">
        {profiles.map((profile, side) => [
          <b key={side}>{side === 0 ? "base" : "current"}</b>,
          <span key={`${side}.`} title={profile.summary.command}>{profile.summary.file}   <span class="dim">{[profile.summary.command, profile.summary.started, units.length(profile.summary.duration, profile.summary.time_unit), profile.summary.end].filter((text) => text !== "").join("   ")}</span></span>,
        ])}
        <span class="buttons"><button onClick={() => change({ theme: state.theme === "dark" ? "light" : state.theme === "light" ? "" : "dark" })} title="dark, light, as the system has it">{state.theme === "" ? "◐" : state.theme === "dark" ? "●" : "○"}</button></span>
      </header>
      <h1>{first ?? "nothing to compare"}</h1>
      {further.length > 0 && <ul class="sentences">{further.map((sentence) => <li key={sentence}>{sentence}</li>)}</ul>}
      {diff.remarks.map((remark) => <div class="dim" key={remark}>{remark}</div>)}
      <div class="cards">
        {diff.devices.map((one, index) => {
          const device = one.current >= 0 ? current.devices[one.current] : base.devices[one.base];
          if (!device.summary.is_shown && one !== chosen) return null;
          const before = one.base >= 0 ? base.devices[one.base].summary : null;
          const now = one.current >= 0 ? current.devices[one.current].summary : null;
          const facts: Fact[] = [
            ...(current.summary.has_lifetimes ? ([["peak", before?.peak_bytes ?? 0, now?.peak_bytes ?? 0, true], [current.summary.live_word, before?.leaked_bytes ?? 0, now?.leaked_bytes ?? 0, true]] as Fact[]) : []),
            ["total", before?.total_bytes ?? 0, now?.total_bytes ?? 0, true],
            ["allocations", before?.total_blocks ?? 0, now?.total_blocks ?? 0, false],
            ...residentFacts(before, now),
          ];
          return (
            <button key={one.name} class={`card wide ${one === chosen ? "chosen" : ""}`} aria-pressed={one === chosen} data-device={one.name} onClick={() => change({ device: index })}>
              <span class="device">{one.name}{!before && <span class="dim"> new</span>}{!now && <span class="dim"> gone</span>}</span>
              <span class="changes">
                {facts.map(([name, from, to, areBytes]) => {
                  const written = (value: number | null) => (value === null ? "-" : areBytes ? units.bytes(value) : units.count(value));
                  return [
                    <span key={name}>{name}</span>,
                    <span key={`${name}1`}>{written(from)} → {written(to)}</span>,
                    from === null || to === null ? <span key={`${name}2`} /> : <Changed key={`${name}2`} base={from} current={to} isBytes={areBytes} />,
                    <span key={`${name}3`}>{from === null || to === null ? "" : units.changePercent(from, to)}</span>,
                  ];
                })}
              </span>
            </button>
          );
        })}
      </div>
      {panels.length > 0 && (
        <div class="axis">
          <div class="bar-line">
            <b>over time</b>
            <span class="segments" role="radiogroup" aria-label="axis">
              {(["time", "marks", "scopes"] as AxisBy[]).map((one) => {
                const shared = one === "time" ? 1 : alignments[one].shared;
                return <button key={one} role="radio" aria-checked={by === one} disabled={shared === 0} class={by === one ? "on" : ""} title={one === "time" ? "as it passed" : shared === 0 ? `the runs share no ${one}` : `${shared} moments lie below each other`} onClick={() => change({ axis: one, zoom: null })}>by {one}</button>;
              })}
            </span>
            <span class="dim">filled: current; dashed: base{by === "time" ? "" : `, stretched so that ${alignments[by].shared} shared moments meet`}   wheel: zoom</span>
            {zoom && <button class="chip" onClick={() => change({ zoom: null })}>zoomed to {units.length(Math.round(zoom[1] - zoom[0]), current.summary.time_unit)} ✕</button>}
          </div>
          {panels.map(({ one, profile, device, series, rows: placesOfDevice }, i) => (
            <DevicePanel key={one.name} profile={profile} device={device} series={series} rows={placesOfDevice} state={{ ...state, zoom, range: null, device: one === chosen ? device.number : -1 }} change={(part) => change(part.device !== undefined ? { device: diff.devices.indexOf(one) } : { zoom: clampedZoom(part.range ?? part.zoom ?? null, all) })} isLast={i === panels.length - 1} other={others[i]} all={all} />
          ))}
          <Gantt profile={current} state={{ ...state, zoom, range: null }} change={change} all={all} />
        </div>
      )}
      <div class="bar-line tools">
        <span class="segments" role="radiogroup" aria-label="what is counted">
          {metrics.map((one, i) => <button key={one} role="radio" aria-checked={metric === one} class={metric === one ? "on" : ""} title={`key ${i + 1}`} onClick={() => change({ metric: one, sort: "" })}>{word(one)}</button>)}
        </span>
        <select aria-label="device" value={diff.devices.indexOf(chosen)} onChange={(event) => change({ device: Number((event.currentTarget as HTMLSelectElement).value) })}>
          {diff.devices.map((one, i) => <option key={one.name} value={i}>{one.name}</option>)}
        </select>
        <select aria-label="widths" value={widths} onChange={(event) => change({ widths: (event.currentTarget as HTMLSelectElement).value as Widths })}>
          <option value="change">boxes as wide as what changed</option>
          <option value="current">as wide as current</option>
          <option value="base">as wide as base</option>
        </select>
        <button class={`chip ${state.allFrames ? "off" : ""}`} onClick={() => change({ allFrames: !state.allFrames })} title="key a">{state.allFrames ? "all frames" : "std, allocator and runtime frames hidden ✕"}</button>
        <input ref={searchBox} type="search" placeholder="find a function or a file   /" value={state.search} onInput={(event) => change({ search: (event.currentTarget as HTMLInputElement).value })} aria-label="find" />
      </div>
      <div class="dim" data-legend>
        {word(metric)} of {chosen.name}: {number(tree.base[0])} → {number(tree.current[0])}, <span class="grew">red grew</span>, <span class="shrank">green shrank</span>; {units.change(net, number)} in all{widths === "change" ? `: the widths add what grew and what shrank, ${number(tree.flame.value[0])}` : ""}
      </div>
      {shownFlame}
      <h2>what explains the change</h2>
      <DataTable name="changes" rows={shownRows} columns={columns} sort={state.sort} usual="change" onSort={(sort) => change({ sort })} onRow={(row) => change({ search: row.function })} rowKey={(row) => row.place} empty={search ? "no place has this in its name" : "neither run had any of it"} />
      <footer class="dim">heapprof {version}   <code>heapprof diff {base.summary.file} {current.summary.file}</code> shows the same as text</footer>
    </>
  );
}

/** Both profiles as one, as far as FlameView needs it: the names of frames, those of the second after those of the first. */
function jointNames([base, current]: [Profile, Profile]): Profile {
  const first = base.texts.length;
  const texts = [...base.texts, ...current.texts];
  const both = (of: "function" | "location" | "module"): Uint32Array => {
    const column = new Uint32Array(base.tree.frames + current.tree.frames);
    column.set(base.tree[of]);
    current.tree[of].forEach((text, i) => (column[base.tree.frames + i] = first + text));
    return column;
  };
  const flags = new Uint32Array(base.tree.frames + current.tree.frames);
  flags.set(base.tree.frameFlags);
  flags.set(current.tree.frameFlags, base.tree.frames);
  return { ...current, texts, tree: { ...current.tree, function: both("function"), location: both("location"), module: both("module"), frameFlags: flags } };
}
