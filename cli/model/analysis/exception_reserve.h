// cli/model/analysis/exception_reserve.h: the block that libstdc++ allocates when it is loaded, for exceptions thrown
// after memory has run out.
//
// Every C++ program has it, and every C program that loads a C++ library: 71 KiB that the program did not ask for and
// cannot free. In a small program it would be the largest place.
//
// Guarantees
//  - A block of the program itself is never mistaken for it: the call is in a static initializer of libstdc++ that the
//    loader runs, or in the one named after the reserve.
// Not provided: the reserve of a libstdc++ without names whose size was changed (GLIBCXX_TUNABLES); it is an ordinary
//           place.
#pragma once

#include "cli/model/profile/profile.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace heapprof::cli {

inline constexpr std::string_view kReserveName = "libstdc++'s reserve for exceptions";

// The frame of libstdc++ that allocated it; kNoModule: not the reserve's site.
uint32_t find_reserve_frame(const Profile& profile, const Site& site);

// For all sites of the heap; a profile has at most one.
std::vector<uint32_t> find_reserve_frames(const Profile& profile);

}  // namespace heapprof::cli
