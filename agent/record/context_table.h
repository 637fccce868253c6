// agent/record/context_table.h: all contexts of this process, their owners, and what is left of earlier sessions.
//
// Context:  as context.h; only for the parts of agent/record that claim contexts and end sessions.
#pragma once

#include "agent/record/context.h"

namespace heapprof::agent {

inline constexpr uint32_t kSharedRing = 1;      // kept free for the threads that find no ring of their own
inline constexpr uint64_t kAlwaysBusy = ~0ull;  // guard of the shared context: sends every event to the slow path

extern Context* g_contexts[wire::kMaxRings];  // [0, n) are mapped; without the lock, read them atomically

// ---- The owner of a context ----
//
// Context::owner names the owner's thread-local storage and counts the owners, so that if two threads take a context at
// once, only one succeeds. kTaking is set until the rest of the context names its owner. No two living threads have the
// same thread-local storage. So if a context names the calling thread's storage, but this thread does not use it, then
// its owner is gone, or a handler claimed it and jumped out of the claim.

inline constexpr uint64_t kTaking = uint64_t{1} << 63;
inline constexpr uint64_t kOneOwner = uint64_t{1} << 44;
inline constexpr uint64_t kIdentity = kOneOwner - 1;

inline uint64_t own_identity() { return reinterpret_cast<uint64_t>(&t_context) >> 3 & kIdentity; }

inline uint64_t owner_of(const Context* context) { return __atomic_load_n(&context->owner, __ATOMIC_ACQUIRE); }

// False: another thread has taken it since `seen` was its owner.
inline bool try_own(Context* context, uint64_t seen) {
  const uint64_t taken = ((seen & ~kIdentity) + kOneOwner) | own_identity() | kTaking;
  return __atomic_compare_exchange_n(&context->owner, &seen, taken, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

inline void finish_owning(Context* context) {
  __atomic_store_n(&context->owner, context->owner & ~kTaking, __ATOMIC_RELEASE);
}

// Asks about this process only: by now a thread of another process may have the id.
inline bool is_thread_gone(uint32_t thread_id) {
  return raw_syscall(SYS_tgkill, g_pid, static_cast<long>(thread_id), 0) == -ESRCH;
}

// Returns the zeroed memory of an earlier session's context that no other thread can reach: its owner is gone, or it
// has no owner, or (only if is_claimed) the calling thread owns it. A shared context's memory is reused, for the shared
// ring, only if no thread ever used that context. nullptr: no such memory. pre: the lock is held, signals are blocked.
unsigned char* take_older(uint32_t ring, uint64_t size_bytes, bool is_claimed);

}  // namespace heapprof::agent
