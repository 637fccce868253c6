// agent/record/context_lives.cc: what becomes of contexts when a session ends.
//
// A context cannot be unmapped: a thread that never allocates again keeps its address for ever. If the process goes on
// and may be attached to again, the memory is kept for that thread alone.
#include "agent/process/arena.h"
#include "agent/record/context_table.h"

namespace heapprof::agent {

namespace {

Context* g_older = nullptr;  // contexts of this process's earlier sessions: a list linked by Context::older

}  // namespace

unsigned char* take_older(uint32_t ring, uint64_t size_bytes, bool is_claimed) {
  for (Context** link = &g_older; *link != nullptr; link = &(*link)->older) {
    Context* const context = *link;
    if (context->is_shared != (ring == kSharedRing) || (context->is_shared && context->thread_id != 0)) continue;
    const uint64_t owner = owner_of(context);
    const bool is_mine = is_claimed && (owner & kIdentity) == own_identity();
    if (!is_mine && owner != 0 && !is_thread_gone(context->thread_id)) continue;
    *link = context->older;
    raw_syscall(SYS_madvise, reinterpret_cast<long>(context), static_cast<long>(size_bytes), MADV_DONTNEED);
    return reinterpret_cast<unsigned char*>(context);
  }
  return nullptr;
}

namespace {

void forget_contexts(bool keeps_memory) {
  if (!is_filtered()) forget_filters();
  for (Context*& context : g_contexts) {
    if (context == nullptr) continue;
    // A thread that still holds this context takes the slow path, which sees that the context's session is over.
    if (context->guard == 0) context->guard = kAlwaysBusy;
    if (keeps_memory) {
      context->older = g_older;
      g_older = context;
    }
    context = nullptr;
  }
  if (!keeps_memory) g_older = nullptr;  // the threads of the parent do not exist in a child
  t_context = nullptr;
}

}  // namespace

void forget_contexts() { forget_contexts(false); }
void retire_contexts() { forget_contexts(true); }

bool has_events_in_progress() {
  for (const Context* context : g_contexts) {
    if (context == nullptr) continue;
    const uint64_t guard = __atomic_load_n(&context->guard, __ATOMIC_ACQUIRE);
    const bool is_free = context->is_shared ? context->lock.load(std::memory_order_acquire) == 0 : guard == 0;
    if (!is_free) return true;
  }
  return false;
}

}  // namespace heapprof::agent
