// cli/write/report/tables/run.cc: tables about the run itself: its facts, its threads and processes, and its snapshots.
#include "cli/base/saturating.h"
#include "cli/model/analysis/tensor_roles.h"
#include "cli/write/report/report_sections.h"
#include "cli/write/report/tables/tables.h"

#include <algorithm>

namespace heapprof::cli {
namespace {

// Visits fields as rows of a name and a value of any type.
class NamedValues {
 public:
  NamedValues(std::string part, CellTable* table) : part_(std::move(part)), table_(table) {}
  template <typename T>
  void operator()(std::string_view name, const T& value) const {
    std::vector<TableCell>& cells = table_->rows.emplace_back();
    const TableRow row(nullptr, &cells);
    row("", part_);
    row("", name);
    row("", value);
  }

 private:
  std::string part_;
  CellTable* table_;
};

bool is_shown(const TableSource& source, const std::string& device) {
  return source.view.device.empty() || source.view.device == device;
}

// A snapshot's number and moment, before its other columns.
void add_snapshot(const TableSource& source, size_t at, const TableRow& row) {
  const std::vector<Snapshot>& snapshots = source.profile.snapshots.snapshots;
  row("snapshot", uint64_t{at} + 1);
  row("at_ns", at < snapshots.size() ? snapshots[at].at_ns : 0);
}

}  // namespace

void fill_run(const TableSource& source, CellTable* table) {
  const RunInfo& run = source.profile.run;
  table->columns = {"part", "name", "value"};
  NamedValues("run", table)("dialect", dialect_name(source.profile.dialect));
  NamedValues("run", table)("time_unit", source.profile.time_unit);
  visit_run(run, NamedValues("run", table));
  visit_machine(run.machine, NamedValues("machine", table));
  visit_coverage(run.coverage, NamedValues("coverage", table));
  visit_counters(run.counters, NamedValues("counters", table));
  visit_unwinder(run.unwinder, NamedValues("unwinder", table));
  visit_cost(run.cost, NamedValues("cost", table));
  if (run.leak_check.is_asked) visit_leak_check(run.leak_check, NamedValues("leak_check", table));
  for (const UnprofiledProgram& program : run.coverage.unprofiled_programs)
    visit_unprofiled_program(program, NamedValues("unprofiled_program", table));
}

// The last row, without an id, sums the threads that are not listed.
void fill_threads(const TableSource& source, CellTable* table) {
  const RunInfo& run = source.profile.run;
  struct ThreadRow {
    Thread thread;
    uint64_t threads = 1;
  };
  std::vector<ThreadRow> rows;
  for (const Thread& thread : run.threads) rows.push_back({thread, 1});
  if (run.other_threads_count != 0) rows.push_back({run.other_threads, run.other_threads_count});
  table->add(rows, [](const ThreadRow& it, const TableRow& row) {
    visit_thread(it.thread, row);
    row("threads_count", it.threads);
  });
}

void fill_processes(const TableSource& source, CellTable* table) {
  table->add(source.profile.run.processes,
             [](const OtherProcess& process, const TableRow& row) { visit_other_process(process, row); });
}

void fill_inputs(const TableSource& source, CellTable* table) {
  table->add(source.profile.merged, [](const MergedPart& part, const TableRow& row) {
    visit_merged_part(part, row);
    visit_job(part.job, row);
  });
}

// Peak by rank, device and place: a row for each of an input's largest places; if an input has none, one row without a
// place.
void fill_ranks(const TableSource& source, CellTable* table) {
  struct RankRow {
    MergedPart part;
    PartRow place;
  };
  std::vector<RankRow> rows;
  for (const MergedPart& part : source.profile.merged) {
    if (!is_shown(source, part.device)) continue;
    if (part.rows.empty()) rows.push_back({part, {}});
    for (const PartRow& place : part.rows) rows.push_back({part, place});
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const RankRow& a, const RankRow& b) { return a.part.peak_bytes > b.part.peak_bytes; });
  table->add(rows, [](const RankRow& it, const TableRow& row) {
    visit_job(it.part.job, row);
    row("file", it.part.file);
    row("end", it.part.end.kind);
    row("status", it.part.end.status);
    row("device", it.part.device);
    row("peak_bytes", it.part.peak_bytes);
    row("place", it.place.text);
    row("place_peak_bytes", it.place.peak_bytes);
  });
}

