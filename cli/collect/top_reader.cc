// cli/collect/top_reader.cc: only changes are sent.
//
// A program may have a million sites, of which a thousand change in a second. A look reads all sites to find those that
// changed, because no event may cost more for it. It reads 64 bytes of each, in order, which is fast. So little data is
// written, sent, and read by the subscriber.
#include "cli/collect/top_reader.h"

#include "cli/base/saturating.h"
#include "cli/collect/recorded_scopes.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace heapprof::cli {

namespace {

constexpr size_t kMostScopes = 64;
constexpr int kMostShownLevels = 8;  // of a scope's path

uint64_t limit_of(const DeviceLimits& limits, uint32_t number) {
  if (number == wire::kHostDevice) return limits.host_bytes;
  const bool has_limit = number >= wire::kFirstCudaDevice && number - wire::kFirstCudaDevice < limits.cuda.size();
  return has_limit ? limits.cuda[number - wire::kFirstCudaDevice] : 0;
}

uint64_t count_of(const Refusals& refused) {
  uint64_t count = refused.elsewhere;
  for (const RefusedSite& site : refused.sites) count += site.count;
  return count;
}

TopDevice device_of(const TopSource& source, uint32_t number, const SiteBook& sites, const Refusals& refused) {
  const SiteBook::Totals& totals = sites.totals();
  return {number,
          number == wire::kHostDevice ? "host" : device_name(number),
          totals.live.bytes,
          totals.live.blocks,
          totals.peak.bytes,
          source.scale->since_start_ns(totals.peak_ticks),
          limit_of(source.options->limits, number),
          count_of(refused),
          0,
          0,
          0};
}

void add_up_sites(const SiteBook& sites, TopDevice* device) {
  for (uint32_t site = 1; site < sites.size(); ++site) {
    const SiteEntry& entry = sites[site];
    add_to(&device->total_bytes, entry.total.bytes);
    device->total_blocks += entry.total.blocks;
    device->temporary_blocks += entry.temporary_blocks;
  }
}

// Calls visit(number, sites, refused) for the books of all devices, in the order in which they are shown.
template <typename Visitor>
void for_each_book(const TopSource& source, const Visitor& visit) {
  visit(wire::kHostDevice, source.ledger->host_sites(), source.ledger->refused());
  for (const auto& [number, book] : source.ledger->devices().books()) visit(number, book->sites, book->refused);
  for (uint32_t number = wire::kMappedDevice; number <= wire::kReservedDevice; ++number) {
    if (const DeviceBook* book = source.ledger->mappings().book(number)) visit(number, book->sites, book->refused);
  }
}

std::string name_of_path(const ScopePath& path, const Arena& arena) {
  const NameText name = name_of(path.name, arena.names());
  const std::string text = name.text.empty() ? "[no name]" : name.text;
  return name.category.empty() ? text : name.category + ": " + text;
}

std::string whole_path(const std::vector<ScopePath>& paths, uint32_t index, const Arena& arena) {
  std::string text = name_of_path(paths[index], arena);
  uint32_t parent = paths[index].parent;
  for (int level = 1; parent != 0 && level < kMostShownLevels; ++level, parent = paths[parent].parent)
    text = name_of_path(paths[parent], arena) + " > " + text;
  return parent == 0 ? text : "… > " + text;
}

void add_scopes(const TopSource& source, TopSample* sample) {
  const std::vector<ScopePath>& paths = source.ledger->scopes().paths();
  std::vector<uint32_t> largest;
  for (uint32_t i = 1; i < paths.size(); ++i) largest.push_back(i);
  sample->scope_count = largest.size();
  const size_t shown = std::min(largest.size(), kMostScopes);
  std::partial_sort(largest.begin(), largest.begin() + static_cast<ptrdiff_t>(shown), largest.end(),
                    [&paths](uint32_t a, uint32_t b) {
                      const uint64_t bytes_a = paths[a].host.allocated.bytes;
                      const uint64_t bytes_b = paths[b].host.allocated.bytes;
                      return bytes_a != bytes_b ? bytes_a > bytes_b : a < b;
                    });
  largest.resize(shown);
  for (const uint32_t index : largest) {
    const ScopePath& path = paths[index];
    const uint64_t closed = path.ended + path.left_open;
    sample->scopes.push_back({index, whole_path(paths, index, *source.arena), path.begun,
                              path.begun > closed ? path.begun - closed : 0, source.scale->to_ns(path.ticks, 0),
                              path.host.allocated.bytes, path.host.freed.bytes, path.host.peak_inside_bytes});
  }
}

void note_moment(const TopSource& source, TopSample* sample) {
  sample->age_ns = source.scale->since_start_ns(read_ticks(source.options->clock_mode));
  sample->lost_count =
      source.drain->events_lost() + source.arena->control().events_lost.load(std::memory_order_relaxed);
}

uint64_t key_of(uint32_t stack, bool truncated) { return uint64_t{stack} << 1 | (truncated ? 1 : 0); }

}  // namespace

