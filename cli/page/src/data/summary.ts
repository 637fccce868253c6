// cli/page/src/data/summary.ts: the element "summary", as cli/write/html/page_summary.cc writes it.

export type Metric = "peak" | "total" | "leaked" | "allocations" | "temporary";

export interface DeviceSummary {
  name: string;
  product: string;
  /** False for a device so small, compared with the largest one, that a report leaves it out. */
  is_shown: boolean;
  /** Its blocks lie in another device's memory and add no bytes. */
  is_inside: boolean;
  peak_bytes: number;
  peak_blocks: number;
  peak_at: number;
  total_bytes: number;
  total_blocks: number;
  leaked_bytes: number;
  leaked_blocks: number;
  suppressed_bytes: number;
  suppressed_blocks: number;
  temporary_blocks: number;
  limit_bytes: number;
  refusals: number;
  resident_max_bytes: number;
  live_at_resident_max_bytes: number;
  mapped_at_resident_max_bytes: number;
  /** Resident but unused bytes of the heap, from unused_from to the end; left out if they are a small part. */
  unused_resident_bytes?: number;
  unused_from?: number;
  /** Bytes of large blocks that were untouched at untouched_at; left out if they are a small part. */
  untouched_bytes?: number;
  untouched_at?: number;
  /** Length of a bucket of the timeline. */
  bucket: number;
  /** Least and largest size (0: no limit) of a size class, and its number of blocks. */
  sizes: [number, number, number][];
}

export interface Finding {
  kind: string;
  device: number;
  function: string;
  location: string;
  head: string;
  detail: string;
  remedy: string;
  share: string;
}

export interface Warning {
  id: string;
  what: string;
  fix: string;
}

export interface Thread {
  id: number;
  name: string;
  allocations: number;
  total_bytes: number;
  frees: number;
}

export interface Process {
  pid: number;
  parent_pid: number;
  image: number;
  command: string;
  file: string;
  memory_peak_bytes: number;
  resident_max_bytes: number;
}

export interface SideSummary {
  file: string;
  tool: string;
  command: string;
  pid: number;
  started: string;
  /** In time_unit, as all times are. */
  duration: number;
  time_unit: string;
  end: string;
  live_word: string;
  has_lifetimes: boolean;
  runs: number;
  incomplete_reason: string;
  lost_events: number;
  truncated_stacks: number;
  allocations: number;
  frees: number;
  machine: string;
  allocator: string;
  largest_device: number;
  /** The page was requested with all frames, system frames too. */
  all_frames: boolean;
  sentence: string;
  /** The lines to read first. Their labels are "worst" or "most", and "time". */
  conclusion: { label: string; sentence: string }[];
  metrics: Metric[];
  devices: DeviceSummary[];
  findings: Finding[];
  warnings: Warning[];
  threads_count: number;
  threads: Thread[];
  processes: Process[];
  other_processes: number;
  hidden_frames: number;
  folded?: string[];
}

export interface DiffSummary {
  sentences?: string[];
  remarks?: string[];
  /** Numbers of each device in the two profiles, from 1; 0: the profile does not have it. */
  devices: { name: string; base: number; current: number }[];
}

export interface Summary {
  version: string;
  sides: SideSummary[]; // one, or for a difference base and current
  diff?: DiffSummary;
}

export function readSummary(): Summary {
  return JSON.parse(document.getElementById("summary")?.textContent ?? "") as Summary;
}
