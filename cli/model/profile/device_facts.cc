// cli/model/profile/device_facts.cc: there are two kinds of facts about a device, which are added in different ways.
//
// Amounts of single processes on a device add up. Amounts that NVML reports for all processes together are for the same
// memory each time, so the largest of several such amounts counts. A sum of both kinds would mean nothing, so as soon
// as one part is for all processes, the sum is too. Refusals of one stack are merged, with the facts of the latest,
// because its free memory is most like what a user finds now. Owners with the same set of stacks add up, too.
#include "cli/model/profile/device_facts.h"

#include "cli/base/file_name.h"
#include "cli/base/function_name.h"
#include "cli/base/saturating.h"
#include "cli/base/text.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace heapprof::cli {
namespace {

void merge_live_sites(std::vector<LiveSite>* live_sites) {
  std::sort(live_sites->begin(), live_sites->end(),
            [](const LiveSite& a, const LiveSite& b) { return a.node < b.node; });
  size_t kept = 0;
  for (const LiveSite& live_site : *live_sites) {
    if (kept != 0 && (*live_sites)[kept - 1].node == live_site.node) {
      LiveSite& same = (*live_sites)[kept - 1];
      same.live_bytes = add_saturating(same.live_bytes, live_site.live_bytes);
      same.live_blocks = add_saturating(same.live_blocks, live_site.live_blocks);
    } else {
      (*live_sites)[kept++] = live_site;
    }
  }
  live_sites->resize(kept);
  std::stable_sort(live_sites->begin(), live_sites->end(),
                   [](const LiveSite& a, const LiveSite& b) { return a.live_bytes > b.live_bytes; });
}

auto words_of(const Refusal& refusal) {
  return std::tie(refusal.last_ns, refusal.size_bytes, refusal.free_bytes, refusal.live_bytes, refusal.live_blocks);
}

Refusal sum_of(Refusal a, Refusal b) {
  if (words_of(a) < words_of(b)) std::swap(a, b);
  a.count = add_saturating(a.count, b.count);
  a.by_limit_count = add_saturating(a.by_limit_count, b.by_limit_count);
  a.first_ns = std::min(a.first_ns, b.first_ns);
  return a;
}

// Merges parts of one stack; the result is in the order of stacks.
void merge_parts(std::vector<OwnerPart>* parts) {
  std::sort(parts->begin(), parts->end(), [](const OwnerPart& a, const OwnerPart& b) {
    return std::tie(a.node, a.bytes, a.blocks) < std::tie(b.node, b.bytes, b.blocks);
  });
  size_t kept = 0;
  for (const OwnerPart& part : *parts) {
    if (kept != 0 && (*parts)[kept - 1].node == part.node) {
      OwnerPart& same = (*parts)[kept - 1];
      same.bytes = add_saturating(same.bytes, part.bytes);
      same.blocks = add_saturating(same.blocks, part.blocks);
    } else {
      (*parts)[kept++] = part;
    }
  }
  parts->resize(kept);
}

void put_largest_first(std::vector<OwnerPart>* parts) {
  std::stable_sort(parts->begin(), parts->end(), [](const OwnerPart& a, const OwnerPart& b) {
    return std::tie(a.bytes, a.blocks) > std::tie(b.bytes, b.blocks);
  });
}

// pre: merge_parts() was called for both
bool is_owner_before(const LostOwners& a, const LostOwners& b) {
  if (a.is_cycle != b.is_cycle) return b.is_cycle;
  return std::lexicographical_compare(
      a.parts.begin(), a.parts.end(), b.parts.begin(), b.parts.end(),
      [](const OwnerPart& left, const OwnerPart& right) { return left.node < right.node; });
}

}  // namespace

bool has_any(const HeldMemory& held) {
  return held.pools_peak_bytes != 0 || held.pools_used_peak_bytes != 0 || held.graphs_peak_bytes != 0 ||
         held.graphs_used_peak_bytes != 0;
}

void add_held(HeldMemory* sum, const HeldMemory& more) {
  for (uint64_t HeldMemory::*const amount :
       {&HeldMemory::pools_bytes, &HeldMemory::pools_peak_bytes, &HeldMemory::pools_used_bytes,
        &HeldMemory::pools_used_peak_bytes, &HeldMemory::pools_idle_peak_bytes, &HeldMemory::graphs_bytes,
        &HeldMemory::graphs_peak_bytes, &HeldMemory::graphs_used_bytes, &HeldMemory::graphs_used_peak_bytes}) {
    sum->*amount = add_saturating(sum->*amount, more.*amount);
  }
  sum->is_partial = sum->is_partial || more.is_partial;
}

void add_use(DeviceUse* sum, const DeviceUse& more) {
  const uint64_t samples = add_saturating(sum->samples, more.samples);
  // Of several reasons the one that comes first alphabetically is kept, so that the order of the parts does not matter.
  const std::string missing = sum->missing.empty()   ? more.missing
                              : more.missing.empty() ? sum->missing
                                                     : std::min(sum->missing, more.missing);
  const bool is_of_all = sum->is_of_all || more.is_of_all;
  const auto amount = [](const DeviceUse& use) {
    return std::tie(use.is_of_all, use.max_bytes, use.seen_at_max_bytes);
  };
  if (!is_of_all) {
    sum->max_bytes = add_saturating(sum->max_bytes, more.max_bytes);
    sum->seen_at_max_bytes = add_saturating(sum->seen_at_max_bytes, more.seen_at_max_bytes);
  } else if (amount(*sum) < amount(more)) {
    *sum = more;
  }
  sum->samples = samples;
  sum->is_of_all = is_of_all;
  sum->missing = missing;
}

