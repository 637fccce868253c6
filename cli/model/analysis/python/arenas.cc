// cli/model/analysis/python/arenas.cc: see arenas.h.
#include "cli/model/analysis/python/arenas.h"

#include "cli/base/file_name.h"
#include "cli/base/saturating.h"
#include "cli/model/analysis/script_frames.h"

#include <algorithm>
#include <string_view>
#include <vector>

namespace heapprof::cli {
namespace {

bool is_interpreter(std::string_view path) {
  const std::string_view file = base_name_view(path);
  return file.starts_with("python3") || file.starts_with("libpython3");
}

bool is_arena_size(const SiteNumbers& numbers) {
  constexpr uint64_t kSizes[] = {256 << 10, 1 << 20};
  return numbers.smallest_bytes == numbers.largest_bytes &&
         std::find(std::begin(kSizes), std::end(kSizes), numbers.largest_bytes) != std::end(kSizes);
}

}  // namespace

uint64_t find_arena_bytes(const Profile& profile) {
  const auto has_name = [&profile](const char* name) {
    return std::find_if(profile.devices.begin(), profile.devices.end(),
                        [name](const Device& device) { return device.name == name; });
  };
  const auto mapped = has_name("mapped");
  if (mapped == profile.devices.end() || has_name(kPythonDevice) != profile.devices.end()) return 0;
  uint64_t bytes = 0;
  for (const Site& site : mapped->sites) {
    if (site.node == 0 || site.node >= profile.nodes.size()) continue;
    const Frame& frame = profile.frames[profile.nodes[site.node].frame];
    const bool is_named = is_arena(frame.function, frame.file);
    const bool is_own = frame.module < profile.modules.size() && is_interpreter(profile.modules[frame.module].path);
    if (is_named || (is_own && is_arena_size(site.numbers))) bytes = add_saturating(bytes, site.numbers.peak_bytes);
  }
  return bytes;
}

}  // namespace heapprof::cli
