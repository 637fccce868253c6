// cli/page/src/view/tabs.tsx: the tabs other than places: findings, scopes, threads, processes, sizes, and how far the
// numbers can be trusted.
import { useMemo, useState } from "preact/hooks";
import type { Device, Profile } from "../data/profile";
import type { Process, Thread } from "../data/summary";
import { scopePath } from "../model/lanes";
import type { Change } from "../state";
import * as units from "../model/units";
import { Bytes } from "./bytes";
import { DataTable, type Column } from "./data_table";

export function FindingsTab({ profile, change }: { profile: Profile; change: Change }) {
  const { findings, devices } = profile.summary;
  if (findings.length === 0) return <p class="dim">nothing looks like a known problem</p>;
  return (
    <ol class="findings">
      {findings.map((finding, i) => (
        <li key={i}>
          <b>
            {devices[finding.device].name}: <button class="plain name" onClick={() => change({ device: finding.device, search: finding.function, tab: "places" })}>{finding.function || "no stack"}</button> {finding.head}
          </b>
          <span class="dim"> {finding.location}</span>
          <div>{finding.share}; {finding.detail}</div>
          <div class="remedy">{finding.remedy}</div>
        </li>
      ))}
    </ol>
  );
}

interface ScopeRow {
  scope: number;
  path: string;
  category: string;
  begun: number;
  time: number;
  ownTime: number;
  longest: number;
  growth: number;
}

export function ScopesTab({ profile, sort, onSort }: { profile: Profile; sort: string; onSort: (sort: string) => void }) {
  const { scopes, texts, summary } = profile;
  const rows = useMemo((): ScopeRow[] => {
    return Array.from(scopes.name, (_, scope) => ({
      scope,
      path: scopePath(scopes, texts, scope),
      category: texts[scopes.category[scope]],
      begun: scopes.begun[scope],
      time: scopes.time[scope],
      ownTime: scopes.ownTime[scope],
      longest: scopes.longest[scope],
      growth: scopes.growth[scope],
    }));
  }, [scopes]);
  const unit = summary.time_unit;
  const columns: Column<ScopeRow>[] = [
    { key: "path", title: "scope", help: "the way that leads to it", isText: true, width: "minmax(16em, 5fr)", by: (row) => row.path, cell: (row) => <span title={row.path}>{row.path}</span> },
    { key: "category", title: "category", help: "as the program gave it", isText: true, by: (row) => row.category, cell: (row) => row.category },
    { key: "begun", title: "runs", help: "how often it began", by: (row) => row.begun, cell: (row) => units.count(row.begun) },
    { key: "time", title: "time", help: "of all runs", by: (row) => row.time, cell: (row) => units.length(row.time, unit) },
    { key: "own", title: "own time", help: "without the scopes inside of it", by: (row) => row.ownTime, cell: (row) => units.length(row.ownTime, unit) },
    { key: "longest", title: "longest", help: "of one run", by: (row) => row.longest, cell: (row) => units.length(row.longest, unit) },
    { key: "growth", title: "growth", help: "allocated in the runs that the profile has, less what was freed there, on all devices", by: (row) => row.growth, cell: (row) => <span title={units.change(row.growth, units.bytesExact)}>{units.change(row.growth)}</span> },
  ];
  return <DataTable name="scopes" rows={rows} columns={columns} sort={sort} usual="time" onSort={onSort} rowKey={(row) => row.scope} empty="the program opened no scope" />;
}

