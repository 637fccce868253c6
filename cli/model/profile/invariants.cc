// cli/model/profile/invariants.cc: checks per site (parts within the total), per device (sums over sites are the
// device's numbers, the timeline's maximum is the peak), and per profile (indexes, order, no duplicates).
//
// A site may have fewer blocks at its own maximum of bytes than at the device's peak, because a few large blocks can
// have more bytes than many small ones. So neither number of blocks bounds the other; only the total bounds both.
#include "cli/model/profile/invariants.h"

#include "cli/base/saturating.h"
#include "cli/model/profile/alike_frames.h"
#include "cli/model/profile/find_device.h"
#include "cli/model/profile/frame_text.h"
#include "cli/model/profile/site_fields.h"
#include "cli/model/profile/site_numbers.h"
#include "cli/model/profile/stay_invariants.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <unordered_set>

namespace heapprof::cli {
namespace {

constexpr size_t kMostViolations = 20;

class Checker {
 public:
  explicit Checker(const Profile& profile) : profile_(profile) {}

  std::vector<std::string> run() {
    check_tree();
    if (!violations_.empty()) return std::move(violations_);  // the other checks use these indexes
    check_frames();
    if (profile_.devices.empty()) violate("there is no device");
    for (std::string& violation : find_input_violations(profile_)) violations_.push_back(std::move(violation));
    if (!violations_.empty()) return std::move(violations_);  // sites refer to inputs by number
    std::unordered_set<std::string_view> names;
    for (const Device& device : profile_.devices) {
      if (!names.insert(device.name).second) violate("two devices are called {}", device.name);
      check_device(device);
    }
    check_snapshots();
    check_trace();
    if (profile_.run.complete != profile_.run.incomplete_reason.empty()) {
      violate("a run is complete, or there is a reason why not: complete is {}, the reason is \"{}\"",
              profile_.run.complete, profile_.run.incomplete_reason);
    }
    return std::move(violations_);
  }

 private:
  template <typename... Args>
  void violate(fmt::format_string<Args...> format, Args&&... args) {
    if (violations_.size() < kMostViolations) violations_.push_back(fmt::format(format, std::forward<Args>(args)...));
  }

  void check_tree() {
    for (size_t i = 1; i < profile_.nodes.size(); ++i) {
      const FrameNode& node = profile_.nodes[i];
      if (node.parent >= i) violate("node {} has parent {}", i, node.parent);
      if (node.frame >= profile_.frames.size())
        violate("node {} names frame {} of {}", i, node.frame, profile_.frames.size());
    }
    const size_t nodes = std::max<size_t>(profile_.nodes.size(), 1);
    for (const Device& device : profile_.devices) {
      for (const Site& site : device.sites) {
        if (site.node >= nodes) violate("a site of {} names stack {} of {}", device.name, site.node, nodes);
      }
    }
    for_each_other_node(profile_, [&](uint32_t node) {
      if (node >= nodes) violate("a call or a refusal names stack {} of {}", node, nodes);
    });
  }

  void check_frames() {
    const std::vector<uint32_t> stands_for = find_alike_frames(profile_);
    for (uint32_t i = 0; i < profile_.frames.size(); ++i) {
      const Frame& frame = profile_.frames[i];
      if (frame.module != kNoModule && frame.module >= profile_.modules.size()) {
        violate("frame \"{}\" names module {} of {}", frame_text(profile_, frame), frame.module,
                profile_.modules.size());
      }
      if (frame.svma == 0 && frame_text(profile_, frame) == kNoStackText) violate("a frame is called {}", kNoStackText);
      if (stands_for[i] != i) violate("two frames read \"{}\"", frame_text(profile_, frame));
    }
  }

