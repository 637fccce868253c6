// agent/unwind/stack_bounds.h: how far the memory reaches that a stack lies in: what a walk may read.
//
// Unwind tables may be wrong, and frame pointers data. A walk believes neither beyond the end of the stack that it is
// on: what lies there may not be mapped, and reading it would be the program's death.
//
// Guarantees
//  - All pages of [start, end) could be read when they were looked at, or are the main thread's stack.
// Not provided: the end of a stack where no system call may be made (a filter) and the stack is new: then 64 KiB above
//               the stack pointer are believed, or what lies below the thread's own descriptor. News that a coroutine's
//               stack was unmapped, or replaced by a shorter one.
// Context:  walks: go_to and reach are slow paths of a hook, that ask the kernel (agent/process/own_memory.h).
// Cost:     a comparison where the stack is the one of the walk before; else a system call or two.
#pragma once

#include <cstdint>

namespace heapprof::agent {

struct AddressRange {
  uint64_t start = 0;
  uint64_t end = 0;
  bool holds(uint64_t avma) const { return avma - start < end - start; }
};

// The stacks that a thread was seen on: its own, a signal handler's, coroutines'.
class KnownStacks {
 public:
  // The one on which the walk is.
  const AddressRange& current() const { return stacks_[0]; }

  // Makes the stack that holds sp the current one.
  void go_to(uint64_t sp) {
    if (__builtin_expect(!stacks_[0].holds(sp), 0)) change_to(sp);
  }
  // True if the current stack reaches up to end_avma, after it was looked whether there is more of it than was known.
  // If that is far off, the current one begins anew a page below end_avma.
  bool reach(uint64_t end_avma);
  // Copies size_bytes (8 at most) of the current stack, or of other memory that can be read. False: it cannot be.
  bool read(uint64_t avma, uint32_t size_bytes, uint64_t* value);
  // Copies a word that lies at most 128 bytes below sp, on a page that no walk has come to: what a function had popped
  // when a signal interrupted it. False: it cannot be read, or lies elsewhere.
  bool read_popped(uint64_t sp, uint64_t avma, uint64_t* value);

  void forget() { *this = {}; }

 private:
  void change_to(uint64_t sp);
  bool jump_to(uint64_t end_avma);

  static constexpr uint32_t kKept = 4;
  AddressRange stacks_[kKept];  // the latest first
};

}  // namespace heapprof::agent