export function ThreadsTab({ profile, sort, onSort }: { profile: Profile; sort: string; onSort: (sort: string) => void }) {
  const { threads, threads_count } = profile.summary;
  const sum = (of: Thread[], by: (row: Thread) => number): number => of.reduce((all, row) => all + by(row), 0);
  const columns: Column<Thread>[] = [
    { key: "name", title: "thread", help: "its name, and the kernel's number", isText: true, width: "minmax(14em, 4fr)", by: (row) => row.name, cell: (row) => <span>{row.name} <span class="dim">{row.id || ""}</span></span>, sum: () => units.counted(threads_count, "thread") },
    { key: "total", title: "allocated", help: "on the host's heap, in all", by: (row) => row.total_bytes, cell: (row) => <Bytes value={row.total_bytes} />, sum: (of) => <Bytes value={sum(of, (row) => row.total_bytes)} /> },
    { key: "blocks", title: "allocations", help: "how many", by: (row) => row.allocations, cell: (row) => units.count(row.allocations), sum: (of) => units.count(sum(of, (row) => row.allocations)) },
    { key: "frees", title: "frees", help: "of whoever's blocks", by: (row) => row.frees, cell: (row) => units.count(row.frees), sum: (of) => units.count(sum(of, (row) => row.frees)) },
  ];
  return <DataTable name="threads" rows={threads} columns={columns} sort={sort} usual="total" onSort={onSort} rowKey={(row) => `${row.id} ${row.name}`} empty="the file does not say what threads allocated" />;
}

const kMostProcesses = 1000;

export function ProcessesTab({ profile }: { profile: Profile }) {
  const { processes, other_processes, pid, command, devices } = profile.summary;
  // The program that was started is the root. A process is shown as the root's child if its parent is not known, or is
  // itself or one of its descendants.
  const children = new Map<number, Process[]>();
  const known = new Set([pid, ...processes.map((one) => one.pid)]);
  for (const one of processes) {
    if (one.pid === pid) continue;
    const parent = known.has(one.parent_pid) && one.parent_pid !== one.pid ? one.parent_pid : pid;
    const of = children.get(parent);
    if (of) of.push(one);
    else children.set(parent, [one]);
  }
  const own = devices.filter((device) => device.name === "host" || device.name === "mapped").reduce((sum, device) => sum + device.peak_bytes, 0);
  const rows: { depth: number; pid: number; command: string; peak: number; file: string }[] = [{ depth: 0, pid, command, peak: own, file: "this profile" }];
  for (const one of processes) if (one.pid === pid) rows.push({ depth: 0, ...one, peak: one.memory_peak_bytes, command: `${one.command} (before exec)` });
  const waiting = [...(children.get(pid) ?? [])].reverse().map((one) => ({ one, depth: 1 }));
  const seen = new Set<Process>();
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    if (seen.has(next.one)) continue;
    seen.add(next.one);
    rows.push({ depth: Math.min(next.depth, 12), ...next.one, peak: next.one.memory_peak_bytes });
    for (const one of [...(children.get(next.one.pid) ?? [])].reverse()) if (!seen.has(one)) waiting.push({ one, depth: next.depth + 1 });
  }
  for (const one of processes) if (one.pid !== pid && !seen.has(one)) rows.push({ depth: 1, ...one, peak: one.memory_peak_bytes });
  const most = rows.reduce((largest, row) => Math.max(largest, row.peak), 1);
  const shown = rows.slice(0, kMostProcesses);
  return (
    <div class="processes">
      <p class="dim">peaks of heap and mapped memory, added; each process has a profile of its own</p>
      {shown.map((row, i) => (
        <div class="process" key={i}>
          <span class="bar"><i style={{ width: `${(row.peak / most) * 100}%` }} /></span>
          <span class="number"><Bytes value={row.peak} /></span>
          <span style={{ paddingLeft: `${row.depth * 1.4}em` }} title={row.file}><b>{row.command}</b> <span class="dim">{row.pid} {row.file}</span></span>
        </div>
      ))}
      {rows.length > shown.length && <p class="dim">and {units.count(rows.length - shown.length)} more</p>}
      {other_processes > 0 && <p class="dim">and {units.count(other_processes)} smaller ones</p>}
    </div>
  );
}