  void check_device(const Device& device) {
    check_order(device);
    SizedNumbers sum;
    for (size_t i = 0; i < device.sites.size(); ++i) {
      check_site(device, i);
      add_numbers(&sum, device.sites[i].numbers);
    }
    for (const SiteField& field : kSiteFields) {
      if (field.total != nullptr) check_sum(device, field.name, sum.*field.number, device.totals.*field.total);
    }
    check_names(device);
    check_owners(device, sum);
    check_holders(device, sum);
    check_fragmentation(device);
    check_untouched(device);
    if (!profile_.merged.empty()) check_parts(device);
    for (std::string& violation : find_spread_violations(profile_, device)) violations_.push_back(std::move(violation));
    if (profile_.dialect == Dialect::kHeapprof) check_totals(device);
  }

  void check_names(const Device& device) {
    for (const NamedMemory& named : device.names) {
      at_most(device, "a name's leaked_bytes", named.leaked_bytes, "its max_bytes", named.max_bytes);
      at_most(device, "a name's leaked_bytes", named.leaked_bytes, "the device's", device.totals.leaked_bytes);
      NamedSite sum;
      for (const NamedSite& site : named.sites) {
        sum.total_bytes = add_saturating(sum.total_bytes, site.total_bytes);
        sum.leaked_bytes = add_saturating(sum.leaked_bytes, site.leaked_bytes);
        sum.leaked_blocks = add_saturating(sum.leaked_blocks, site.leaked_blocks);
      }
      if (named.sites.empty()) continue;
      check_sum(device, "bytes of a name", sum.total_bytes, named.total_bytes);
      check_sum(device, "leaked bytes of a name", sum.leaked_bytes, named.leaked_bytes);
      check_sum(device, "leaked blocks of a name", sum.leaked_blocks, named.leaked_blocks);
    }
  }

  // The listed stacks together have at most the whole that is owned, kept live or pinned.
  void check_stacks_of(const Device& device, const std::vector<OwnerPart>& parts, const LiveAmount& whole) {
    LiveAmount sum;
    for (const OwnerPart& part : parts) {
      sum.bytes = add_saturating(sum.bytes, part.bytes);
      sum.blocks = add_saturating(sum.blocks, part.blocks);
    }
    at_most(device, "owner_bytes", sum.bytes, "what they own, hold or pin", whole.bytes);
    at_most(device, "owner_blocks_count", sum.blocks, "what they own, hold or pin", whole.blocks);
  }

  void check_owners(const Device& device, const SiteNumbers& sites) {
    if (device.lost_owners.empty()) return;
    LiveAmount sum;
    for (const LostOwners& owners : device.lost_owners) {
      sum.bytes = add_saturating(sum.bytes, owners.bytes);
      sum.blocks = add_saturating(sum.blocks, owners.blocks);
      at_most(device, "owners_count", owners.owners, "its lost_count", owners.blocks);
      check_stacks_of(device, owners.parts, {owners.bytes, owners.blocks});
    }
    at_most(device, "lost_bytes of owners", sum.bytes, "what is lost",
            add_saturating(sites.lost_bytes, sites.indirectly_lost_bytes));
    at_most(device, "lost_count of owners", sum.blocks, "what is lost",
            add_saturating(sites.lost_blocks, sites.indirectly_lost_blocks));
  }

  void check_holders(const Device& device, const SiteNumbers& sites) {
    if (device.held_by.empty()) return;
    LiveAmount sum;
    for (const Holder& holder : device.held_by) {
      sum.bytes = add_saturating(sum.bytes, holder.bytes);
      sum.blocks = add_saturating(sum.blocks, holder.blocks);
      check_stacks_of(device, holder.parts, {holder.bytes, holder.blocks});
    }
    at_most(device, "held_bytes", sum.bytes, "what is reachable", sites.reachable_bytes);
    at_most(device, "held_count", sum.blocks, "what is reachable", sites.reachable_blocks);
  }

  void check_fragmentation(const Device& device) {
    const Fragmentation& it = device.fragmentation;
    if (!it.has_any()) return;
    at_most(device, "from_ns of fragmentation", it.from_ns, "seen_ns", it.seen_ns);
    at_most(device, "seen_ns of fragmentation", it.seen_ns, "duration_ns", profile_.run.duration_ns);
    at_most(device, "empty_bytes and sparse_bytes", add_saturating(it.empty_bytes, it.sparse_bytes), "resident_bytes",
            it.resident_bytes);
    at_most(device, "empty_pieces_count", it.empty_pieces, "empty_bytes", it.empty_bytes);
    at_most(device, "1", it.empty_bytes == 0 ? 0 : 1, "empty_pieces_count", it.empty_pieces);
    check_stacks_of(device, it.pinning, {it.sparse_bytes, device.totals.max_blocks});
  }

