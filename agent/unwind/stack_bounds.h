// agent/unwind/stack_bounds.h: the bounds of the memory around a stack that a walk may read.
//
// Unwind tables may be wrong, and frame pointers may be data. A walk follows neither beyond the end of its stack:
// memory there may be unmapped, and reading it would kill the program.
//
// Guarantees
//  - All pages of [start, end) were readable when they were checked, or are the main thread's stack.
// Not provided: the end of a stack that is first seen while a seccomp filter forbids system calls: the agent then
//               assumes that memory is readable up to the thread's own descriptor, or else 64 KiB above the stack
//               pointer. Nor does it notice that a coroutine's stack was unmapped, or replaced by a shorter one.
// Context:  walks: go_to and reach are slow paths of a hook that ask the kernel (agent/process/own_memory.h).
// Cost:     a comparison if the stack is that of the previous walk; else one or two system calls.
#pragma once

#include <cstdint>

namespace heapprof::agent {

struct AddressRange {
  uint64_t start = 0;
  uint64_t end = 0;
  bool holds(uint64_t avma) const { return avma - start < end - start; }
};

// The stacks that a thread was seen on: its own, a signal handler's, those of coroutines.
class KnownStacks {
 public:
  // The stack that the walk is on.
  const AddressRange& current() const { return stacks_[0]; }

  // Makes the stack that holds sp the current one.
  void go_to(uint64_t sp) {
    if (__builtin_expect(!stacks_[0].holds(sp), 0)) change_to(sp);
  }
  // True if the current stack reaches up to end_avma. Checks with the kernel if end_avma is beyond the known end. If
  // end_avma is far beyond it, the current stack then begins a page below end_avma.
  bool reach(uint64_t end_avma);
  // Copies size_bytes (8 at most) of the current stack, or of other readable memory. False: it is not readable.
  bool read(uint64_t avma, uint32_t size_bytes, uint64_t* value);
  // Copies a word that lies at most 128 bytes below sp, on a page that no walk has reached. A function had popped this
  // word when a signal interrupted it. False: the word is not readable, or lies elsewhere.
  bool read_popped(uint64_t sp, uint64_t avma, uint64_t* value);

  void forget() { *this = {}; }

 private:
  void change_to(uint64_t sp);
  bool jump_to(uint64_t end_avma);

  static constexpr uint32_t kKept = 4;
  AddressRange stacks_[kKept];  // the latest first
};

}  // namespace heapprof::agent
