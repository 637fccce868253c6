// cli/page/src/view/cards.tsx: a card for each device: how much, when, what is left.
import type { Profile } from "../data/profile";
import type { Change, State } from "../state";
import * as units from "../model/units";
import { Bytes } from "./bytes";

/** inRange: by device, the bytes that were allocated in the chosen range and are live at its end; null: not known, or no range is chosen. */
export function Cards({ profile, state, change, inRange }: { profile: Profile; state: State; change: Change; inRange: (number | null)[] }) {
  const { summary } = profile;
  const shown = summary.devices.map((device, number) => ({ device, number })).filter(({ device, number }) => device.is_shown || number === state.device);
  const small = summary.devices.map((device, number) => ({ device, number })).filter(({ device, number }) => !device.is_shown && number !== state.device);
  return (
    <div class="cards">
      {shown.map(({ device, number }) => (
        <button key={device.name} class={`card ${number === state.device ? "chosen" : ""}`} aria-pressed={number === state.device} onClick={() => change({ device: number })} data-device={device.name}>
          <span class="device">{device.name}{device.is_inside && <span class="dim"> inside another</span>}</span>
          {summary.has_lifetimes ? (
            <span class="peak" title={units.bytesExact(device.peak_bytes)}>{units.bytes(device.peak_bytes)}</span>
          ) : (
            <span class="peak" title={units.bytesExact(device.total_bytes)}>{units.bytes(device.total_bytes)}</span>
          )}
          <span class="dim">{!summary.has_lifetimes ? "allocated in all" : summary.runs > 1 ? "sum of the runs' peaks" : `peak at ${units.moment(device.peak_at, summary.time_unit)}`}</span>
          <span class="facts">
            {inRange[number] !== null && <span class="in-range"><b><Bytes value={inRange[number] ?? 0} /></b> of the range live at its end</span>}
            {summary.has_lifetimes && (
              <span>
                <b><Bytes value={device.leaked_bytes} /></b> {summary.live_word}
                {device.suppressed_blocks > 0 && <span class="dim"> + <Bytes value={device.suppressed_bytes} /> suppressed</span>}
              </span>
            )}
            <span><b>{units.counted(device.total_blocks, "alloc")}</b> of <Bytes value={device.total_bytes} /></span>
            {summary.metrics.includes("temporary") && <span><b>{units.percentRounded(device.temporary_blocks, device.total_blocks)}</b> temporary</span>}
            {device.unused_resident_bytes !== undefined && <span><b><Bytes value={device.unused_resident_bytes} /></b> unused, but resident from {units.moment(device.unused_from ?? 0, summary.time_unit)}</span>}
            {device.untouched_bytes !== undefined && <span><b><Bytes value={device.untouched_bytes} /></b> not touched at {units.moment(device.untouched_at ?? 0, summary.time_unit)}</span>}
            {device.limit_bytes > 0 && <span>limited to {units.bytes(device.limit_bytes)}</span>}
            {device.refusals > 0 && <span class="warning">refused memory: {units.counted(device.refusals, "place")}</span>}
            {device.product !== "" && <span class="dim">{device.product}</span>}
          </span>
        </button>
      ))}
      {small.length > 0 && (
        <div class="small">
          <span class="dim">below 1 %, or addresses without memory</span>
          {small.map(({ device, number }) => (
            <button key={device.name} class="plain" onClick={() => change({ device: number })}>
              {device.name} {units.bytes(summary.has_lifetimes ? device.peak_bytes : device.total_bytes)}
            </button>
          ))}
        </div>
      )}
    </div>
  );
}