  void check_untouched(const Device& device) {
    const Untouched& it = device.untouched;
    if (!it.has_any()) return;
    at_most(device, "seen_ns of untouched", it.seen_ns, "duration_ns", profile_.run.duration_ns);
    at_most(device, "large_bytes", it.bytes, "peak_bytes", device.totals.peak_bytes);
    at_most(device, "untouched_bytes", it.untouched_bytes, "large_bytes", it.bytes);
    UntouchedPart sum;
    for (const UntouchedPart& part : it.parts) {
      at_most(device, "a stack's untouched_bytes", part.untouched_bytes, "its large_bytes", part.bytes);
      sum.untouched_bytes = add_saturating(sum.untouched_bytes, part.untouched_bytes);
      sum.bytes = add_saturating(sum.bytes, part.bytes);
      sum.blocks = add_saturating(sum.blocks, part.blocks);
    }
    at_most(device, "large_count of stacks", sum.blocks, "the most blocks", device.totals.max_blocks);
    at_most(device, "untouched_bytes of stacks", sum.untouched_bytes, "untouched_bytes", it.untouched_bytes);
    at_most(device, "large_bytes of stacks", sum.bytes, "large_bytes", it.bytes);
  }

  void check_parts(const Device& device) {
    DeviceTotals sum;
    for (const MergedPart& part : profile_.merged) {
      if (part.device != device.name) continue;
      sum.peak_bytes = add_saturating(sum.peak_bytes, part.peak_bytes);
      sum.leaked_bytes = add_saturating(sum.leaked_bytes, part.leaked_bytes);
      sum.total_bytes = add_saturating(sum.total_bytes, part.total_bytes);
      sum.total_blocks = add_saturating(sum.total_blocks, part.total_blocks);
    }
    check_part_sum(device, "peak_bytes", sum.peak_bytes, device.totals.peak_bytes);
    check_part_sum(device, "leaked_bytes", sum.leaked_bytes, device.totals.leaked_bytes);
    check_part_sum(device, "total_bytes", sum.total_bytes, device.totals.total_bytes);
    check_part_sum(device, "total_blocks", sum.total_blocks, device.totals.total_blocks);
  }

  void check_part_sum(const Device& device, const char* name, uint64_t sum, uint64_t total) {
    if (sum != total)
      violate("the merged profiles' {} on {} sum to {}, the device says {}", name, device.name, sum, total);
  }

  void check_sum(const Device& device, std::string_view name, uint64_t sum, uint64_t total) {
    if (sum != total) violate("the {} sites' {} sum to {}, the device says {}", device.name, name, sum, total);
  }

  void at_most(const Device& device, const char* less, uint64_t small, const char* more, uint64_t large) {
    if (small > large) violate("{}: {} is {}, more than {}, which is {}", device.name, less, small, more, large);
  }

  void check_totals(const Device& device) {
    const DeviceTotals& totals = device.totals;
    at_most(device, "peak_bytes", totals.peak_bytes, "total_bytes", totals.total_bytes);
    at_most(device, "leaked_bytes", totals.leaked_bytes, "peak_bytes", totals.peak_bytes);
    at_most(device, "peak_blocks", totals.peak_blocks, "max_blocks", totals.max_blocks);
    at_most(device, "leaked_blocks", totals.leaked_blocks, "max_blocks", totals.max_blocks);
    at_most(device, "max_blocks", totals.max_blocks, "total_blocks", totals.total_blocks);
    at_most(device, "temporary_blocks", totals.temporary_blocks, "total_blocks", totals.total_blocks);
    at_most(device, "peak_ns", totals.peak_ns, "duration_ns", profile_.run.duration_ns);
    at_most(device, "max_blocks_ns", totals.max_blocks_ns, "duration_ns", profile_.run.duration_ns);
    at_most(device, "rss_at_peak_bytes", totals.resident_at_peak_bytes, "rss_max_bytes", totals.resident_max_bytes);
    at_most(device, "live_at_rss_max_bytes", totals.live_at_resident_max_bytes, "peak_bytes", totals.peak_bytes);
    check_timeline(device);
    check_moments(device);
    for (std::string& violation : find_stay_violations(device, profile_.run.duration_ns))
      violations_.push_back(std::move(violation));
    check_steps(device);
  }

