// cli/model/profile/named_memory.cc: see named_memory.h.
#include "cli/model/profile/named_memory.h"

#include "cli/base/saturating.h"
#include "cli/base/text.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace heapprof::cli {
namespace {

template <typename Numbers>
void add_common(Numbers* sum, const Numbers& more) {
  for (uint64_t Numbers::*const number :
       {&Numbers::total_bytes, &Numbers::total_blocks, &Numbers::leaked_bytes, &Numbers::leaked_blocks})
    sum->*number = add_saturating(sum->*number, more.*number);
}

void merge_sites_of_name(std::vector<NamedSite>* sites) {
  std::sort(sites->begin(), sites->end(), [](const NamedSite& a, const NamedSite& b) { return a.node < b.node; });
  size_t kept = 0;
  for (const NamedSite& site : *sites) {
    if (kept != 0 && (*sites)[kept - 1].node == site.node) {
      add_common(&(*sites)[kept - 1], site);
    } else {
      (*sites)[kept++] = site;
    }
  }
  sites->resize(kept);
  std::stable_sort(sites->begin(), sites->end(), [](const NamedSite& a, const NamedSite& b) {
    return std::tie(a.leaked_bytes, a.total_bytes) > std::tie(b.leaked_bytes, b.total_bytes);
  });
}

}  // namespace

void merge_named(std::vector<NamedMemory>* names) {
  std::stable_sort(names->begin(), names->end(), [](const NamedMemory& a, const NamedMemory& b) {
    return std::tie(a.category, a.name) < std::tie(b.category, b.name);
  });
  std::vector<NamedMemory> merged;
  for (NamedMemory& named : *names) {
    if (merged.empty() || merged.back().category != named.category || merged.back().name != named.name) {
      merged.push_back(std::move(named));
      continue;
    }
    NamedMemory& sum = merged.back();
    add_common(&sum, named);
    sum.max_bytes = add_saturating(sum.max_bytes, named.max_bytes);
    sum.max_blocks = add_saturating(sum.max_blocks, named.max_blocks);
    sum.sites.insert(sum.sites.end(), named.sites.begin(), named.sites.end());
  }
  for (NamedMemory& named : merged) merge_sites_of_name(&named.sites);
  std::stable_sort(merged.begin(), merged.end(),
                   [](const NamedMemory& a, const NamedMemory& b) { return a.max_bytes > b.max_bytes; });
  *names = std::move(merged);
}

std::string shown_name(const NamedMemory& named) {
  const std::string name = named.name.empty() ? "[no name]" : escape_controls(named.name);
  return named.category.empty() ? name : escape_controls(named.category) + ": " + name;
}

}  // namespace heapprof::cli
