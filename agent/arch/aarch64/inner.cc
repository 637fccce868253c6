// agent/arch/aarch64/inner.cc: no allocator inside the executable is hooked: the heapprof command makes no plan.
#include "agent/hooks/inner.h"

namespace heapprof::agent {

void hook_inner_allocators() {}
bool has_inner_allocator() { return false; }
bool is_call_of_inner(HookFrame) { return false; }
bool is_inner_code(uint64_t) { return false; }

}  // namespace heapprof::agent