// A row for each site whose spread over the inputs is known.
void fill_spread(const TableSource& source, CellTable* table) {
  struct SpreadRow {
    const Device* device = nullptr;
    const Site* site = nullptr;
  };
  std::vector<SpreadRow> rows;
  for (const Device* device : shown_devices(source.profile, source.view)) {
    for (const Site& site : device->sites) {
      if (!site.spread.empty()) rows.push_back({device, &site});
    }
  }
  table->add(rows, [&](const SpreadRow& it, const TableRow& row) {
    const SiteSpread spread = it.site == nullptr ? SiteSpread{} : it.site->spread[0];
    row("device", it.device == nullptr ? std::string() : it.device->name);
    row("inputs_count", spread.inputs);
    for (size_t i = 0; i < kSpreadFields; ++i) {
      const std::string name(spread_fields()[i].name);
      const uint64_t sum = it.site == nullptr ? 0 : it.site->numbers.*spread_fields()[i].number;
      row(name + "_bytes", sum);
      row(name + "_min_bytes", spread.of[i].min);
      row(name + "_average_bytes", sum / std::max(spread.inputs, 1u));
      row(name + "_max_bytes", spread.of[i].max);
      const MergedPart none;
      const MergedPart& part = it.site == nullptr ? none : part_of_input(source.profile, spread.of[i].max_input);
      row(name + "_max_rank", part.job.rank);
      row(name + "_max_file", part.file);
    }
    add_place_cells(source, it.site == nullptr ? 0 : it.site->node, row);
  });
}

void fill_snapshots(const TableSource& source, CellTable* table) {
  struct SnapshotRow {
    size_t at = 0;
    SnapshotDevice device;
  };
  const std::vector<Snapshot>& snapshots = source.profile.snapshots.snapshots;
  std::vector<SnapshotRow> rows;
  for (size_t i = 0; i < snapshots.size(); ++i) {
    for (const SnapshotDevice& device : snapshots[i].devices) {
      if (is_shown(source, device.device)) rows.push_back({i, device});
    }
  }
  table->add(rows, [&](const SnapshotRow& it, const TableRow& row) {
    const Snapshot none;
    row("snapshot", uint64_t{it.at} + 1);
    visit_snapshot(it.at < snapshots.size() ? snapshots[it.at] : none, row);
    visit_snapshot_device(it.device, row);
  });
}

// The memory of places at the two compared snapshots.
void fill_snapshot_places(const TableSource& source, CellTable* table) {
  const std::vector<Snapshot>& snapshots = source.profile.snapshots.snapshots;
  struct LiveRow {
    const Device* device = nullptr;
    const Place* place = nullptr;
    LiveAmount base;
    LiveAmount current;

    uint64_t change() const {
      return base.bytes < current.bytes ? current.bytes - base.bytes : base.bytes - current.bytes;
    }
  };
  const SnapshotPair pair = source.view.between.value_or(
      SnapshotPair{0, snapshots.empty() ? 0 : static_cast<uint32_t>(snapshots.size() - 1)});
  const auto write = [&](const LiveRow& it, const TableRow& row) {
    row("device", it.device == nullptr ? std::string() : it.device->name);
    add_frame_cells(source.profile, it.place != nullptr && it.place->has_frame ? it.place->frame : UINT32_MAX, row);
    row("base_snapshot", uint64_t{pair.base} + 1);
    row("current_snapshot", uint64_t{pair.current} + 1);
    row("base_bytes", it.base.bytes);
    row("base_count", it.base.blocks);
    row("current_bytes", it.current.bytes);
    row("current_count", it.current.blocks);
  };
  for (const Device* device : shown_devices(source.profile, source.view)) {
    const std::vector<Place> places = find_places(source.profile, source.tree, *device);
    std::vector<LiveRow> rows;
    for (const Place& place : places) {
      LiveRow it{device, &place, {}, {}};
      for (const uint32_t site : place.sites) {
        for (const auto& [snapshot, live] : {std::pair(pair.base, &it.base), std::pair(pair.current, &it.current)}) {
          const LiveAmount of_site = amount_at(device->sites[site].steps, snapshot);
          live->bytes = add_saturating(live->bytes, of_site.bytes);
          live->blocks = add_saturating(live->blocks, of_site.blocks);
        }
      }
      if (it.base != LiveAmount{} || it.current != LiveAmount{}) rows.push_back(it);
    }
    std::stable_sort(rows.begin(), rows.end(),
                     [](const LiveRow& a, const LiveRow& b) { return a.change() > b.change(); });
    table->add(rows, write);
  }
}

