// cli/model/analysis/exception_reserve.cc: recognises the reserve by name if there are names. Without names it is
// recognised by properties that no other block has: its caller is in libstdc++, that function's caller is the loader,
// and its size is that of the reserve: 72,704 bytes up to GCC 12, 73,728 with GCC 13 and 14.
#include "cli/model/analysis/exception_reserve.h"

#include "cli/base/file_name.h"
#include "cli/model/analysis/frame_kind.h"

namespace heapprof::cli {
namespace {

constexpr uint64_t kSmallest = 70'000;
constexpr uint64_t kLargest = 76'000;
constexpr uint64_t kMostTuned = 1 << 24;
constexpr std::string_view kInitializer = "_GLOBAL__sub_I_eh_alloc";

std::string module_name(const Profile& profile, const Frame& frame) {
  return frame.module < profile.modules.size() ? base_name(profile.modules[frame.module].path) : "";
}

bool is_loader(const std::string& module) { return module.starts_with("ld-linux") || module.starts_with("ld-2."); }

}  // namespace

uint32_t find_reserve_frame(const Profile& profile, const Site& site) {
  const SiteNumbers& n = site.numbers;
  if (site.node == 0 || n.total_blocks == 0 || n.total_bytes % n.total_blocks != 0) return kNoModule;
  const uint64_t size_bytes = n.total_bytes / n.total_blocks;
  if (size_bytes < kSmallest || size_bytes > kMostTuned) return kNoModule;
  uint32_t node = site.node;
  while (node != 0 && frame_kind(profile, profile.frames[profile.nodes[node].frame]) == FrameKind::kAllocator)
    node = profile.nodes[node].parent;
  if (node == 0) return kNoModule;
  const uint32_t innermost = profile.nodes[node].frame;
  if (profile.frames[innermost].function.empty()) {
    const uint32_t caller = profile.nodes[node].parent;
    const bool is_reserve = size_bytes <= kLargest && caller != 0 &&
                            module_name(profile, profile.frames[innermost]).starts_with("libstdc++.so") &&
                            is_loader(module_name(profile, profile.frames[profile.nodes[caller].frame]));
    return is_reserve ? innermost : kNoModule;
  }
  constexpr int kMostInlined = 4;  // the pool's constructor, and its callers
  for (int i = 0; i < kMostInlined && node != 0; ++i, node = profile.nodes[node].parent) {
    const Frame& frame = profile.frames[profile.nodes[node].frame];
    if (frame.function.starts_with(kInitializer)) return innermost;
  }
  return kNoModule;
}

std::vector<uint32_t> find_reserve_frames(const Profile& profile) {
  std::vector<uint32_t> frames;
  if (profile.devices.empty()) return frames;
  for (const Site& site : profile.devices[0].sites) {
    if (const uint32_t frame = find_reserve_frame(profile, site); frame != kNoModule) frames.push_back(frame);
  }
  return frames;
}

}  // namespace heapprof::cli
