// cli/write/report/snapshots_json.cc: `report --snapshots` for scripts: all snapshots, and by place what was live at
// the two compared snapshots. Names end in _bytes, _ns and _count.
#include "cli/base/byte_sink.h"
#include "cli/base/saturating.h"
#include "cli/base/units.h"
#include "cli/model/analysis/places.h"
#include "cli/model/analysis/tensor_roles.h"
#include "cli/model/profile/fields.h"
#include "cli/write/encode/field_writer.h"
#include "cli/write/encode/frame_json.h"
#include "cli/write/encode/json_stream.h"
#include "cli/write/report/formats.h"

#include <algorithm>

namespace heapprof::cli {
namespace {

class SnapshotsJson {
 public:
  SnapshotsJson(const Profile& profile, const ReportView& view, ByteSink* sink)
      : profile_(profile), view_(view), tree_(build_place_tree(profile)), json_(sink), fields_(&json_) {}

  void write() {
    const Snapshots& all = profile_.snapshots;
    json_.begin_object();
    json_.count("version", 1);
    visit_snapshots(all, fields_);
    write_structs(
        "snapshots", all.snapshots, [this](const Snapshot& snapshot) { write_snapshot(snapshot); }, &json_);
    if (!all.snapshots.empty()) write_between();
    json_.end_object();
    json_.finish();
  }

 private:
  bool is_shown(const std::string& device) const { return view_.device.empty() || view_.device == device; }

  void write_snapshot(const Snapshot& snapshot) {
    visit_snapshot(snapshot, fields_);
    std::vector<SnapshotDevice> devices = snapshot.devices;
    std::erase_if(devices, [this](const SnapshotDevice& device) { return !is_shown(device.device); });
    write_structs(
        "devices", devices,
        [this](const SnapshotDevice& device) {
          visit_snapshot_device(device, fields_);
          write_structs(
              "largest", device.largest,
              [this](const LargeBlock& block) {
                const uint32_t node = block.node == 0 ? 0 : tree_.place_node[block.node];
                if (node != 0) write_frame(profile_, profile_.nodes[node].frame, &json_);
                visit_large_block(block, fields_);
              },
              &json_);
        },
        &json_);
    if (snapshot.has_tensors()) write_tensors(snapshot);
  }

  void write_tensors(const Snapshot& snapshot) {
    const auto at = static_cast<uint32_t>(&snapshot - profile_.snapshots.snapshots.data());
    json_.count("lost_tensors_count", snapshot.lost_tensors);
    std::vector<TensorRoles> all = find_tensor_roles(profile_, at);
    std::erase_if(all, [this](const TensorRoles& roles) { return !is_shown(roles.told->device); });
    const auto write_role = [this](const RoleSum& sum) {
      json_.text("role", sum.role);
      json_.count("live_bytes", sum.bytes);
      json_.count("live_count", sum.blocks);
    };
    const auto write_large = [this](const LargeTensor& tensor) {
      const uint32_t node = tensor.node == 0 ? 0 : tree_.place_node[tensor.node];
      if (node != 0) write_frame(profile_, profile_.nodes[node].frame, &json_);
      visit_large_tensor(tensor, fields_);
    };
    write_structs(
        "tensors", all,
        [&](const TensorRoles& roles) {
          json_.text("device", roles.told->device);
          write_structs("roles", roles.roles, write_role, &json_);
          json_.count("rest_bytes", roles.rest_bytes);
          json_.count("rest_count", roles.rest_blocks);
          write_structs("largest", roles.told->largest, write_large, &json_);
        },
        &json_);
  }

  void write_between() {
    const auto last = static_cast<uint32_t>(profile_.snapshots.snapshots.size() - 1);
    const SnapshotPair pair = view_.between.value_or(SnapshotPair{0, last});
    json_.key("between");
    json_.begin_object();
    json_.count("base", pair.base + 1);
    json_.count("current", pair.current + 1);
    json_.key("devices");
    json_.begin_array();
    for (const Device& device : profile_.devices) {
      if (is_shown(device.name)) write_device(device, pair);
    }
    json_.end_array();
    json_.end_object();
  }

  struct PlaceLive {
    uint32_t place;
    LiveAmount base;
    LiveAmount current;

    uint64_t amount() const { return Change{base.bytes, current.bytes}.amount(); }
  };

  static void add_live(const std::vector<SiteStep>& steps, uint32_t snapshot, LiveAmount* sum) {
    const LiveAmount live = amount_at(steps, snapshot);
    sum->bytes = add_saturating(sum->bytes, live.bytes);
    sum->blocks = add_saturating(sum->blocks, live.blocks);
  }

  // Writes the places that had memory at either snapshot, the most changed first.
  void write_device(const Device& device, const SnapshotPair& pair) {
    const std::vector<Place> places = find_places(profile_, tree_, device);
    std::vector<PlaceLive> live;
    for (uint32_t i = 0; i < places.size(); ++i) {
      PlaceLive of_place{i, {}, {}};
      for (const uint32_t site : places[i].sites) {
        add_live(device.sites[site].steps, pair.base, &of_place.base);
        add_live(device.sites[site].steps, pair.current, &of_place.current);
      }
      if (of_place.base != LiveAmount{} || of_place.current != LiveAmount{}) live.push_back(of_place);
    }
    std::stable_sort(live.begin(), live.end(),
                     [](const PlaceLive& a, const PlaceLive& b) { return a.amount() > b.amount(); });
    if (view_.top && live.size() > *view_.top) live.resize(*view_.top);
    json_.begin_object();
    json_.text("name", device.name);
    write_structs(
        "places", live,
        [&](const PlaceLive& it) {
          if (places[it.place].has_frame) write_frame(profile_, places[it.place].frame, &json_);
          json_.count("base_bytes", it.base.bytes);
          json_.count("base_count", it.base.blocks);
          json_.count("current_bytes", it.current.bytes);
          json_.count("current_count", it.current.blocks);
        },
        &json_);
    json_.end_object();
  }

  const Profile& profile_;
  const ReportView& view_;
  PlaceTree tree_;
  JsonWriter json_;
  FieldWriter fields_;
};

}  // namespace

std::string render_snapshots_json(const Profile& profile, const ReportView& view, const Terminal&) {
  StringSink sink;
  SnapshotsJson(profile, view, &sink).write();
  return sink.text() + "\n";
}

}  // namespace heapprof::cli