void fill_snapshot_blocks(const TableSource& source, CellTable* table) {
  struct BlockRow {
    size_t at = 0;
    std::string device;
    LargeBlock block;
  };
  const std::vector<Snapshot>& snapshots = source.profile.snapshots.snapshots;
  std::vector<BlockRow> rows;
  for (size_t i = 0; i < snapshots.size(); ++i) {
    for (const SnapshotDevice& device : snapshots[i].devices) {
      if (!is_shown(source, device.device)) continue;
      for (const LargeBlock& block : device.largest) rows.push_back({i, device.device, block});
    }
  }
  table->add(rows, [&](const BlockRow& it, const TableRow& row) {
    add_snapshot(source, it.at, row);
    row("device", it.device);
    add_place_cells(source, it.block.node, row);
    visit_large_block(it.block, row);
  });
}

// A row for each role; the row without a role has the tensors whose role was not reported.
void fill_tensors(const TableSource& source, CellTable* table) {
  struct RoleRow {
    size_t at = 0;
    std::string device;
    RoleSum sum;
  };
  const std::vector<Snapshot>& snapshots = source.profile.snapshots.snapshots;
  std::vector<RoleRow> rows;
  for (size_t i = 0; i < snapshots.size(); ++i) {
    if (!snapshots[i].has_tensors()) continue;
    for (const TensorRoles& roles : find_tensor_roles(source.profile, static_cast<uint32_t>(i))) {
      if (!is_shown(source, roles.told->device)) continue;
      for (const RoleSum& sum : roles.roles) rows.push_back({i, roles.told->device, sum});
      rows.push_back({i, roles.told->device, {"", roles.rest_bytes, roles.rest_blocks}});
    }
  }
  table->add(rows, [&](const RoleRow& it, const TableRow& row) {
    add_snapshot(source, it.at, row);
    row("device", it.device);
    row("role", it.sum.role);
    row("live_bytes", it.sum.bytes);
    row("live_count", it.sum.blocks);
  });
}

void fill_tensor_blocks(const TableSource& source, CellTable* table) {
  struct TensorRow {
    size_t at = 0;
    std::string device;
    LargeTensor tensor;
  };
  const std::vector<Snapshot>& snapshots = source.profile.snapshots.snapshots;
  std::vector<TensorRow> rows;
  for (size_t i = 0; i < snapshots.size(); ++i) {
    for (const SnapshotTensors& tensors : snapshots[i].tensors) {
      if (!is_shown(source, tensors.device)) continue;
      for (const LargeTensor& tensor : tensors.largest) rows.push_back({i, tensors.device, tensor});
    }
  }
  table->add(rows, [&](const TensorRow& it, const TableRow& row) {
    add_snapshot(source, it.at, row);
    row("device", it.device);
    add_place_cells(source, it.tensor.node, row);
    visit_large_tensor(it.tensor, row);
  });
}

}  // namespace heapprof::cli
