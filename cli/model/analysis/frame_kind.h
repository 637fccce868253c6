// cli/model/analysis/frame_kind.h: whether a frame is the user's own, or the allocator's, the standard library's or the
// runtime's.
//
// Reports name a site by its innermost user frame; system frames are hidden and shown on request.
//
// Not provided: certainty. The kind is decided by names, so a user's own namespace called std, or a function called
// malloc_stats_of_mine, may be hidden. Only the look of a report depends on it.
#pragma once

#include "cli/model/profile/profile.h"

#include <cstdint>
#include <string_view>

namespace heapprof::cli {

enum class FrameKind {
  kUser,
  kAllocator,  // malloc and its family, operator new, the common allocators, strdup and others that only allocate
  kStandard,   // the standard libraries of C++ and Rust
  kRuntime,    // before main: _start, clone, the loader's own work
  kUnknown,    // no name: the owner is unknown
};

FrameKind frame_kind(const Profile& profile, const Frame& frame);

// The same, by function name and module path only. Either may be empty.
FrameKind frame_kind(std::string_view function, std::string_view module_path);

}  // namespace heapprof::cli
