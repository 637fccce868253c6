// cli/write/report/tables/tables.cc: one line per table, and the two formats of a table: both use the same cells, so
// that they cannot disagree.
#include "cli/write/report/tables/tables.h"

#include "cli/base/byte_sink.h"
#include "cli/write/encode/csv.h"
#include "cli/write/encode/json_stream.h"

#include <fmt/format.h>

#include <algorithm>

namespace heapprof::cli {
namespace {

constexpr ReportTable kTables[] = {
    {"places", fill_places},
    {"callers", fill_callers},
    {"tree", fill_tree},
    {"sizes", fill_sizes},
    {"packages", fill_packages},
    {"suppressions", fill_suppressions},
    {"findings", fill_findings},
    {"devices", fill_devices},
    {"timeline", fill_timeline},
    {"names", fill_names},
    {"name-sites", fill_name_sites},
    {"refusals", fill_refusals},
    {"refusal-sites", fill_refusal_sites},
    {"estimates", fill_estimates},
    {"segments", fill_segments},
    {"api-calls", fill_api_calls},
    {"api-threads", fill_api_threads},
    {"run", fill_run},
    {"threads", fill_threads},
    {"processes", fill_processes},
    {"inputs", fill_inputs},
    {"ranks", fill_ranks},
    {"spread", fill_spread},
    {"snapshots", fill_snapshots},
    {"snapshot-places", fill_snapshot_places},
    {"snapshot-blocks", fill_snapshot_blocks},
    {"tensors", fill_tensors},
    {"tensor-blocks", fill_tensor_blocks},
    {"scopes", fill_scopes},
    {"scope-memory", fill_scope_memory},
    {"scope-calls", fill_scope_calls},
    {"kernels", fill_kernels},
    {"graphs", fill_graphs},
    {"backward", fill_backward},
    {"instances", fill_instances},
    {"marks", fill_marks},
    {"operators", fill_operators},
    {"categories", fill_categories},
    {"critical-path", fill_critical_path},
    {"critical-scopes", fill_critical_scopes},
};

std::string csv_text(const TableCell& cell) {
  if (const auto* number = std::get_if<uint64_t>(&cell)) return std::to_string(*number);
  if (const auto* number = std::get_if<int64_t>(&cell)) return std::to_string(*number);
  if (const auto* is_so = std::get_if<bool>(&cell)) return *is_so ? "true" : "false";
  if (const auto* text = std::get_if<std::string>(&cell)) return csv_cell(*text);
  return "";
}

void write_cell(const TableCell& cell, JsonWriter* json) {
  if (const auto* number = std::get_if<uint64_t>(&cell)) return json->number(*number);
  if (const auto* number = std::get_if<int64_t>(&cell)) return json->signed_number(*number);
  if (const auto* is_so = std::get_if<bool>(&cell)) return json->boolean(*is_so);
  if (const auto* text = std::get_if<std::string>(&cell)) return json->string(*text);
  json->null();
}

}  // namespace

std::span<const ReportTable> report_tables() { return kTables; }

CellTable make_table(const ReportTable& table, const Profile& profile, const ReportView& view) {
  const PlaceTree tree = build_place_tree(profile);
  CellTable made;
  table.fill({profile, view, tree}, &made);
  if (view.top && made.rows.size() > *view.top && table.fill != fill_places) made.rows.resize(*view.top);
  return made;
}

std::string table_csv(std::string_view, const CellTable& table) {
  std::string text;
  for (const std::string& column : table.columns) text += (text.empty() ? "" : ",") + csv_cell(column);
  text += '\n';
  for (const std::vector<TableCell>& row : table.rows) {
    for (size_t i = 0; i < row.size(); ++i) {
      if (i != 0) text += ',';
      text += csv_text(row[i]);
    }
    text += '\n';
  }
  return text;
}

std::string table_json(std::string_view name, const CellTable& table) {
  StringSink sink;
  JsonWriter json(&sink);
  json.begin_object();
  json.count("version", 1);
  json.text("table", name);
  json.key("columns");
  json.begin_array();
  for (const std::string& column : table.columns) json.string(column);
  json.end_array();
  json.key("rows");
  json.begin_array();
  for (const std::vector<TableCell>& row : table.rows) {
    json.new_line();
    json.begin_object();
    for (size_t i = 0; i < row.size(); ++i) {
      json.key(table.columns[i]);
      write_cell(row[i], &json);
    }
    json.end_object();
  }
  json.end_array();
  json.end_object();
  json.finish();
  return sink.text();
}

void add_frame_cells(const Profile& profile, uint32_t index, const TableRow& row, const std::string& prefix) {
  const Frame none;
  const Frame& frame = index < profile.frames.size() ? profile.frames[index] : none;
  row(prefix + "function",
      frame.function.empty() && frame.svma != 0 ? fmt::format("0x{:X}", frame.svma) : frame.function);
  row(prefix + "file", frame.file);
  row(prefix + "line", frame.line > 0 ? std::optional<uint64_t>(frame.line) : std::nullopt);
  row(prefix + "module", frame.module < profile.modules.size() ? profile.modules[frame.module].path : std::string());
}

void add_place_cells(const TableSource& source, uint32_t node, const TableRow& row, const std::string& prefix) {
  const uint32_t place = node == 0 || node >= source.tree.place_node.size() ? 0 : source.tree.place_node[node];
  add_frame_cells(source.profile, place == 0 ? UINT32_MAX : source.profile.nodes[place].frame, row, prefix);
}

}  // namespace heapprof::cli
