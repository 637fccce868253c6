// cli/write/report/tables/devices.cc: tables about devices: totals, live memory over time, names, refusals, estimates,
// and GPU API calls.
#include "cli/write/report/tables/tables.h"

#include <algorithm>

namespace heapprof::cli {
namespace {

// A device with one of its elements.
template <typename T>
struct OfDevice {
  const Device* device = nullptr;
  T it = {};
};

template <typename T, typename Find>
std::vector<OfDevice<T>> of_devices(const TableSource& source, const Find& find) {
  std::vector<OfDevice<T>> rows;
  for (const Device* device : shown_devices(source.profile, source.view)) {
    for (const auto& it : find(*device)) rows.push_back({device, it});
  }
  return rows;
}

void add_device(const Device* device, const TableRow& row) {
  row("device", device == nullptr ? std::string() : device->name);
}

// Adds fields with a prefix before their names, because several structures have fields of the same name.
class Prefixed {
 public:
  Prefixed(std::string prefix, const TableRow& row) : prefix_(std::move(prefix)), row_(row) {}
  template <typename T>
  void operator()(std::string_view name, const T& value) const {
    row_(prefix_ + std::string(name), value);
  }

 private:
  std::string prefix_;
  const TableRow& row_;
};

}  // namespace

void fill_devices(const TableSource& source, CellTable* table) {
  struct DeviceRow {
    const Device* device = nullptr;
  };
  std::vector<DeviceRow> rows;
  for (const Device* device : shown_devices(source.profile, source.view)) rows.push_back({device});
  table->add(rows, [](const DeviceRow& it, const TableRow& row) {
    const Device none;
    const Device& device = it.device == nullptr ? none : *it.device;
    const PlaceNumbers sum = sum_of_sites(device);
    row("device", device.name);
    visit_totals(device.totals, row);
    row("suppressed_leaked_bytes", sum.suppressed_bytes);
    row("suppressed_leaked_count", sum.suppressed_blocks);
    row("sites_count", uint64_t{device.sites.size()});
    row("limit_bytes", device.limit_bytes);
    visit_identity(device.identity, Prefixed("identity_", row));
    visit_held(device.held, Prefixed("held_", row));
    visit_use(device.use, Prefixed("use_", row));
    visit_unseen(device.unseen, Prefixed("unseen_", row));
  });
}

void fill_timeline(const TableSource& source, CellTable* table) {
  struct BucketRow {
    const Device* device = nullptr;
    uint64_t from_ns = 0;
    uint64_t to_ns = 0;
    Timeline::Bucket bucket;
  };
  std::vector<BucketRow> rows;
  for (const Device* device : shown_devices(source.profile, source.view)) {
    uint64_t from_ns = 0;
    for (const Timeline::Bucket& bucket : device->timeline.buckets) {
      const uint64_t to_ns = from_ns + std::min(device->timeline.bucket_ns, UINT64_MAX - from_ns);
      rows.push_back({device, from_ns, to_ns, bucket});
      from_ns = to_ns;
    }
  }
  table->add(rows, [](const BucketRow& it, const TableRow& row) {
    add_device(it.device, row);
    row("from_ns", it.from_ns);
    row("to_ns", it.to_ns);
    row("min_bytes", it.bucket.min_bytes);
    row("max_bytes", it.bucket.max_bytes);
  });
}

void fill_names(const TableSource& source, CellTable* table) {
  const auto find = [](const Device& device) -> const std::vector<NamedMemory>& { return device.names; };
  table->add(of_devices<NamedMemory>(source, find), [](const OfDevice<NamedMemory>& it, const TableRow& row) {
    add_device(it.device, row);
    visit_named(it.it, row);
  });
}

void fill_name_sites(const TableSource& source, CellTable* table) {
  struct SiteRow {
    const Device* device = nullptr;
    const NamedMemory* named = nullptr;
    NamedSite site;
  };
  std::vector<SiteRow> rows;
  for (const Device* device : shown_devices(source.profile, source.view)) {
    for (const NamedMemory& named : device->names) {
      for (const NamedSite& site : named.sites) rows.push_back({device, &named, site});
    }
  }
  table->add(rows, [&](const SiteRow& it, const TableRow& row) {
    add_device(it.device, row);
    row("category", it.named == nullptr ? std::string() : it.named->category);
    row("name", it.named == nullptr ? std::string() : it.named->name);
    add_place_cells(source, it.site.node, row);
    visit_named_site(it.site, row);
  });
}

void fill_refusals(const TableSource& source, CellTable* table) {
  const auto find = [](const Device& device) -> const std::vector<Refusal>& { return device.refusals; };
  table->add(of_devices<Refusal>(source, find), [&](const OfDevice<Refusal>& it, const TableRow& row) {
    add_device(it.device, row);
    add_place_cells(source, it.it.node, row);
    visit_refusal(it.it, row);
  });
}

void fill_refusal_sites(const TableSource& source, CellTable* table) {
  struct LiveRow {
    const Device* device = nullptr;
    uint64_t refusal = 0;
    uint32_t refused_node = 0;
    LiveSite live_site;
  };
  std::vector<LiveRow> rows;
  for (const Device* device : shown_devices(source.profile, source.view)) {
    for (size_t i = 0; i < device->refusals.size(); ++i) {
      for (const LiveSite& live_site : device->refusals[i].live_sites)
        rows.push_back({device, i + 1, device->refusals[i].node, live_site});
    }
  }
  table->add(rows, [&](const LiveRow& it, const TableRow& row) {
    add_device(it.device, row);
    row("refusal", it.refusal);
    add_place_cells(source, it.refused_node, row, "refused_");
    add_place_cells(source, it.live_site.node, row);
    visit_live_site(it.live_site, row);
  });
}

void fill_estimates(const TableSource& source, CellTable* table) {
  const auto find = [](const Device& device) -> const std::vector<Estimate>& { return device.unseen.estimates; };
  table->add(of_devices<Estimate>(source, find), [&](const OfDevice<Estimate>& it, const TableRow& row) {
    add_device(it.device, row);
    add_place_cells(source, it.it.node, row);
    visit_estimate(it.it, row);
  });
}

// For each moment, one row for all segments together, and one for each kept segment.
void fill_segments(const TableSource& source, CellTable* table) {
  struct SegmentRow {
    const Device* device = nullptr;
    const char* moment = "";
    const SegmentsMoment* at = nullptr;
    uint64_t segment = 0;  // 0: all of them
  };
  std::vector<SegmentRow> rows;
  for (const Device* device : shown_devices(source.profile, source.view)) {
    const SegmentsUse& use = device->segments;
    if (!use.has_any()) continue;
    for (const auto& [name, moment] :
         {std::pair("peak", &use.at_peak), std::pair("end", &use.at_end), std::pair("refusal", &use.at_refusal)}) {
      if (moment == &use.at_refusal && !use.has_refusal()) continue;
      for (uint64_t i = 0; i <= moment->segments.size(); ++i) rows.push_back({device, name, moment, i});
    }
  }
  table->add(rows, [](const SegmentRow& it, const TableRow& row) {
    const SegmentsMoment none;
    add_device(it.device, row);
    row("moment", it.moment);
    visit_segments_moment(it.at == nullptr ? none : *it.at, row);
    row("segment", it.segment);
    const bool is_one = it.at != nullptr && it.segment != 0;
    visit_segment(is_one ? it.at->segments[it.segment - 1] : SegmentUse{}, Prefixed("segment_", row));
  });
}

void fill_api_calls(const TableSource& source, CellTable* table) {
  table->add(source.profile.api.calls, [&](const ApiCall& call, const TableRow& row) {
    add_place_cells(source, call.node, row);
    visit_api_call(call, row);
  });
}

void fill_api_threads(const TableSource& source, CellTable* table) {
  table->add(source.profile.api.threads,
             [](const ApiThread& thread, const TableRow& row) { visit_api_thread(thread, row); });
}

}  // namespace heapprof::cli