  // The tensors' blocks are live, so they have at most the device's live bytes.
  void check_tensors(const SnapshotTensors& tensors, const Snapshot& snapshot) {
    const SnapshotDevice* const device = find_device(snapshot, tensors.device);
    if (device == nullptr) return violate("a snapshot has tensors on {}, of which it says nothing", tensors.device);
    uint64_t bytes = 0;
    for (const TensorSite& site : tensors.sites) bytes = add_saturating(bytes, site.live_bytes);
    if (bytes > device->live_bytes)
      violate("tensors have {} B of {}, where {} B are live", bytes, tensors.device, device->live_bytes);
    if (tensors.largest.size() > kMostLargeBlocks) violate("a snapshot has {} largest tensors", tensors.largest.size());
  }

  void check_trace() {
    const DeviceTrace& trace = profile_.trace;
    if (trace.events.size() > trace.most_events)
      violate("the device trace has {} events of {} at most", trace.events.size(), trace.most_events);
    if (!trace.events.empty() && trace.events.back().at_ns > profile_.run.duration_ns)
      violate("an event of a device is at {} ns in a run of {} ns", trace.events.back().at_ns,
              profile_.run.duration_ns);
    for (const std::string& device : trace.devices) {
      if (std::count(trace.devices.begin(), trace.devices.end(), device) != 1)
        violate("the device trace has {} twice", device);
    }
  }

  void check_snapshots() {
    const Snapshots& snapshots = profile_.snapshots;
    if (!snapshots.has_any() && !snapshots.snapshots.empty()) violate("there are snapshots, but no interval of them");
    uint64_t before_ns = 0;
    for (const Snapshot& snapshot : snapshots.snapshots) {
      if (snapshot.at_ns < before_ns || snapshot.at_ns > profile_.run.duration_ns)
        violate("a snapshot is at {} ns, behind one at {} ns, in a run of {} ns", snapshot.at_ns, before_ns,
                profile_.run.duration_ns);
      before_ns = snapshot.at_ns;
      std::unordered_set<std::string_view> names;
      for (const SnapshotDevice& device : snapshot.devices) {
        if (!names.insert(device.device).second) violate("a snapshot has {} twice", device.device);
        if (find_device(profile_, device.device) == nullptr) violate("a snapshot has {}, no device", device.device);
        uint64_t largest = UINT64_MAX;
        for (const LargeBlock& block : device.largest) {
          if (block.size_bytes > largest) violate("a snapshot's largest blocks are not in order");
          if (block.born_ns > profile_.run.duration_ns)
            violate("a block is born at {} ns in a run of {} ns", block.born_ns, profile_.run.duration_ns);
          if (block.size_bytes > device.live_bytes)
            violate("a block of {} B is live where {} B are", block.size_bytes, device.live_bytes);
          largest = block.size_bytes;
        }
        if (device.largest.size() > kMostLargeBlocks)
          violate("a snapshot has the {} largest blocks", device.largest.size());
      }
      for (const SnapshotTensors& tensors : snapshot.tensors) check_tensors(tensors, snapshot);
    }
  }

