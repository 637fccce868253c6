// cli/model/analysis/own_pools.cc: only the pool allocator calls the function that takes a piece. So the innermost
// frame with a name identifies the allocator, even if frames further in have no names (a stripped library). If tail
// calls elide the allocator's frames, the innermost named frame may be that of the allocator's caller. But one call
// instruction takes all pieces, so one stack with a name identifies the others. With the setting, the allocator's
// functions call malloc through other functions (g_malloc), or take no large piece.
#include "cli/model/analysis/own_pools.h"

#include "cli/base/file_name.h"
#include "cli/base/function_name.h"
#include "cli/base/saturating.h"
#include "cli/base/text.h"

#include <fmt/format.h>

#include <array>
#include <string_view>
#include <unordered_set>

namespace heapprof::cli {
namespace {

struct Pool {
  std::string_view owner;
  std::string_view device;
  std::array<std::string_view, 3> modules;    // beginnings of file names
  std::array<std::string_view, 6> functions;  // beginnings
  std::string_view setting;
};

constexpr std::array<Pool, 3> kPools = {{
    {"PHP",
     "mapped",
     {"php", "libphp", "mod_php"},
     {"zend_mm_", "_emalloc", "_ecalloc", "_erealloc", "_safe_", "start_memory_manager"},
     "USE_ZEND_ALLOC=0"},
    {"GLib's slice allocator",
     "host",
     {"libglib-2.0.so", "", ""},
     {"g_slice_", "allocator_", "slab_allocator_", "thread_memory_magazine", "magazine_cache_", ""},
     "G_SLICE=always-malloc"},
    {"libstdc++'s pool allocator",
     "host",
     {"libstdc++.so", "", ""},
     {"__gnu_cxx::__pool", "", "", "", "", ""},
     "GLIBCXX_FORCE_NEW=1"},
}};

// The innermost frame that has a name and is not operator new; null if there is no such frame.
const Frame* innermost_named(const Profile& profile, const Site& site) {
  for (uint32_t node = site.node; node != 0; node = profile.nodes[node].parent) {
    const Frame& frame = profile.frames[profile.nodes[node].frame];
    if (!frame.function.empty() && !frame.function.starts_with("operator new")) return &frame;
  }
  return nullptr;
}

bool is_piece_of(const Pool& pool, const Profile& profile, const Site& site) {
  const Frame* const frame = innermost_named(profile, site);
  if (frame == nullptr || frame->module >= profile.modules.size()) return false;
  return starts_with_one_of(base_name_view(profile.modules[frame->module].path), pool.modules) &&
         starts_with_one_of(plain_function(frame->function), pool.functions);
}

}  // namespace

std::vector<OwnPool> find_own_pools(const Profile& profile) {
  constexpr uint64_t kPart = 10;  // a tenth
  uint64_t all_bytes = 0;
  for (const Device& device : profile.devices) {
    if (device.name == "host" || device.name == "mapped")
      all_bytes = add_saturating(all_bytes, device.totals.peak_bytes);
  }
  std::vector<OwnPool> found;
  for (const Pool& pool : kPools) {
    uint64_t bytes = 0;
    for (const Device& device : profile.devices) {
      if (device.name != pool.device) continue;
      std::unordered_set<uint32_t> calls;  // innermost frames in which the allocator takes a piece
      for (const Site& site : device.sites) {
        if (site.node != 0 && is_piece_of(pool, profile, site)) calls.insert(profile.nodes[site.node].frame);
      }
      for (const Site& site : device.sites) {
        if (site.node != 0 && calls.contains(profile.nodes[site.node].frame))
          bytes = add_saturating(bytes, site.numbers.peak_bytes);
      }
    }
    if (bytes == 0 || bytes < all_bytes / kPart) continue;
    std::string command;
    for (const std::string& word : profile.run.command) command += " " + shell_quoted(word);
    found.push_back(
        {std::string(pool.owner), bytes, all_bytes, fmt::format("{} heapprof run --{}", pool.setting, command)});
  }
  return found;
}

}  // namespace heapprof::cli
