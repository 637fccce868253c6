// agent/hooks/mapping.h: memory that a program maps itself: mmap, munmap, mremap, mprotect, pkey_mprotect, brk and
// sbrk.
//
// Guarantees
//  - What the allocator behind the agent maps for itself is not recorded: calls that come from the object that serves
//    malloc pass through. (libc's own calls, of its malloc, its loader and its threads, never come here.)
//  - Before the start every function is called as it would have been, and nothing is recorded.
//  - mmap, munmap, mremap and mprotect count as well where the executable calls them by syscall(), unless its own
//    allocator is hooked.
//  - Pages that mprotect makes writable and executable at once stay what they were: reserved addresses, or mapped.
//  - A range that cannot be one (not at a page, longer than the address space) is left for the kernel to refuse, and
//    not recorded.
// Not provided: pages of huge file systems (hugetlbfs) count as ordinary ones; shmat; system calls without libc's
//               functions, and by syscall() of libraries.
// Cost:     a record with its stack, beside a system call that takes more.
#pragma once

#include <stddef.h>

#include <cstdint>

namespace heapprof::agent {

// Once, at the start; pre: the real functions are found.
void settle_mapping_hooks();

// Whether heapprof_mapping_syscall, below, replaces a call of syscall() that returns there.
bool is_mapping_of_program(size_t number, uint64_t caller_avma);

}  // namespace heapprof::agent

extern "C" __attribute__((visibility("hidden"))) long heapprof_mapping_syscall(long number, long first, long second,
                                                                               long third, long fourth, long fifth,
                                                                               long sixth);
