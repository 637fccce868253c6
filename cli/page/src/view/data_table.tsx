// cli/page/src/view/data_table.tsx: a table that makes elements only for the rows that can be seen.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { ComponentChildren } from "preact";

export interface Column<Row> {
  key: string;
  title: string;
  help: string;
  /** The value to sort by; text is sorted by letters. Absent: the column cannot be sorted. */
  by?: (row: Row) => number | string;
  cell: (row: Row) => ComponentChildren;
  /** The column's cell in the last line, for all rows that are shown. */
  sum?: (rows: Row[]) => ComponentChildren;
  isText?: boolean;
  width?: string;
}

const kRowHeight = 26;
const kMostRows = 18;

export function DataTable<Row>(props: {
  name: string;
  rows: Row[];
  columns: Column<Row>[];
  sort: string; // a column's key, "-" in front: ascending
  usual: string;
  onSort: (sort: string) => void;
  onRow?: (row: Row) => void;
  rowKey: (row: Row) => number | string;
  empty: string;
}) {
  const { rows, columns } = props;
  const holder = useRef<HTMLDivElement>(null);
  const [scrolled, setScrolled] = useState(0);
  const [selected, setSelected] = useState(-1);
  const sort = columns.some((column) => column.key === props.sort.replace(/^-/, "") && column.by) ? props.sort : props.usual;
  const key = sort.replace(/^-/, "");
  const sorted = useMemo(() => {
    const by = columns.find((column) => column.key === key)?.by;
    if (!by) return rows;
    const isUp = sort.startsWith("-");
    const keyed = rows.map((row) => ({ row, at: by(row) }));
    keyed.sort((a, b) => {
      const order = typeof a.at === "string" || typeof b.at === "string" ? (String(a.at) < String(b.at) ? -1 : String(a.at) > String(b.at) ? 1 : 0) : b.at - a.at;
      return isUp ? -order : order;
    });
    return keyed.map((one) => one.row);
  }, [rows, columns, sort]);
  useEffect(() => {
    setSelected(-1);
    if (holder.current) holder.current.scrollTop = 0;
  }, [rows, sort]);
  const shown = Math.min(kMostRows, Math.max(sorted.length, 1));
  const first = Math.max(0, Math.min(Math.floor(scrolled / kRowHeight) - 3, Math.max(0, sorted.length - shown - 6)));
  const slice = sorted.slice(first, first + shown + 8);
  const grid = { gridTemplateColumns: columns.map((column) => column.width ?? "minmax(5.5em, 1fr)").join(" ") };
  const onKey = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: kMostRows, PageUp: -kMostRows }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      const next = Math.max(0, Math.min(sorted.length - 1, selected + step));
      setSelected(next);
      const top = next * kRowHeight;
      const element = holder.current;
      if (element && (top < element.scrollTop || top + kRowHeight > element.scrollTop + element.clientHeight))
        element.scrollTop = step > 0 ? top + kRowHeight - element.clientHeight : top;
    } else if (event.key === "Enter" && sorted[selected] !== undefined) {
      props.onRow?.(sorted[selected]);
    }
  };
  return (
    <div class="table" role="table" aria-label={props.name} aria-rowcount={sorted.length}>
      <div class="row head" role="row" style={grid}>
        {columns.map((column) => (
          <div
            key={column.key}
            role="columnheader"
            aria-sort={key !== column.key ? "none" : sort.startsWith("-") ? "ascending" : "descending"}
            class={column.isText ? "text" : ""}
            title={column.help}
          >
            {column.by ? (
              <button class="plain" onClick={() => props.onSort(sort === column.key ? `-${column.key}` : column.key)}>
                {column.title}
                {key === column.key ? (sort.startsWith("-") ? " ▲" : " ▼") : ""}
              </button>
            ) : (
              column.title
            )}
          </div>
        ))}
      </div>
      <div
        class="body"
        ref={holder}
        tabIndex={0}
        style={{ height: `${shown * kRowHeight}px` }}
        onScroll={(event) => setScrolled((event.currentTarget as HTMLElement).scrollTop)}
        onKeyDown={onKey}
      >
        <div style={{ height: `${sorted.length * kRowHeight}px`, position: "relative" }}>
          <div style={{ transform: `translateY(${first * kRowHeight}px)` }}>
            {slice.map((row, i) => (
              <div
                key={props.rowKey(row)}
                role="row"
                class={`row ${first + i === selected ? "selected" : ""}`}
                style={{ ...grid, height: `${kRowHeight}px` }}
                onClick={() => setSelected(first + i)}
                onDblClick={() => props.onRow?.(row)}
              >
                {columns.map((column) => <div key={column.key} role="cell" class={column.isText ? "text" : ""}>{column.cell(row)}</div>)}
              </div>
            ))}
            {sorted.length === 0 && <div class="row dim"><div class="text">{props.empty}</div></div>}
          </div>
        </div>
      </div>
      {columns.some((column) => column.sum) && (
        <div class="row foot" role="row" style={grid}>
          {columns.map((column) => <div key={column.key} role="cell" class={column.isText ? "text" : ""}>{column.sum?.(sorted)}</div>)}
        </div>
      )}
    </div>
  );
}

/** What a place had live over the run: all bytes, and the part that was never freed. */
export function Sparkline({ live, kept, bounds }: { live?: Float64Array; kept?: Float64Array; bounds: Float64Array }) {
  if (!live || !kept || bounds.length < 2) return <span class="dim">–</span>;
  let most = 0;
  for (const value of live) most = Math.max(most, value);
  if (most === 0) return <span class="dim">–</span>;
  const width = 90;
  const height = 20;
  const end = bounds[bounds.length - 1] || 1;
  const area = (values: Float64Array): string => {
    let path = `M0 ${height}`;
    for (let i = 0; i < values.length; i++) path += `L${((bounds[i] / end) * width).toFixed(1)} ${(height - (values[i] / most) * (height - 1)).toFixed(1)}`;
    return `${path}L${width} ${height}Z`;
  };
  return (
    <svg class="spark" width={width} height={height} aria-hidden="true">
      <path d={area(live)} class="freed" />
      <path d={area(kept)} class="kept" />
    </svg>
  );
}
