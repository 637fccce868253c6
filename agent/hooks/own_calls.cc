// agent/hooks/own_calls.cc: two functions for each function of the malloc family. The hook calls `within_`, which
// stores its own frame and calls the library. The library's slots point to `own_`, which calls either the library again
// or the hook.
#include "agent/hooks/own_calls.h"

#include "agent/hooks/operator_new.h"
#include "agent/hooks/real.h"
#include "agent/process/link_map.h"
#include "agent/process/redirect.h"

namespace heapprof::agent {

constinit thread_local uint64_t t_allocator_frame __attribute__((tls_model("initial-exec"))) = 0;

namespace {

RealFunctions g_library{};  // as the library has them
RealFunctions g_hooks{};
const link_map* g_redirected_object = nullptr;  // the object whose calls were redirected
bool g_is_redirected = false;

#define X(result, name, params, args)                                                \
  result within_##name params {                                                      \
    const WithinAllocator within(__builtin_frame_address(0));                        \
    return g_library.name args;                                                      \
  }                                                                                  \
  result own_##name params {                                                         \
    if (is_within_allocator(__builtin_frame_address(0))) return g_library.name args; \
    return g_hooks.name args;                                                        \
  }
#include "shared/hooks.def"
#undef X

constexpr size_t kCount = 0
#define X(result, name, params, args) +1
#include "shared/hooks.def"
#undef X
    ;

Redirection g_list[kCount + kNewOperators]{};
Redirection g_back[kCount + kNewOperators]{};  // restores what the library had
size_t g_count = 0;                            // entries in each of the two

// Leaves out functions that the main program defines, because the library calls those.
void fill_lists() {
  g_count = 0;
#define X(result, name, params, args)                                                                                 \
  if (find_in_process(#name).object == find_behind_agent(#name).object) {                                             \
    g_back[g_count] = {#name, reinterpret_cast<void*>(g_library.name), reinterpret_cast<void*>(own_##name), nullptr}; \
    g_list[g_count++] = {#name, reinterpret_cast<void*>(own_##name), reinterpret_cast<void*>(g_hooks.name), nullptr}; \
  }
#include "shared/hooks.def"
#undef X
  g_count += list_own_new(&g_list[g_count], &g_back[g_count]);
}

// Looks in the agent's own symbol table, because a look-up by name may be translated to the function from before an
// attach.
void find_hooks() {
  SoughtSymbol symbols[kCount] = {
#define X(result, name, params, args) {#name, nullptr},
#include "shared/hooks.def"
#undef X
  };
  const link_map* const agent = agent_object();
  find_symbols_in_object(agent, symbols, kCount);
  const SoughtSymbol* at = symbols;
#define X(result, name, params, args) \
  g_hooks.name = reinterpret_cast<result(*) params>(agent->l_addr + (at++)->symbol->st_value);
#include "shared/hooks.def"
#undef X
}

}  // namespace

void redirect_allocator_calls(const link_map* malloc_object) {
  if (malloc_object == nullptr || g_redirected_object != nullptr || agent_object() == nullptr) return;
  // libc does not call itself through its tables
  if (malloc_object == find_in_glibc("gnu_get_libc_version").object) return;
  find_hooks();
  g_library = g_real;
  fill_lists();
  if (!redirect_own_calls(malloc_object, g_list, g_count)) return;
  g_redirected_object = malloc_object;
  g_is_redirected = true;
  pass_own_new();
  uint32_t bit = 0;
#define X(result, name, params, args)                              \
  if ((g_one_family >> bit & 1) != 0) g_real.name = within_##name; \
  ++bit;
#include "shared/hooks.def"
#undef X
}

void restore_own_calls() {
  if (!g_is_redirected) return;
  redirect_own_calls(g_redirected_object, g_back, g_count);
  g_is_redirected = false;
}

void redirect_allocator_calls_again() {
  if (g_is_redirected || g_redirected_object == nullptr) return;
  redirect_own_calls(g_redirected_object, g_list, g_count);
  g_is_redirected = true;
}

}  // namespace heapprof::agent
