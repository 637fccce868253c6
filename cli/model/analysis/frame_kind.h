// cli/model/analysis/frame_kind.h: whose frame it is: the user's own, or the allocator's, the standard library's, the
// runtime's.
//
// Reports name a site by its innermost frame that is the user's own; the others are hidden and shown on request.
//
// Not provided: certainty. It goes by names: a user's own namespace called std, or a function called
// malloc_stats_of_mine, may be hidden; nothing but the look of a report depends on it.
#pragma once

#include "cli/model/profile/profile.h"

#include <cstdint>
#include <string_view>

namespace heapprof::cli {

enum class FrameKind {
  kUser,
  kAllocator,  // malloc and its family, operator new, the common allocators, strdup and what else only allocates
  kStandard,   // the standard libraries of C++ and Rust
  kRuntime,    // before main: _start, clone, the loader's own work
  kUnknown,    // no name: it may be anybody's
};

FrameKind frame_kind(const Profile& profile, const Frame& frame);

// By name and module path alone (either may be empty).
FrameKind frame_kind(std::string_view function, std::string_view module_path);

}  // namespace heapprof::cli
