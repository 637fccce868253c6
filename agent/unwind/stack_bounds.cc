// agent/unwind/stack_bounds.cc: asks the kernel which pages above a stack pointer can be read.
//
// /proc/self/maps has the bounds, but it is a file. Another thread may close all descriptors and then open a file that
// gets the same number: the agent would close that file. pthread_getattr_np returns the bounds of a thread's own stack,
// but it allocates, and it does not know the stacks of coroutines or signal handlers. So the agent lets the kernel read
// one byte of each page, upwards to the first page that is not readable, and only as far as a walk goes.
#include "agent/unwind/stack_bounds.h"

#include "agent/libc/raw.h"
#include "agent/libc/variables.h"
#include "agent/process/own_memory.h"
#include "agent/process/state.h"

#include <string.h>

namespace heapprof::agent {

namespace {

constexpr uint64_t kPageBytes = wire::kPageBytes;
// The kernel keeps 128 MiB below the main thread's stack free of mappings. Half of that is surely stack.
constexpr uint64_t kMainStackBytes = 64u << 20;
constexpr uint64_t kMostFrameBytes = 256u << 20;  // a frame that claims to be larger is rejected
constexpr uint64_t kNearBytes = 64u << 10;        // checked in one call
constexpr uint64_t kGrowBytes = 1u << 20;         // how far a known stack may have grown downwards
constexpr uint64_t kUnaskedBytes = 64u << 10;     // assumed readable if the kernel may not be asked
constexpr uint64_t kUsualThreadBytes = 8u << 20;

uint64_t page_of(uint64_t avma) { return avma & ~(kPageBytes - 1); }
uint64_t end_of_page(uint64_t avma) { return page_of(avma) + kPageBytes; }

// Returns the address up to which the memory from from_avma on is known to be this thread's stack, at most kNearBytes
// further. A thread's stack reaches up to its descriptor; if that is far off, returns from_avma. Other pages may be
// anything, and checking one may block until a thread provides it (userfaultfd).
uint64_t known_end(uint64_t from_avma) {
  const uint64_t thread_end_avma = end_of_page(thread_pointer());
  if (thread_end_avma - from_avma >= kUsualThreadBytes) return from_avma;
  return thread_end_avma - from_avma < kNearBytes ? thread_end_avma : from_avma + kNearBytes;
}

// The assumed bounds if the kernel cannot be asked.
AddressRange guess(uint64_t sp) {
  const uint64_t thread_avma = thread_pointer();  // at the top of the stack, if libc made the thread
  if (thread_avma - sp < kUsualThreadBytes) return {page_of(sp), thread_avma};
  return {page_of(sp), page_of(sp) + kUnaskedBytes};
}

AddressRange find_stack(uint64_t sp) {
  const auto main_end = end_of_page(reinterpret_cast<uint64_t>(__libc_stack_end));
  if (main_end - sp < kMainStackBytes) return {page_of(sp), main_end};
  if (!can_read_own_memory()) return guess(sp);
  return {page_of(sp), find_readable_end(page_of(sp), end_of_page(sp), known_end(sp))};
}

}  // namespace

void KnownStacks::change_to(uint64_t sp) {
  uint32_t at = 1;
  while (at < kKept - 1 && !stacks_[at].holds(sp)) ++at;
  AddressRange found = stacks_[at];
  if (!found.holds(sp)) {
    AddressRange& latest = stacks_[0];
    const bool has_grown = sp < latest.start && latest.start - sp < kGrowBytes &&
                           find_readable_end(page_of(sp), latest.start) >= latest.start;
    if (has_grown) {
      latest.start = page_of(sp);
      return;
    }
    found = find_stack(sp);
  }
  for (; at != 0; --at) stacks_[at] = stacks_[at - 1];
  stacks_[0] = found;
}

bool KnownStacks::reach(uint64_t end_avma) {
  AddressRange& stack = stacks_[0];
  // An earlier walk that began further up may have found a higher end. If the kernel cannot be asked, nothing more is
  // known.
  for (uint32_t at = 1; at < kKept; ++at) {
    if (stacks_[at].start <= stack.end && stacks_[at].end > stack.end) stack.end = stacks_[at].end;
  }
  if (end_avma <= stack.end) return true;
  if (end_avma - stack.end > kMostFrameBytes) return false;
  if (end_avma - stack.end > kNearBytes) return jump_to(end_avma);
  stack.end = find_readable_end(stack.end, end_avma, known_end(stack.end));
  return end_avma <= stack.end;
}

// Skips the memory of a very large frame, or the gap to the next piece of a split stack (-fsplit-stack). The memory
// between is not checked, because the walk does not read it, and a check would allocate pages that the program never
// touched.
bool KnownStacks::jump_to(uint64_t end_avma) {
  AddressRange found = {page_of(end_avma - kPageBytes), 0};
  found.end = find_readable_end(found.start, end_avma);
  if (found.end < end_avma) return false;
  for (uint32_t at = kKept - 1; at != 0; --at) stacks_[at] = stacks_[at - 1];
  stacks_[0] = found;
  return true;
}

bool KnownStacks::read_popped(uint64_t sp, uint64_t avma, uint64_t* value) {
  constexpr uint64_t kRedZoneBytes = 128;
  return sp - avma <= kRedZoneBytes && read(avma, sizeof *value, value);
}

bool KnownStacks::read(uint64_t avma, uint32_t size_bytes, uint64_t* value) {
  *value = 0;
  const auto* at = reinterpret_cast<const void*>(avma);
  if (!stacks_[0].holds(avma) || stacks_[0].end - avma < size_bytes) return read_own_memory(value, at, size_bytes);
  memcpy(value, at, size_bytes);
  return true;
}

}  // namespace heapprof::agent
