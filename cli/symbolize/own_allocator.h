// cli/symbolize/own_allocator.h: whether a program has its own allocator, by its symbols.
//
// Calls of an allocator that is linked into the executable under its own names (Rust's _rjem_malloc, mi_malloc, Go's
// runtime.mallocgc) reach no hook, unless the agent patches the allocator (shared/inner.h). Without hooks the profile
// is nearly empty, and nothing else explains why.
//
// Context:  any thread; reads with pread.
// Trust:    the file is hostile: lengths are checked, at most 128 MiB of a table are read.
#pragma once

#include <string>

namespace heapprof::cli {

// The best known allocating function that this file of a program defines; empty if it defines none, or has another
// build id (lower-case hex).
std::string find_own_allocator(int fd, const std::string& build_id);

// What identifies an allocator in this library that the agent does not see: the name of a function that the library
// does not export ("je_mallocx"); "malloc" if the library's calls reach its own malloc; or, if it was stripped, "texts
// of jemalloc". Empty: no such allocator.
// Cost: a stripped library is read completely, up to 1 GiB.
std::string find_library_allocator(int fd, const std::string& build_id);

}  // namespace heapprof::cli
