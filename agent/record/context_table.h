// agent/record/context_table.h: all contexts of this process, whose each is, and what is left of earlier lives.
//
// Context:  as context.h; of the parts of agent/record that claim contexts and end lives only.
#pragma once

#include "agent/record/context.h"

namespace heapprof::agent {

inline constexpr uint32_t kSharedRing = 1;      // kept free for the threads that find no ring of their own
inline constexpr uint64_t kAlwaysBusy = ~0ull;  // guard of the shared context: leads every event to the slow path

extern Context* g_contexts[wire::kMaxRings];  // [0, n) are mapped; atomic where the lock is not held

// ---- Whose a context is ----
//
// Context::owner names the owner's thread-local storage and counts the owners, so that of two threads that take a
// context at once only one succeeds; kTaking is set until the rest of the context says whose it is. No two living
// threads have the same thread-local storage. So a context that names mine, and that I do not use, is of a thread that
// is gone, or was claimed by a handler that jumped out of the claim.

inline constexpr uint64_t kTaking = uint64_t{1} << 63;
inline constexpr uint64_t kOneOwner = uint64_t{1} << 44;
inline constexpr uint64_t kIdentity = kOneOwner - 1;

inline uint64_t own_identity() { return reinterpret_cast<uint64_t>(&t_context) >> 3 & kIdentity; }

inline uint64_t owner_of(const Context* context) { return __atomic_load_n(&context->owner, __ATOMIC_ACQUIRE); }

// False: somebody else has taken it since `seen` was its owner.
inline bool try_own(Context* context, uint64_t seen) {
  const uint64_t taken = ((seen & ~kIdentity) + kOneOwner) | own_identity() | kTaking;
  return __atomic_compare_exchange_n(&context->owner, &seen, taken, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

inline void finish_owning(Context* context) {
  __atomic_store_n(&context->owner, context->owner & ~kTaking, __ATOMIC_RELEASE);
}

// Of this process: an id may belong to another one by now.
inline bool is_thread_gone(uint32_t thread_id) {
  return raw_syscall(SYS_tgkill, g_pid, static_cast<long>(thread_id), 0) == -ESRCH;
}

// Memory of an earlier life that no other thread can reach: that of a thread that is gone, that which had no owner, and
// the calling thread's own if it claims it. What was kept to be shared is so again if no thread ever had it. It is
// zero. nullptr: there is none. pre: the lock is held, signals are blocked.
unsigned char* take_older(uint32_t ring, uint64_t size_bytes, bool is_claimed);

}  // namespace heapprof::agent
