// cli/write/report/tables/table_rows.h: a table of a report as rows of cells, which CSV and JSON write alike.
//
// The function that writes a row is called once more, with an empty element, to get the names of the columns. So a
// table without rows has its header, and a new field in cli/model/profile/fields.h becomes a column.
//
// Guarantees
//  - Every row has a cell for each column, in their order.
#pragma once

#include "cli/model/profile/fields.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace heapprof::cli {

using TableCell = std::variant<std::monostate, uint64_t, int64_t, bool, std::string>;  // monostate: unknown, or no text

// Builds a row, or the header: row("name", value), one column after the other.
class TableRow {
 public:
  TableRow(std::vector<std::string>* names, std::vector<TableCell>* cells) : names_(names), cells_(cells) {}

  template <typename T>
  void operator()(std::string_view name, const T& value) const {
    if (names_ != nullptr) names_->emplace_back(name);
    if (cells_ != nullptr) cells_->push_back(cell_of(value));
  }

 private:
  static TableCell cell_of(bool value) { return value; }
  static TableCell cell_of(uint32_t value) { return uint64_t{value}; }
  static TableCell cell_of(uint64_t value) { return value; }
  static TableCell cell_of(int value) { return int64_t{value}; }
  static TableCell cell_of(int64_t value) { return value; }
  static TableCell cell_of(EndKind value) { return cell_of(end_kind_name(value)); }
  static TableCell cell_of(const std::string& value) { return value.empty() ? TableCell() : TableCell(value); }
  static TableCell cell_of(const char* value) { return cell_of(std::string(value)); }
  static TableCell cell_of(std::string_view value) { return cell_of(std::string(value)); }
  static TableCell cell_of(const std::optional<uint64_t>& value) { return value ? TableCell(*value) : TableCell(); }
  static TableCell cell_of(const std::vector<std::string>& values) {
    std::string text;
    for (const std::string& value : values) text += (text.empty() ? "" : " ") + value;
    return cell_of(text);
  }

  std::vector<std::string>* names_;
  std::vector<TableCell>* cells_;
};

struct CellTable {
  std::vector<std::string> columns;
  std::vector<std::vector<TableCell>> rows;

  // Calls write(element, row) for each. Further calls must have the same columns.
  template <typename Elements, typename Write>
  void add(const Elements& elements, const Write& write) {
    if (columns.empty()) write(typename Elements::value_type{}, TableRow(&columns, nullptr));
    for (const auto& element : elements) write(element, TableRow(nullptr, &rows.emplace_back()));
  }
};

}  // namespace heapprof::cli
