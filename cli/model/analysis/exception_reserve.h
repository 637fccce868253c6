// cli/model/analysis/exception_reserve.h: the block that libstdc++ takes when it is loaded, for exceptions that are
// thrown when memory has run out.
//
// Every C++ program has it, and every C program that loads a C++ library: 71 KiB that nobody asked for and nobody can
// free. In a small program it would be the largest place.
//
// Guarantees
//  - A block of the program's own is never taken for it: the call is in a static initializer of libstdc++ that the
//    loader runs, or in the one that is named for the reserve.
// Not provided: the reserve of a libstdc++ without names whose size was changed (GLIBCXX_TUNABLES); it is a place like
//           others.
#pragma once

#include "cli/model/profile/profile.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace heapprof::cli {

inline constexpr std::string_view kReserveName = "libstdc++'s reserve for exceptions";

// The frame of libstdc++ that took it; kNoModule: the site is another.
uint32_t find_reserve_frame(const Profile& profile, const Site& site);

// Of all sites of the heap; a profile has one, or none.
std::vector<uint32_t> find_reserve_frames(const Profile& profile);

}  // namespace heapprof::cli
