// cli/write/report/threads_text.h: what each thread of the program allocated on the heap.
#pragma once

#include "cli/model/profile/profile.h"

#include <cstddef>
#include <string>

namespace heapprof::cli {

struct ThreadsLook {
  size_t top = 0;  // how many threads
  bool exact_bytes = false;
  size_t columns = 80;
};

// The largest threads, each with its bytes, their share, what it allocated and freed, its name and number, and the rest
// in one line. Empty if the profile has no threads.
std::string threads_text(const Profile& profile, const ThreadsLook& look);

// Threads of the profile, with those that it only sums.
uint64_t count_threads(const RunInfo& run);

}  // namespace heapprof::cli
