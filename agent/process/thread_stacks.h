// agent/process/thread_stacks.h: tells on which stack of the calling thread an address is: on its own, or on the
// alternate stack of its signal handlers.
//
// Guarantees
//  - Other stacks are kUnknown: a coroutine's, and an alternate stack that the program installed by a `syscall`
//    instruction of its own and that the kernel may not be asked about.
//  - No lock, no allocation. The kernel is asked only if that is allowed.
// Not provided: bounds that may be read. A stack's guard page may lie within them.
//
// Context:  slow paths of hooks, signal handlers too.
// Cost:     20 ns, and 100 ns more if the kernel is asked.
#pragma once

#include <signal.h>

#include <cstdint>

namespace heapprof::agent {

enum class StackKind : uint8_t {
  kUnknown,
  kOwn,        // what the kernel or pthread_create gave to the thread
  kAsked,      // the alternate stack, as the kernel reports it
  kRemembered  // the alternate stack that the program installed last, if the kernel does not report it
};

struct AlternateStack {
  uint64_t low_avma;
  uint64_t size_bytes;  // 0: no alternate stack
};

// What is known of the calling thread's stacks now.
class ThreadStacks {
 public:
  // may_ask: a system call may be made
  explicit ThreadStacks(bool may_ask);
  StackKind kind_of(uint64_t sp) const;
  // True if both stack pointers are on the same stack for certain.
  bool is_same(uint64_t a_sp, uint64_t b_sp) const {
    const StackKind kind = kind_of(a_sp);
    return kind != StackKind::kUnknown && kind == kind_of(b_sp);
  }
  // True if the thread was on its alternate stack at old_sp, and has left it, because it is on its own stack at sp.
  // This can be known only if the alternate stack stays installed while handlers run on it.
  bool is_alternate_left(uint64_t old_sp, uint64_t sp) const;

 private:
  AlternateStack asked_{};
  bool stays_installed_;  // the alternate stack stays installed while handlers run on it
  uint64_t own_low_avma_;
  uint64_t own_end_avma_;
};

// Searches the `count` words of a thread's descriptor for the address and size of the thread's stack, and returns that
// address; 0: they are not there (the main thread's). Other words may look alike: the thread's id, which is id_off
// bytes from the start (0: unknown) and is no size, beside a pointer to the descriptor, which is no size either.
uint64_t find_stack_start(const uint64_t* words, uint64_t count, uint64_t descriptor_avma, uint64_t id_off);

// Stores what the program has given to sigaltstack.
void remember_alternate_stack(const stack_t& stack);

// The calling thread's id in the kernel, from libc's descriptor of the thread: no system call. 0: libc does not say
// where.
uint32_t described_thread_id();

// Once, at the start: finds out how libc describes a thread.
void settle_thread_stacks();

}  // namespace heapprof::agent
