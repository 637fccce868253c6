// agent/hooks/mapping.h: memory that a program maps itself: mmap, munmap, mremap, mprotect, pkey_mprotect, brk and
// sbrk.
//
// Guarantees
//  - What the allocator behind us maps for itself is not recorded: calls that come from the object that serves malloc
//    pass through. (libc's own calls, of its malloc, its loader and its threads, never come here.)
//  - Before the start every function is called as it would have been, and nothing is recorded.
//  - A range that cannot be one (not at a page, longer than the address space) is the kernel's to refuse, and not
//    recorded.
// Not provided: pages of huge file systems (hugetlbfs) count as ordinary ones; shmat; system calls without libc's
//               functions.
// Cost:     a record with its stack, beside a system call that takes more.
#pragma once

namespace heapprof::agent {

// Once, at the start; pre: the real functions are found.
void settle_mapping_hooks();

}  // namespace heapprof::agent
