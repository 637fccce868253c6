// agent/record/abandoned.cc: proofs that an event was left for good.
//
// A handler that interrupted an event finds it in progress, and so does whoever runs after a handler that jumped out of
// it. The first must leave it alone: it goes on where it was, and two that write into one ring destroy it. The second
// need not be told apart at once, as there are more contexts. So an event counts as interrupted until something proves
// that it was abandoned:
//  - Its hook's frame is in use again: the return address lies in the frames of this very call.
//  - This event began on the same stack, and not below it. Which addresses are on one stack is known of the thread's
//    own stack and of its alternate one (process/thread_stacks.h); what lies elsewhere may be any coroutine's.
//  - It began on an alternate stack that stays installed while handlers run there, and this one on the thread's own.
//  - Where there is no further context: it began above on the same stack, and between the two is no word that leads
//    into the agent. Had it been interrupted, a return address or the signal's frame would be there.
// What began inside an abandoned event was abandoned with it.
#include "agent/record/abandoned.h"

namespace heapprof::agent {

namespace {

constexpr uint64_t kMostSearchedBytes = 256u << 10;

// By the linker: where the agent begins, and what stands behind its code.
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
