// cli/page/src/view/places_tab.tsx: where memory was allocated, with a row for each place.
import { useMemo } from "preact/hooks";
import type { Device, Profile } from "../data/profile";
import type { PlaceRow, PlaceSeries } from "../model/sites";
import type { Change, State } from "../state";
import * as units from "../model/units";
import { Bytes } from "./bytes";
import { DataTable, Sparkline, type Column } from "./data_table";

export function PlacesTab(props: { profile: Profile; device: Device; rows: PlaceRow[]; series: PlaceSeries; search: RegExp | null; state: State; change: Change; isRange: boolean }) {
  const { profile, device, rows, series, search, state, change, isRange } = props;
  const { summary } = profile;
  const bounds = device.sites.bounds;
  const sum = (of: PlaceRow[], by: (row: PlaceRow) => number): number => of.reduce((all, row) => all + by(row), 0);
  const columns = useMemo((): Column<PlaceRow>[] => {
    const list: Column<PlaceRow>[] = [
      {
        key: "place",
        title: "place",
        help: "the innermost function of the program's own, with file and line; a click on a function finds it in the flame graph",
        isText: true,
        width: "minmax(18em, 6fr)",
        by: (row) => row.function,
        cell: (row) => (
          <span title={`${row.function}\n${row.location}`}>
            <button class="plain name" onClick={() => change({ search: row.function })}>{row.function}</button>
            <span class="dim"> {row.location}</span>
          </span>
        ),
        sum: (of) => units.counted(of.length, "place"),
      },
    ];
    const bytesColumn = (key: string, title: string, help: string, by: (row: PlaceRow) => number): Column<PlaceRow> => ({
      key,
      title,
      help,
      by,
      cell: (row) => <Bytes value={by(row)} />,
      sum: (of) => <Bytes value={sum(of, by)} />,
    });
    if (isRange) list.push(bytesColumn("range", "in range", "allocated in the range, and live at its end; with what a rule suppresses", (row) => row.inRange));
    if (summary.has_lifetimes) list.push(bytesColumn("peak", "peak", "live when the device was at its peak", (row) => row.peak));
    list.push(bytesColumn("total", "total", "allocated in all", (row) => row.total));
    if (summary.has_lifetimes) list.push(bytesColumn("leaked", summary.live_word, "what was never freed", (row) => row.leaked));
    list.push({ key: "blocks", title: "allocations", help: "blocks allocated in all", by: (row) => row.blocks, cell: (row) => units.count(row.blocks), sum: (of) => units.count(sum(of, (row) => row.blocks)) });
    if (summary.metrics.includes("temporary"))
      list.push({ key: "temporary", title: "temporary", help: "of them freed before the next allocation of their thread", by: (row) => row.temporary / Math.max(row.blocks, 1), cell: (row) => units.percentRounded(row.temporary, row.blocks), sum: (of) => units.percentRounded(sum(of, (row) => row.temporary), sum(of, (row) => row.blocks)) });
    list.push({ key: "mean", title: "mean size", help: "of a block", by: (row) => row.total / Math.max(row.blocks, 1), cell: (row) => <Bytes value={Math.round(row.total / Math.max(row.blocks, 1))} /> });
    if (summary.has_lifetimes)
      list.push({ key: "lifetime", title: "lifetime", help: "of a block, on average; of one that was never freed to the end", by: (row) => row.lifetime / Math.max(row.blocks, 1), cell: (row) => (row.blocks === 0 ? "–" : units.length(Math.round(row.lifetime / row.blocks), summary.time_unit)) });
    if (bounds.length > 0)
      list.push({ key: "time", title: "over time", help: "what was live: red was never freed, green was freed later", width: "104px", cell: (row) => <Sparkline live={series.live[row.place]} kept={series.kept[row.place]} bounds={bounds} /> });
    return list;
  }, [summary, series, bounds, isRange]);
  const shown = useMemo(() => (search ? rows.filter((row) => search.test(row.function) || search.test(row.location)) : rows), [rows, search]);
  const usual = isRange ? "range" : state.metric === "allocations" ? "blocks" : state.metric === "temporary" ? "temporary" : summary.has_lifetimes ? state.metric : "total";
  return (
    <DataTable
      name="places"
      rows={shown}
      columns={columns}
      sort={state.sort}
      usual={usual}
      onSort={(sort) => change({ sort })}
      onRow={(row) => change({ search: row.function })}
      rowKey={(row) => row.place}
      empty={search ? "no place has this in its name" : "nothing was allocated here"}
    />
  );
}