// False: the look ends before the device's last site.
bool TopCursor::look_at_sites(uint32_t number, const SiteBook& sites, size_t* looks, TopSample* sample) {
  std::vector<Told>& told = told_[number];
  told.resize(sites.size());
  for (; site_ < sites.size(); ++site_) {
    if ((*looks)++ == kMostLooks || sample->sites.size() == kMostTold) return false;
    const SiteEntry& entry = sites[site_];
    Told& last = told[site_];
    const bool is_as_told = entry.live.bytes == last.live_bytes && entry.live.blocks == last.live_blocks &&
                            entry.total.bytes == last.total_bytes && entry.total.blocks == last.total_blocks;
    if (is_as_told) continue;
    last = {entry.live.bytes, entry.live.blocks, entry.total.bytes, entry.total.blocks};
    sample->sites.push_back({number, site_, entry.live.bytes, entry.live.blocks, entry.total.bytes, entry.total.blocks,
                             entry.temporary_blocks});
  }
  return true;
}

TopSample TopCursor::look(const TopSource& source) {
  if (source.image != image_) {
    forget();
    image_ = source.image;
  }
  TopSample sample;
  if (source.drain == nullptr) return sample;
  note_moment(source, &sample);
  size_t looks = 0;
  uint32_t position = 0;  // among the devices
  bool is_whole = true;
  for_each_book(source, [&](uint32_t number, const SiteBook& sites, const Refusals& refused) {
    sample.devices.push_back(device_of(source, number, sites, refused));
    if (is_whole && position == device_) {
      is_whole = look_at_sites(number, sites, &looks, &sample);
      if (is_whole) {
        ++device_;
        site_ = 1;
      }
    }
    ++position;
  });
  sample.is_whole = is_whole;
  if (!is_whole) return sample;
  device_ = 0;
  add_scopes(source, &sample);
  return sample;
}

TopSample look_at_totals(const TopSource& source) {
  TopSample sample;
  sample.is_whole = true;
  if (source.drain == nullptr) return sample;
  note_moment(source, &sample);
  for_each_book(source, [&](uint32_t number, const SiteBook& sites, const Refusals& refused) {
    sample.devices.push_back(device_of(source, number, sites, refused));
    add_up_sites(sites, &sample.devices.back());
  });
  add_scopes(source, &sample);
  return sample;
}

SiteIds find_site_ids(const CallTree& tree, const Recording& recording) {
  SiteIds ids;
  ids.count = tree.site_count();
  std::unordered_map<uint64_t, uint32_t> sites;
  sites.reserve(ids.count);
  for (uint32_t site = 1; site < ids.count; ++site)
    sites.emplace(key_of(tree.sites()[site].stack, tree.sites()[site].truncated != 0), site);
  for (const RecordedDevice& device : recording.devices) {
    std::vector<uint32_t>& of_device = ids.by_device.emplace_back();
    for (const RecordedSite& recorded : device.sites) {
      const auto found = sites.find(key_of(recorded.stack, recorded.truncated));
      of_device.push_back(found == sites.end() ? 0 : found->second);
    }
  }
  return ids;
}

}  // namespace heapprof::cli
