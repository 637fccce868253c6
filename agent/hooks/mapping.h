// agent/hooks/mapping.h: records memory that a program maps itself: by mmap, munmap, mremap, mprotect, pkey_mprotect,
// brk and sbrk.
//
// Guarantees
//  - What the program's allocator maps for itself is not recorded: calls from the object that serves malloc pass
//    through. (Calls that libc makes for its malloc, its loader and its threads never reach these hooks.)
//  - Before the start every function is called as it would have been, and nothing is recorded.
//  - mmap, munmap, mremap and mprotect are also recorded if the executable calls them by syscall(), unless its own
//    allocator is hooked.
//  - If mprotect makes pages both writable and executable, they stay what they were: reserved addresses, or mapped.
//  - If a range cannot be valid (not at a page, longer than the address space), the kernel gets to refuse it, and
//    nothing is recorded.
// Not provided: pages of huge file systems (hugetlbfs), which count as ordinary ones; shmat; system calls that bypass
//               libc's functions; a library's calls of syscall().
// Cost:     a record with its stack; the system call itself takes longer.
#pragma once

#include <stddef.h>

#include <cstdint>

namespace heapprof::agent {

// Once, at the start; pre: the real functions are found.
void settle_mapping_hooks();

// True if heapprof_mapping_syscall, below, replaces a call of syscall() that has this number and this return address.
bool is_mapping_of_program(size_t number, uint64_t caller_avma);

}  // namespace heapprof::agent

extern "C" __attribute__((visibility("hidden"))) long heapprof_mapping_syscall(long number, long first, long second,
                                                                               long third, long fourth, long fifth,
                                                                               long sixth);
