// cli/write/report/tables/tables.h: every table of a text report, for scripts: complete, as CSV or JSON, with the
// columns that its first line names (`report --table NAME`).
//
// A new table is a function of ReportTable's signature and a line in tables.cc; scripts/check-help compares --help, the
// man page and the completions with the list.
//
// Guarantees
//  - Integers, no units in the cells; names end in _bytes, _ns and _count where they are quantities.
//  - A table without data in the profile has its header, and no rows.
//  - Rows of places and sites add up to their device's numbers, as everywhere.
#pragma once

#include "cli/write/report/report_view.h"
#include "cli/write/report/tables/table_rows.h"

#include <span>
#include <string>
#include <string_view>

namespace heapprof::cli {

struct TableSource {
  const Profile& profile;
  const ReportView& view;
  const PlaceTree& tree;
};

struct ReportTable {
  const char* name;  // of --table
  void (*fill)(const TableSource& source, CellTable* table);
};

std::span<const ReportTable> report_tables();

CellTable make_table(const ReportTable& table, const Profile& profile, const ReportView& view);
std::string table_csv(std::string_view name, const CellTable& table);  // RFC 4180
std::string table_json(std::string_view name, const CellTable& table);

// The columns of the place of a stack: function, file, line, module, with the prefix before each.
void add_place_cells(const TableSource& source, uint32_t node, const TableRow& row, const std::string& prefix = "");
// The same columns for a frame; UINT32_MAX: no frame.
void add_frame_cells(const Profile& profile, uint32_t frame, const TableRow& row, const std::string& prefix = "");

// ---- memory.cc ----
void fill_places(const TableSource& source, CellTable* table);
void fill_callers(const TableSource& source, CellTable* table);
void fill_tree(const TableSource& source, CellTable* table);
void fill_sizes(const TableSource& source, CellTable* table);
void fill_packages(const TableSource& source, CellTable* table);
void fill_suppressions(const TableSource& source, CellTable* table);
void fill_findings(const TableSource& source, CellTable* table);
// ---- devices.cc ----
void fill_devices(const TableSource& source, CellTable* table);
void fill_timeline(const TableSource& source, CellTable* table);
void fill_names(const TableSource& source, CellTable* table);
void fill_name_sites(const TableSource& source, CellTable* table);
void fill_refusals(const TableSource& source, CellTable* table);
void fill_refusal_sites(const TableSource& source, CellTable* table);
void fill_estimates(const TableSource& source, CellTable* table);
void fill_segments(const TableSource& source, CellTable* table);
void fill_api_calls(const TableSource& source, CellTable* table);
void fill_api_threads(const TableSource& source, CellTable* table);
// ---- run.cc ----
void fill_run(const TableSource& source, CellTable* table);
void fill_threads(const TableSource& source, CellTable* table);
void fill_processes(const TableSource& source, CellTable* table);
void fill_inputs(const TableSource& source, CellTable* table);
void fill_ranks(const TableSource& source, CellTable* table);
void fill_spread(const TableSource& source, CellTable* table);
void fill_snapshots(const TableSource& source, CellTable* table);
void fill_snapshot_places(const TableSource& source, CellTable* table);
void fill_snapshot_blocks(const TableSource& source, CellTable* table);
void fill_tensors(const TableSource& source, CellTable* table);
void fill_tensor_blocks(const TableSource& source, CellTable* table);
// ---- scopes.cc ----
void fill_scopes(const TableSource& source, CellTable* table);
void fill_scope_memory(const TableSource& source, CellTable* table);
void fill_scope_calls(const TableSource& source, CellTable* table);
void fill_kernels(const TableSource& source, CellTable* table);
void fill_graphs(const TableSource& source, CellTable* table);
void fill_backward(const TableSource& source, CellTable* table);
void fill_instances(const TableSource& source, CellTable* table);
void fill_marks(const TableSource& source, CellTable* table);
void fill_operators(const TableSource& source, CellTable* table);
void fill_categories(const TableSource& source, CellTable* table);
void fill_critical_path(const TableSource& source, CellTable* table);
void fill_critical_scopes(const TableSource& source, CellTable* table);

}  // namespace heapprof::cli