  // At each snapshot the sites' amounts sum to the device's. A target can make sums exceed 64 bits, so they are
  // computed modulo 2^64, from the change that each step makes.
  void check_steps(const Device& device) {
    const std::vector<Snapshot>& snapshots = profile_.snapshots.snapshots;
    std::vector<LiveAmount> changes(snapshots.size());
    for (const Site& site : device.sites) {
      SiteStep before;
      for (const SiteStep& step : site.steps) {
        if (step.snapshot >= snapshots.size())
          return violate("{}: a site has an amount at snapshot {} of {}", device.name, step.snapshot, snapshots.size());
        changes[step.snapshot].bytes += step.live_bytes - before.live_bytes;
        changes[step.snapshot].blocks += step.live_blocks - before.live_blocks;
        before = step;
      }
    }
    LiveAmount sum;
    for (size_t i = 0; i < snapshots.size(); ++i) {
      sum.bytes += changes[i].bytes;
      sum.blocks += changes[i].blocks;
      const SnapshotDevice* said = find_device(snapshots[i], device.name);
      const LiveAmount live = said == nullptr ? LiveAmount{} : LiveAmount{said->live_bytes, said->live_blocks};
      if (sum != live)
        violate("{}: the sites have {} bytes in {} blocks at snapshot {}, which says {} in {}", device.name, sum.bytes,
                sum.blocks, i, live.bytes, live.blocks);
      at_most(device, "live_bytes of a snapshot", live.bytes, "peak_bytes", device.totals.peak_bytes);
    }
  }

  void check_moments(const Device& device) {
    std::vector<uint64_t> sums(device.moments_ns.size());
    for (const Site& site : device.sites) {
      for (size_t i = 0; i < std::min(sums.size(), site.live_bytes.size()); ++i)
        sums[i] = add_saturating(sums[i], site.live_bytes[i]);
    }
    uint64_t before = 0;
    for (size_t i = 0; i < sums.size(); ++i) {
      at_most(device, "a moment before", before, "the next", device.moments_ns[i]);
      at_most(device, "the sites' live_bytes", sums[i], "peak_bytes", device.totals.peak_bytes);
      before = device.moments_ns[i];
    }
    at_most(device, "the last moment", before, "duration_ns", profile_.run.duration_ns);
  }

  void check_timeline(const Device& device) {
    if (device.timeline.buckets.empty()) return;
    uint64_t largest = 0;
    for (const Timeline::Bucket& bucket : device.timeline.buckets) {
      if (bucket.min_bytes > bucket.max_bytes) {
        violate("{}: a timeline bucket's smallest value {} is above its largest {}", device.name, bucket.min_bytes,
                bucket.max_bytes);
      }
      largest = std::max(largest, bucket.max_bytes);
    }
    if (largest != device.totals.peak_bytes) {
      violate("{}: the timeline's maximum is {}, the peak is {}", device.name, largest, device.totals.peak_bytes);
    }
    const Timeline::Bucket& last = device.timeline.buckets.back();
    if (device.totals.leaked_bytes < last.min_bytes || device.totals.leaked_bytes > last.max_bytes) {
      violate("{}: {} bytes leaked, but the timeline ends between {} and {}", device.name, device.totals.leaked_bytes,
              last.min_bytes, last.max_bytes);
    }
  }

