// agent/hooks/fork.cc: the hook of fork, which acts only in the child: it notes the child's id, and begins a session
// there if a signal handler forked inside an event.
//
// A child's session begins at its first allocation (start/start.cc), which needs no hook of fork. But a handler may
// interrupt an event and fork. When the handler returns, the child goes on with that event, and would write the rest of
// it into the parent's ring. So the child leaves the arena before that. A handler that forks in another way is not seen
// (agent/README.md, "Limits, stated").
#include "agent/hooks/fork.h"

#include "agent/hooks/hook.h"
#include "agent/start/start.h"

// X(name): unistd.h, which declares them, does not agree on noexcept from version to version.
#define HEAPPROF_FORK_FUNCTIONS(X) X(fork) X(_Fork) X(__fork)

namespace heapprof::agent {

namespace {

using Fork = int();

struct RealFork {
#define X(name) Fork* name;
  HEAPPROF_FORK_FUNCTIONS(X)
#undef X
};
RealFork g_real_fork;

int call_fork(Fork* real) {
  if (real == nullptr) return static_cast<int>(result_as_libc(-ENOSYS));  // _Fork before glibc 2.34
  const int child = real();
  if (child == 0) {
    const int error = errno;
    note_forked();
    errno = error;
  }
  return child;
}

const RealFork& real_fork() {
  resolve_real_functions();
  return g_real_fork;
}

}  // namespace

void settle_fork_hooks() {
#define X(name) find_real(&g_real_fork.name, #name);
  HEAPPROF_FORK_FUNCTIONS(X)
#undef X
}

}  // namespace heapprof::agent

#define X(name) \
  EARLY_HOOK(int, name)() { return heapprof::agent::call_fork(heapprof::agent::real_fork().name); }
HEAPPROF_FORK_FUNCTIONS(X)
#undef X
