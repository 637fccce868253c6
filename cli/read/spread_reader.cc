// cli/read/spread_reader.cc: see extension_parts.h. Names of members are views, so the keys are constants.
#include "cli/read/extension_parts.h"

namespace heapprof::cli {
namespace {

constexpr std::array<std::array<std::string_view, 3>, kSpreadFields> kKeys = {
    {{"peak_min_bytes", "peak_max_bytes", "peak_max_input"},
     {"leaked_min_bytes", "leaked_max_bytes", "leaked_max_input"},
     {"total_min_bytes", "total_max_bytes", "total_max_input"}}};

bool is_each_of(size_t size, const SpreadColumns& columns) {
  if (columns.inputs.size() != size) return false;
  for (const auto& of : columns.of) {
    for (const std::vector<uint64_t>& column : of) {
      if (column.size() != size) return false;
    }
  }
  return true;
}

}  // namespace

void add_spread_members(JsonPull* json, SpreadColumns* columns, std::vector<MemberReader::Member>* members) {
  const auto add = [&](std::string_view name, std::vector<uint64_t>* column) {
    members->push_back({name, [json, column] { read_numbers(json, column); }});
  };
  add("spread", &columns->sites);
  add("inputs_count", &columns->inputs);
  for (size_t i = 0; i < kSpreadFields; ++i) {
    for (size_t k = 0; k < kKeys[i].size(); ++k) add(kKeys[i][k], &columns->of[i][k]);
  }
}

// The sites must be ascending, so that none is repeated.
bool set_spreads(const SpreadColumns& columns, std::vector<Site>* sites) {
  const std::vector<uint64_t>& list = columns.sites;
  if (!is_each_of(list.size(), columns)) return false;
  for (size_t i = 0; i < list.size(); ++i) {
    if (list[i] >= sites->size() || (i > 0 && list[i] <= list[i - 1]) || columns.inputs[i] > UINT32_MAX) return false;
    SiteSpread spread;
    spread.inputs = static_cast<uint32_t>(columns.inputs[i]);
    for (size_t k = 0; k < kSpreadFields; ++k) {
      const auto& [smallest, largest, input] = columns.of[k];
      if (input[i] > UINT32_MAX) return false;
      spread.of[k] = {smallest[i], largest[i], static_cast<uint32_t>(input[i])};
    }
    (*sites)[list[i]].spread = {spread};
  }
  return true;
}

}  // namespace heapprof::cli
