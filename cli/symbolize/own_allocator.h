// cli/symbolize/own_allocator.h: whether a program has an allocator of its own, as its symbols say.
//
// An allocator that is linked into the executable under names of its own (Rust's _rjem_malloc, mi_malloc, Go's
// runtime.mallocgc) never reaches the hooks: the profile is nearly empty, and nothing else would say why.
//
// Context:  any thread; reads with pread.
// Trust:    the file is hostile: lengths are checked, at most 128 MiB of a table are read.
#pragma once

#include <string>

namespace heapprof::cli {

// The best known of the allocating functions that this file of a program defines; empty if there is none, or the file
// is not the one with this build id (lower-case hex).
std::string find_own_allocator(int fd, const std::string& build_id);

// What an allocator in this library is known by, where the agent does not see it: the name of a function that the
// library does not export ("je_mallocx"), "malloc" where its own calls reach its own, or, where it was stripped, "texts
// of jemalloc". Empty: nothing of the kind.
// Cost: a stripped library is read whole, 1 GiB of it at most.
std::string find_library_allocator(int fd, const std::string& build_id);

}  // namespace heapprof::cli