void merge_refusals(std::vector<Refusal>* refusals) {
  std::stable_sort(refusals->begin(), refusals->end(),
                   [](const Refusal& a, const Refusal& b) { return a.node < b.node; });
  std::vector<Refusal> merged;
  for (Refusal& refusal : *refusals) {
    merge_live_sites(&refusal.live_sites);
    if (!merged.empty() && merged.back().node == refusal.node) {
      merged.back() = sum_of(std::move(merged.back()), std::move(refusal));
    } else {
      merged.push_back(std::move(refusal));
    }
  }
  std::stable_sort(merged.begin(), merged.end(),
                   [](const Refusal& a, const Refusal& b) { return a.last_ns > b.last_ns; });
  *refusals = std::move(merged);
}

void settle_parts(std::vector<OwnerPart>* parts) {
  merge_parts(parts);
  put_largest_first(parts);
}

void settle_parts(std::vector<UntouchedPart>* parts) {
  std::map<uint32_t, UntouchedPart> by_node;
  for (const UntouchedPart& part : *parts) {
    UntouchedPart& sum = by_node[part.node];
    sum.node = part.node;
    sum.untouched_bytes = add_saturating(sum.untouched_bytes, part.untouched_bytes);
    sum.bytes = add_saturating(sum.bytes, part.bytes);
    sum.blocks = add_saturating(sum.blocks, part.blocks);
  }
  parts->clear();
  for (const auto& [node, part] : by_node) parts->push_back(part);
  std::stable_sort(parts->begin(), parts->end(), [](const UntouchedPart& a, const UntouchedPart& b) {
    return a.untouched_bytes > b.untouched_bytes;
  });
}

void merge_owners(std::vector<LostOwners>* all) {
  for (LostOwners& owners : *all) merge_parts(&owners.parts);
  std::stable_sort(all->begin(), all->end(), is_owner_before);
  std::vector<LostOwners> merged;
  for (LostOwners& owners : *all) {
    if (merged.empty() || is_owner_before(merged.back(), owners)) {
      merged.push_back(std::move(owners));
      continue;
    }
    LostOwners& same = merged.back();
    same.owners = add_saturating(same.owners, owners.owners);
    same.bytes = add_saturating(same.bytes, owners.bytes);
    same.blocks = add_saturating(same.blocks, owners.blocks);
    for (size_t i = 0; i < same.parts.size(); ++i) {
      same.parts[i].bytes = add_saturating(same.parts[i].bytes, owners.parts[i].bytes);
      same.parts[i].blocks = add_saturating(same.parts[i].blocks, owners.parts[i].blocks);
    }
  }
  std::stable_sort(merged.begin(), merged.end(), [](const LostOwners& a, const LostOwners& b) {
    return std::tie(a.bytes, a.blocks) > std::tie(b.bytes, b.blocks);
  });
  for (LostOwners& owners : merged) put_largest_first(&owners.parts);
  *all = std::move(merged);
}

std::string holder_words(const Holder& holder) {
  switch (holder.kind) {
    case HolderKind::kVariable: {
      std::string names;
      for (const std::string& name : holder.names) names += (names.empty() ? "" : ", ") + plain_function(name);
      if (!names.empty()) return escape_controls(names);
      if (holder.is_shared) return "several variables";
      return "variables of " + escape_controls(base_name(holder.module));
    }
    case HolderKind::kThreadLocal: return "thread-local variables";
    case HolderKind::kMapped: return "pages that the program mapped";
    case HolderKind::kStack: return "stacks of threads";
    case HolderKind::kOther: break;
  }
  return "memory of unknown use";
}

void merge_holders(std::vector<Holder>* all) {
  const auto key = [](const Holder& it) { return std::tie(it.kind, it.is_shared, it.names, it.module); };
  std::stable_sort(all->begin(), all->end(), [&](const Holder& a, const Holder& b) { return key(a) < key(b); });
  std::vector<Holder> merged;
  for (Holder& holder : *all) {
    if (merged.empty() || key(merged.back()) != key(holder)) {
      merged.push_back(std::move(holder));
      continue;
    }
    Holder& same = merged.back();
    same.bytes = add_saturating(same.bytes, holder.bytes);
    same.blocks = add_saturating(same.blocks, holder.blocks);
    same.parts.insert(same.parts.end(), holder.parts.begin(), holder.parts.end());
  }
  for (Holder& holder : merged) {
    merge_parts(&holder.parts);
    put_largest_first(&holder.parts);
  }
  std::stable_sort(merged.begin(), merged.end(), [](const Holder& a, const Holder& b) {
    return std::tie(a.bytes, a.blocks) > std::tie(b.bytes, b.blocks);
  });
  *all = std::move(merged);
}

}  // namespace heapprof::cli
