// cli/collect/recorded_snapshots.cc: the books are ordered by snapshot and have differences, but a recording is ordered
// by site and has amounts. So the steps of each site are counted first, and then each step is put at its place among
// those of its site.
#include "cli/collect/recorded_parts.h"
#include "cli/collect/recorded_scopes.h"

#include <algorithm>
#include <string>

namespace heapprof::cli {

namespace {

std::string snapshot_device(uint32_t device) { return device == ScopeBook::kHost ? "host" : device_name(device); }

const KeptDevice* find_kept(const KeptSnapshot& snapshot, const std::string& device) {
  for (const KeptDevice& kept : snapshot.devices) {
    if (snapshot_device(kept.device) == device) return &kept;
  }
  return nullptr;
}

const SiteBook* find_sites(const RecordingParts& parts, const std::string& device) {
  if (device == "host") return &parts.ledger->sites();
  for (const auto& [number, book] : parts.ledger->devices().books()) {
    if (device_name(number) == device) return &book->sites;
  }
  for (uint32_t number = wire::kMappedDevice; number <= wire::kReservedDevice; ++number) {
    const DeviceBook* book = parts.ledger->mappings().book(number);
    if (book != nullptr && device_name(number) == device) return &book->sites;
  }
  return nullptr;
}

void add_device_steps(const std::vector<KeptSnapshot>& snapshots, const SiteBook& sites, RecordedDevice* device) {
  GrowingArray<uint64_t> ends;  // by site: first how many steps it has, then where the next one goes
  ends.grow_to(sites.size() + 1);
  uint64_t count = 0;
  std::vector<const KeptDevice*> kept;
  for (const KeptSnapshot& snapshot : snapshots) {
    kept.push_back(find_kept(snapshot, device->name));
    if (kept.back() == nullptr) continue;
    count += kept.back()->changed_sites;
    SnapshotBook::for_each_step(*kept.back(), [&](uint32_t site, Amount) { ++ends[site + 1]; });
  }
  if (count == 0) return;
  for (uint32_t site = 0; site < sites.size(); ++site) ends[site + 1] += ends[site];
  GrowingArray<uint32_t> index;  // by site: its place among those that are recorded
  index.grow_to(sites.size());
  uint32_t recorded = 0;
  for (uint32_t site = 1; site < sites.size(); ++site) {
    if (sites[site].total.blocks != 0) index[site] = recorded++;
  }
  GrowingArray<Amount> live;
  live.grow_to(sites.size());
  device->steps.reserve(count);
  device->steps.resize(count);
  for (uint32_t i = 0; i < kept.size(); ++i) {
    if (kept[i] == nullptr) continue;
    SnapshotBook::for_each_step(*kept[i], [&](uint32_t site, Amount more) {
      live[site].bytes += more.bytes;
      live[site].blocks += more.blocks;
      device->steps[ends[site]++] = {index[site], i, live[site].bytes, live[site].blocks};
    });
  }
}

// By wire::TensorRole, from 1.
constexpr const char* kRoles[] = {"weights", "gradients", "optimizer state", "activations", "inputs and other data"};
static_assert(std::size(kRoles) == wire::kTensorRoles);
const char* role_text(wire::TensorRole role) { return kRoles[static_cast<size_t>(role) - 1]; }

void add_tensors(const KeptSnapshot& kept, const RecordingParts& parts, Snapshot* snapshot) {
  snapshot->lost_tensors = kept.lost_tensors;
  for (const KeptTensors& of_device : kept.tensors) {
    SnapshotTensors& tensors = snapshot->tensors.emplace_back();
    tensors.device = snapshot_device(of_device.device);
    for (const auto& [key, sum] : of_device.sites)
      tensors.sites.push_back({parts.tree->sites()[key.first].stack, role_text(key.second), sum.bytes, sum.blocks});
    for (const KeptTensor& tensor : of_device.largest) {
      LargeTensor& large = tensors.largest.emplace_back();
      large.node = parts.tree->sites()[tensor.site].stack;
      large.size_bytes = tensor.size_bytes;
      large.born_ns = parts.scale->since_start_ns(tensor.birth);
      large.role = role_text(tensor.role);
      if (tensor.name != 0) large.name = name_of(tensor.name, parts.names.names).text;
    }
  }
}

}  // namespace

Snapshots lost_snapshots(const RecordingParts& parts) {
  const SnapshotBook& book = parts.ledger->snapshots();
  Snapshots snapshots;
  // The program may have asked for snapshots though the command did not.
  snapshots.interval_ns = parts.snapshot_interval_ns != 0 ? parts.snapshot_interval_ns : kMarksOnly;
  snapshots.kept_interval_ns = parts.snapshot_interval_ns != 0 ? parts.snapshots->interval_ns() : kMarksOnly;
  snapshots.thinned = book.thinned();
  snapshots.late = parts.snapshots->late();
  snapshots.lost = book.lost() + book.snapshots().size();
  return snapshots;
}

Snapshots recorded_snapshots(const RecordingParts& parts) {
  const SnapshotBook& book = parts.ledger->snapshots();
  Snapshots snapshots = lost_snapshots(parts);
  snapshots.lost = book.lost();
  for (const KeptSnapshot& kept : book.snapshots()) {
    Snapshot& snapshot = snapshots.snapshots.emplace_back();
    snapshot.at_ns = parts.scale->since_start_ns(std::min(kept.ticks, parts.end_ticks));
    snapshot.is_mark = kept.is_mark;
    if (kept.is_mark) {
      const NameText name = name_of(kept.name, parts.names.names);
      snapshot.category = name.category;
      snapshot.name = name.text;
      snapshot.thread = kept.thread_id;
    }
    for (const KeptDevice& device : kept.devices) {
      SnapshotDevice& said = snapshot.devices.emplace_back(
          SnapshotDevice{snapshot_device(device.device), device.live.bytes, device.live.blocks, {}});
      for (const KeptBlock& block : device.largest)
        said.largest.push_back(
            {parts.tree->sites()[block.site].stack, block.size_bytes, parts.scale->since_start_ns(block.birth)});
    }
    add_tensors(kept, parts, &snapshot);
  }
  return snapshots;
}

void add_site_steps(const RecordingParts& parts, std::vector<RecordedDevice>* devices) {
  for (RecordedDevice& device : *devices) {
    if (const SiteBook* sites = find_sites(parts, device.name))
      add_device_steps(parts.ledger->snapshots().snapshots(), *sites, &device);
  }
}

}  // namespace heapprof::cli