  void check_site(const Device& device, size_t index) {
    const Site& site = device.sites[index];
    const SizedNumbers& n = site.numbers;
    const bool is_ours = profile_.dialect == Dialect::kHeapprof;
    const auto within = [&](std::string_view less, uint64_t small, std::string_view more, uint64_t large) {
      if (small > large)
        violate("{} site {}: {} is {}, more than {}, which is {}", device.name, index, less, small, more, large);
    };
    const auto within_other = [&](const SiteField& field, uint64_t SiteNumbers::*bound) {
      if (bound == nullptr || n.*field.number <= n.*bound) return;
      const auto other = std::find_if(kSiteFields.begin(), kSiteFields.end(),
                                      [bound](const SiteField& known) { return known.number == bound; });
      within(field.name, n.*field.number, other->name, n.*bound);
    };
    for (const SiteField& field : kSiteFields) within_other(field, field.bound);
    if (!is_ours) return;
    for (const SiteField& field : kSiteFields) within_other(field, field.own_bound);
    within("max_bytes", n.max_bytes, "the device's peak_bytes", device.totals.peak_bytes);
    if (!site.live_bytes.empty() && site.live_bytes.size() != device.moments_ns.size())
      violate("{} site {}: it has live bytes of {} moments, the device of {}", device.name, index,
              site.live_bytes.size(), device.moments_ns.size());
    for (const uint64_t live : site.live_bytes) within("live_bytes", live, "max_bytes", n.max_bytes);
    for (const SiteStep& step : site.steps) {
      within("live_bytes of a snapshot", step.live_bytes, "max_bytes", n.max_bytes);
      within("live_blocks of a snapshot", step.live_blocks, "total_blocks", n.total_blocks);
    }
    within("last_leak_ns", n.last_leak_ns, "duration_ns", profile_.run.duration_ns);
    if (n.lifetime_ns > multiply_saturating(n.total_blocks, profile_.run.duration_ns))
      violate("{} site {}: {} blocks lived {} ns in all, in a run of {} ns", device.name, index, n.total_blocks,
              n.lifetime_ns, profile_.run.duration_ns);
    check_judgement(device, index, n);
    uint64_t counted = 0;
    uint64_t least_bytes = 0;
    n.sizes.for_each_used([&](int bucket, uint64_t blocks) {
      counted = add_saturating(counted, blocks);
      least_bytes = add_saturating(least_bytes,
                                   multiply_saturating(blocks, size_bucket_least(bucket, profile_.has_coarse_sizes)));
    });
    if (has_sizes(n)) {
      within("the blocks at their smallest", multiply_saturating(n.total_blocks, n.smallest_bytes), "total_bytes",
             n.total_bytes);
      within("total_bytes", n.total_bytes, "the blocks at their largest",
             multiply_saturating(n.total_blocks, n.largest_bytes));
    }
    if (counted != n.total_blocks) {
      violate("{} site {}: {} sizes are counted for {} blocks", device.name, index, counted, n.total_blocks);
    }
    within("what blocks of the sizes counted have at least", least_bytes, "total_bytes", n.total_bytes);
  }

  // The classified blocks may be fewer than the leaked ones, because a sum of profiles may have parts with and without
  // a leak check.
  void check_judgement(const Device& device, size_t index, const SiteNumbers& n) {
    uint64_t bytes = 0;
    uint64_t blocks = 0;
    for (const uint64_t kind : {n.lost_bytes, n.indirectly_lost_bytes, n.possibly_lost_bytes, n.reachable_bytes})
      bytes = add_saturating(bytes, kind);
    for (const uint64_t kind : {n.lost_blocks, n.indirectly_lost_blocks, n.possibly_lost_blocks, n.reachable_blocks})
      blocks = add_saturating(blocks, kind);
    if (bytes > n.leaked_bytes || blocks > n.leaked_blocks)
      violate("{} site {}: {} bytes in {} blocks are judged, and {} in {} leaked", device.name, index, bytes, blocks,
              n.leaked_bytes, n.leaked_blocks);
    if (blocks > 0 && !profile_.run.leak_check.is_made)
      violate("{} site {}: {} blocks are judged, and nothing was", device.name, index, blocks);
  }

  void check_order(const Device& device) {
    std::vector<bool> seen(std::max<size_t>(profile_.nodes.size(), 1));
    for (size_t i = 0; i < device.sites.size(); ++i) {
      const Site& site = device.sites[i];
      if (seen[site.node]) violate("{} site {}: its stack has another site", device.name, i);
      seen[site.node] = true;
      if (i == 0) continue;
      const SiteNumbers& before = device.sites[i - 1].numbers;
      const bool is_after = before.peak_bytes != site.numbers.peak_bytes
                                ? before.peak_bytes > site.numbers.peak_bytes
                                : before.total_bytes >= site.numbers.total_bytes;
      if (!is_after) violate("{} site {} is not in its place", device.name, i);
    }
  }

  const Profile& profile_;
  std::vector<std::string> violations_;
};

}  // namespace

std::vector<std::string> find_violations(const Profile& profile) { return Checker(profile).run(); }

}  // namespace heapprof::cli
