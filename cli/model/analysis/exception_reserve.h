// cli/model/analysis/exception_reserve.h: the block that libstdc++ allocates when it is loaded, for exceptions thrown
// after memory has run out.
//
// Every C++ program has it, and every C program that loads a C++ library: 71 KiB that the program did not ask for and
// cannot free. In a small program it would be the largest place.
//
// Guarantees
//  - A block of the program itself is never mistaken for it, because the allocating call must be in an initializer of
//    libstdc++: in one that the loader runs, or in the one named after the reserve.
// Not provided: the reserve of a libstdc++ without names whose size was changed (GLIBCXX_TUNABLES); it is an ordinary
//           place.
#pragma once

#include "cli/model/profile/profile.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace heapprof::cli {

inline constexpr std::string_view kReserveName = "libstdc++'s reserve for exceptions";

// Returns the frame of libstdc++ that allocated the reserve; kNoModule if the site is not the reserve's.
uint32_t find_reserve_frame(const Profile& profile, const Site& site);

// The same for all sites of the heap. A profile has at most one such frame.
std::vector<uint32_t> find_reserve_frames(const Profile& profile);

}  // namespace heapprof::cli
