// agent/record/start_python.cc: gives a context what it needs to read its thread's Python frames.
#include "agent/process/lock.h"
#include "agent/process/own_pages.h"
#include "agent/python/codes.h"
#include "agent/record/context.h"
#include "agent/start/start.h"

namespace heapprof::agent {

void start_python(Context* context) {
  if (!may_ask_kernel() || context->is_shared) return;
  const SignalsBlocked blocked;
  if (sys_getpid() != g_pid) return;
  lock(g_fork_page.lock);
  if (context->python == nullptr && prepare_codes()) {
    const uint64_t size_bytes = python_stack_bytes();
    if (void* const memory = map_private(size_bytes)) {
      note_own_pages(memory, size_bytes);
      context->python = make_python_stack(memory);
    }
  }
  unlock(g_fork_page.lock);
}

}  // namespace heapprof::agent
