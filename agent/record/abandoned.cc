// agent/record/abandoned.cc: proofs that an event was abandoned.
//
// A signal handler finds the event that it interrupted in progress. Code that runs after a handler has jumped out of an
// event finds it in progress, too. An interrupted event must be left alone: it will resume, and two writers would
// corrupt its ring. An abandoned event need not be recognised at once, as there are more contexts. So an event counts
// as interrupted until something proves that it was abandoned:
//  - Its hook's frame is in use again: the return address lies in the frames of this very call.
//  - This event began on the same stack as the old one, at the same address or above. The agent knows the bounds of the
//    thread's own stack and of its alternate one (process/thread_stacks.h); an address elsewhere may be on any
//    coroutine's stack.
//  - The old event began on an alternate stack that stays installed while handlers run there, and this event began on
//    the thread's own stack.
//  - No further context is left, the old event began above this one on the same stack, and no word between the two
//    points into the agent. If the old event had been interrupted, a return address into the agent or the signal's
//    frame would be there.
// Events that began inside an abandoned event were abandoned with it.
#include "agent/record/abandoned.h"

namespace heapprof::agent {

namespace {

constexpr uint64_t kMostSearchedBytes = 256u << 10;

// Defined by the linker: where the agent begins, and what follows its code.
extern "C" {
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _DYNAMIC[] __attribute__((visibility("hidden")));
}

}  // namespace

bool is_abandoned(const ThreadStacks& stacks, uint64_t old_sp, const EventStart& start) {
  if (old_sp > start.own_sp && old_sp <= start.sp) return true;
  if (start.sp >= old_sp && stacks.is_same(old_sp, start.sp)) return true;
  return stacks.is_alternate_left(old_sp, start.sp);
}

bool leads_nowhere(const ThreadStacks& stacks, uint64_t old_sp, const EventStart& start) {
  if (old_sp <= start.sp || old_sp - start.sp > kMostSearchedBytes || ((old_sp | start.sp) & 7) != 0) return false;
  if (!stacks.is_same(old_sp, start.sp)) return false;
  const auto code_avma = reinterpret_cast<uint64_t>(__ehdr_start);
  const uint64_t code_bytes = reinterpret_cast<uint64_t>(_DYNAMIC) - code_avma;
  for (uint64_t at = start.sp; at < old_sp; at += 8) {
    if (*reinterpret_cast<const uint64_t*>(at) - code_avma < code_bytes) return false;
  }
  return true;
}

}  // namespace heapprof::agent