export function SizesTab({ device }: { device: Device }) {
  const { sizes } = device.summary;
  const most = Math.max(...sizes.map((size) => size[2]), 1);
  const all = sizes.reduce((sum, size) => sum + size[2], 0);
  if (sizes.length === 0) return <p class="dim">the file does not say of what sizes the blocks were</p>;
  return (
    <div class="sizes">
      <p class="dim">{units.counted(all, "block")} of {device.summary.name} by size</p>
      {sizes.map(([least, limit, blocks]) => (
        <div class="process" key={least}>
          <span class="number wide">{limit === 0 ? `above ${units.bytes(least - 1)}` : least === 0 ? `up to ${units.bytes(limit)}` : `${units.bytes(least)} to ${units.bytes(limit)}`}</span>
          <span class="bar"><i style={{ width: `${(blocks / most) * 100}%` }} /></span>
          <span>{units.count(blocks)} <span class="dim">{units.percent(blocks, all)}</span></span>
        </div>
      ))}
    </div>
  );
}

function widest(bounds: Float64Array): number {
  let most = 0;
  for (let i = 1; i < bounds.length; i++) most = Math.max(most, bounds[i] - bounds[i - 1]);
  return most;
}

export function CoverageTab({ profile, device }: { profile: Profile; device: Device }) {
  const { summary } = profile;
  const host = summary.devices[0];
  const usable = host.resident_max_bytes;
  const seen = host.live_at_resident_max_bytes + host.mapped_at_resident_max_bytes;
  const [isOpen, setOpen] = useState(false);
  const rows: [string, string][] = [
    ["events lost", summary.tool === "heapprof" ? units.count(summary.lost_events) : "not known"],
    ["stacks cut short", units.counted(summary.truncated_stacks, "event")],
    ["allocations, frees", `${units.count(summary.allocations)}, ${units.count(summary.frees)}`],
    ["sites, frames", `${units.count(device.sites.sites)} on ${device.summary.name}, ${units.count(profile.tree.frames)}`],
    ["frames of libraries", `${units.count(summary.hidden_frames)} are hidden where they are not asked for`],
    ["wrappers", summary.folded?.length ? `${summary.folded.join(", ")}: attributed to their callers` : "none"],
    ["timeline", device.timeline.max.length > 0 ? `${units.count(device.timeline.max.length)} stretches of ${units.length(device.timeline.bucket, summary.time_unit)}; the highest and the lowest of each are exact` : "none"],
    ["ranges of time", device.sites.bounds.length > 1 ? `begin and end at one of ${device.sites.bounds.length} bounds, ticks in the panels, no more than ${units.length(widest(device.sites.bounds), summary.time_unit)} apart; numbers are exact there` : "this file does not say when blocks began and ended"],
  ];
  if (usable > 0) {
    rows.push(["resident at most", `${units.bytes(usable)} (sampled)`]);
    rows.push(["of it seen", `${units.bytes(seen)}: heap ${units.bytes(host.live_at_resident_max_bytes)}, mapped ${units.bytes(host.mapped_at_resident_max_bytes)}`]);
    rows.push(["of it not seen", seen > usable ? "nothing: not all that is seen was touched" : `${units.bytes(usable - seen)}: code, stacks, what the allocator keeps, what is mapped unseen`]);
  }
  if (summary.allocator !== "") rows.push(["allocator", summary.allocator]);
  if (summary.machine !== "") rows.push(["machine", summary.machine]);
  return (
    <div class="coverage">
      {summary.incomplete_reason !== "" && <p class="warning">incomplete: {summary.incomplete_reason}</p>}
      <dl>{rows.map(([name, value]) => [<dt key={name}>{name}</dt>, <dd key={`${name}.`}>{value}</dd>])}</dl>
      {summary.warnings.length > 0 && (
        <>
          <h3><button class="plain" onClick={() => setOpen(!isOpen)}>{units.counted(summary.warnings.length, "warning")}</button></h3>
          <ul>{summary.warnings.map((warning) => <li key={warning.id + warning.what}>{warning.what} <span class="dim">{warning.id}</span>{isOpen && warning.fix !== "" && <div class="remedy">{warning.fix}</div>}</li>)}</ul>
        </>
      )}
    </div>
  );
}
