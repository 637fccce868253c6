// agent/process/sanitizer_check.h: checks whether a program is built with a sanitizer that replaces malloc and must be
// loaded first.
//
// With the agent preloaded before them, AddressSanitizer refuses to start, and ThreadSanitizer and LeakSanitizer crash.
//
// Guarantees
//  - At most some hundred reads, whatever the file says; the usual program takes a dozen.
// Not provided: a sanitizer that is linked statically into a program without a GNU hash table (-Wl,--hash-style=sysv).
// Context:  as check_image (image_check.h), on the file table that check_image works on.
// Trust:    the file is hostile. Its numbers are checked by the reads that use them: a read beyond the file's end
//           fails.
#pragma once

#include <elf.h>

namespace heapprof::agent {

// pre: header is that of an ELF file for x86-64, whose descriptor is fd.
bool has_sanitizer(int fd, const Elf64_Ehdr& header);

// Whether a file of that name, without its folder, is such a sanitizer's library. The name may end anywhere after the
// part that identifies it.
bool is_sanitizer_library(const char* name);

}  // namespace heapprof::agent
