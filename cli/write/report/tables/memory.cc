// cli/write/report/tables/memory.cc: tables that say where memory was requested: all places, not only those that fit a
// screen, and the uncut call tree.
#include "cli/model/analysis/findings.h"
#include "cli/model/analysis/packages.h"
#include "cli/write/report/call_tree.h"
#include "cli/write/report/findings_words.h"
#include "cli/write/report/tables/tables.h"
#include "cli/write/text/place_text.h"

#include <algorithm>

namespace heapprof::cli {
namespace {

struct PlaceRow {
  const Device* device = nullptr;
  const Place* place = nullptr;
};

void add_memory_device(const Device* device, const TableRow& row) {
  row("device", device == nullptr ? std::string() : device->name);
}

// Adds the given per-site numbers, summed over a place or a package.
void add_numbers(const std::vector<const SiteField*>& fields, const PlaceNumbers& numbers, const TableRow& row) {
  for (const SiteField* field : fields) row(field->report, reported_number(numbers, *field));
}

// The fields that tables have. When leaks were allocated is only in JSON reports. Fields that newer versions of
// heapprof added come last.
struct Columns {
  std::vector<const SiteField*> first;
  std::vector<const SiteField*> later;
};
Columns columns_of(const Profile& profile) {
  Columns columns;
  for (const SiteField* field : reported_numbers(profile)) {
    if (field->needs == SiteField::Needs::kLeaks) continue;
    const bool is_later = field->needs == SiteField::Needs::kSizes || field->needs == SiteField::Needs::kJudgement;
    (is_later ? columns.later : columns.first).push_back(field);
  }
  return columns;
}

void add_all_numbers(const Profile& profile, const Columns& columns, const PlaceNumbers& numbers, const TableRow& row) {
  add_numbers(columns.first, numbers, row);
  if (profile.has_lifetimes) {
    row("suppressed_leaked_bytes", numbers.suppressed_bytes);
    row("suppressed_leaked_blocks_count", numbers.suppressed_blocks);
  }
  add_numbers(columns.later, numbers, row);
}

uint32_t frame_of(const Place* place) { return place != nullptr && place->has_frame ? place->frame : UINT32_MAX; }

}  // namespace

void fill_places(const TableSource& source, CellTable* table) {
  const Profile& profile = source.profile;
  const Columns columns = columns_of(profile);
  const auto write = [&](const PlaceRow& it, const TableRow& row) {
    add_memory_device(it.device, row);
    add_frame_cells(profile, frame_of(it.place), row);
    add_all_numbers(profile, columns, it.place == nullptr ? PlaceNumbers{} : it.place->numbers, row);
  };
  for (const Device* device : shown_devices(profile, source.view)) {
    const std::vector<Place> places = find_places(profile, source.tree, *device);
    std::vector<PlaceRow> rows;
    for (const uint32_t index : ordered_places(profile, source.view, places)) rows.push_back({device, &places[index]});
    table->add(rows, write);
  }
}

void fill_callers(const TableSource& source, CellTable* table) {
  const Profile& profile = source.profile;
  const Metric metric = source.view.sort.value_or(profile.has_lifetimes ? Metric::kPeak : Metric::kTotal);
  struct CallerRow {
    const Device* device = nullptr;
    const Place* place = nullptr;
    uint64_t depth = 0;
    uint32_t frame = UINT32_MAX;
    uint64_t amount = 0;
  };
  const auto write = [&](const CallerRow& it, const TableRow& row) {
    add_memory_device(it.device, row);
    add_frame_cells(profile, frame_of(it.place), row);
    row("metric", metric_word(metric));
    row("depth", it.depth);
    add_frame_cells(profile, it.frame, row, "caller_");
    row("amount", it.amount);
  };
  for (const Device* device : shown_devices(profile, source.view)) {
    const std::vector<Place> places = find_places(profile, source.tree, *device);
    std::vector<CallerRow> rows;
    for (const uint32_t index : rank_places(places, metric)) {
      const CallerChain chain = find_callers(profile, source.tree, *device, places[index], metric);
      uint64_t depth = 0;
      for (const uint32_t frame : chain.frames) rows.push_back({device, &places[index], ++depth, frame, chain.weight});
      for (const CallerShare& share : chain.shares)
        rows.push_back({device, &places[index], depth + 1, share.frame, share.weight});
    }
    table->add(rows, write);
  }
}

void fill_tree(const TableSource& source, CellTable* table) {
  const Profile& profile = source.profile;
  std::vector<Metric> metrics;
  for (const Metric metric : kMetrics) {
    if (has_metric(profile, metric)) metrics.push_back(metric);
  }
  struct NodeRow {
    const Device* device = nullptr;
    uint64_t node = 0;
    uint64_t parent = 0;
    uint32_t frame = UINT32_MAX;
    std::vector<uint64_t> values = {};
  };
  const auto write = [&](const NodeRow& it, const TableRow& row) {
    add_memory_device(it.device, row);
    row("node", it.node);
    row("parent", it.parent);
    add_frame_cells(profile, it.frame, row);
    for (size_t i = 0; i < metrics.size(); ++i)
      row(metrics[i] == Metric::kLeaked ? "unsuppressed_leaked_bytes" : metric_field(metrics[i]),
          i < it.values.size() ? it.values[i] : 0);
  };
  for (const Device* device : shown_devices(profile, source.view)) {
    std::vector<NodeRow> rows;
    for (size_t i = 0; i < metrics.size(); ++i) {
      const ShownTree tree(profile, source.tree, *device, source.view.all_frames, metrics[i]);
      if (i == 0) {
        for (uint32_t node = 0; node < tree.size(); ++node)
          rows.push_back(
              {device, node, tree[node].parent, node == 0 || tree[node].is_stackless ? UINT32_MAX : tree[node].frame});
      }
      for (uint32_t node = 0; node < tree.size(); ++node) rows[node].values.push_back(tree[node].value);
    }
    std::erase_if(rows, [](const NodeRow& it) {  // nodes of other devices
      return it.node != 0 && std::all_of(it.values.begin(), it.values.end(), [](uint64_t value) { return value == 0; });
    });
    table->add(rows, write);
  }
}

void fill_sizes(const TableSource& source, CellTable* table) {
  const Profile& profile = source.profile;
  struct SizeRow {
    PlaceRow of;
    int bucket = 0;
  };
  const auto write = [&](const SizeRow& it, const TableRow& row) {
    add_memory_device(it.of.device, row);
    add_frame_cells(profile, frame_of(it.of.place), row);
    row("at_least_bytes", size_bucket_least(it.bucket, profile.has_coarse_sizes));
    row("at_most_bytes", size_bucket_most(it.bucket));
    row("allocations_count", it.of.place == nullptr ? 0 : it.of.place->numbers.sizes[it.bucket]);
  };
  for (const Device* device : shown_devices(profile, source.view)) {
    const std::vector<Place> places = find_places(profile, source.tree, *device);
    std::vector<SizeRow> rows;
    for (const uint32_t index : rank_all_places(places, Metric::kAllocations)) {
      for (int bucket = 0; bucket < kSizeBuckets; ++bucket) {
        if (places[index].numbers.sizes[bucket] != 0) rows.push_back({{device, &places[index]}, bucket});
      }
    }
    table->add(rows, write);
  }
}

void fill_packages(const TableSource& source, CellTable* table) {
  const Columns columns = columns_of(source.profile);
  for (const Device* device : shown_devices(source.profile, source.view)) {
    const Metric metric = source.view.sort.value_or(source.profile.has_lifetimes ? Metric::kPeak : Metric::kTotal);
    table->add(find_packages(source.profile, source.tree, *device, metric),
               [&](const Package& package, const TableRow& row) {
                 add_memory_device(device, row);
                 row("package", package.name);
                 add_all_numbers(source.profile, columns, package.numbers, row);
               });
  }
}

void fill_suppressions(const TableSource& source, CellTable* table) {
  struct RuleRow {
    const Device* device = nullptr;
    const SuppressionRule* rule = nullptr;
    SuppressedLeaks leaks;
  };
  std::vector<RuleRow> rows;
  for (const Device* device : shown_devices(source.profile, source.view)) {
    const std::vector<SuppressedLeaks> sums = sum_by_rule(source.view.suppressions, *device);
    for (size_t i = 0; i < sums.size(); ++i) rows.push_back({device, &source.view.suppressions[i], sums[i]});
  }
  table->add(rows, [](const RuleRow& it, const TableRow& row) {
    static const SuppressionRule kNone;
    const SuppressionRule& rule = it.rule == nullptr ? kNone : *it.rule;
    add_memory_device(it.device, row);
    row("rule", rule.text);
    row("reason", rule.reason);
    row("file", rule.source);
    row("line", uint64_t{rule.line});
    row("suppressed_leaked_bytes", it.leaks.bytes);
    row("suppressed_leaked_blocks_count", it.leaks.blocks);
  });
}

void fill_findings(const TableSource& source, CellTable* table) {
  const Profile& profile = source.profile;
  const FrameNames names(profile, source.tree);
  std::vector<Finding> findings;
  if (can_have_findings(profile)) findings = shown_findings(profile, source.view, source.tree);
  table->add(findings, [&](const Finding& it, const TableRow& row) {
    const bool is_one = !it.id.empty();
    row("id", it.id);
    row("kind", is_one ? finding_name(it.kind) : "");
    row("device", is_one ? profile.devices[it.device].name : std::string());
    add_frame_cells(profile, it.has_frame ? it.frame : UINT32_MAX, row);
    row("cost_bytes", it.cost_bytes);
    row("cost_blocks_count", it.cost_blocks);
    row("of", it.share_of == ShareOf::kPeak         ? "peak"
              : it.share_of == ShareOf::kTotalBytes ? "total"
              : it.share_of == ShareOf::kResident   ? "resident"
                                                    : "allocations");
    row("of_amount", it.share.whole);
    row("what", is_one ? finding_head(it, source.view) + "; " + finding_detail(profile, it, names, source.view)
                       : std::string());
    row("often", is_one ? finding_remedy(profile, it) : std::string());
  });
}

}  // namespace heapprof::cli
