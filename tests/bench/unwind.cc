// tests/bench/unwind.cc: nanoseconds for a whole stack, by depth, beside unw_step, unw_backtrace and glibc's backtrace.
//
// Prints a table of the best of many short rounds; asserts nothing. The frames are of sixteen functions in turn, and
// everything is warm, as it is in a loop of a real program.
#include "agent/verify/reference_unwind.h"
#include "tests/unit/agent_unwind/probe.h"

#include <dlfcn.h>
#include <libunwind.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

namespace {

using namespace heapprof::agent;

enum class Method { kVerified, kRules, kVerifyLibrary, kUnwBacktrace, kBacktrace };
constexpr int kRounds = 200;

test::OwnContext* g_context;
int (*g_backtrace)(void**, int);  // glibc's: libunwind exports one of the same name
Method g_method;
int g_repeats;
volatile uint64_t g_sink;
double g_best_ns;
uint32_t g_frames;

uint32_t walk_once(const StartFrame& start, std::vector<uint64_t>& pcs, std::vector<void*>& addresses) {
  switch (g_method) {
    case Method::kRules: reset_stack(g_context->get()); [[fallthrough]];
    case Method::kVerified: {
      StackDelta delta;
      capture_stack(g_context->get(), start, 1, &delta);
      return delta.keep + delta.fresh;
    }
    case Method::kVerifyLibrary:
      return heapprof_reference_unwind(start.pc_avma, start.sp, pcs.data(), static_cast<uint32_t>(pcs.size()));
    case Method::kUnwBacktrace: return static_cast<uint32_t>(unw_backtrace(addresses.data(), 1000));
    case Method::kBacktrace: return static_cast<uint32_t>(g_backtrace(addresses.data(), 1000));
  }
  return 0;
}

[[gnu::noinline]] void measure() {
  const StartFrame start{reinterpret_cast<uint64_t>(__builtin_return_address(0)),
                         reinterpret_cast<uint64_t>(__builtin_dwarf_cfa()),
                         *static_cast<const uint64_t*>(__builtin_frame_address(0))};
  std::vector<uint64_t> pcs(1000);
  std::vector<void*> addresses(1000);
  g_best_ns = 1e18;
  for (int round = 0; round < kRounds; ++round) {
    const auto before = std::chrono::steady_clock::now();
    for (int i = 0; i < g_repeats; ++i) g_sink = g_frames = walk_once(start, pcs, addresses);
    const std::chrono::duration<double, std::nano> spent = std::chrono::steady_clock::now() - before;
    g_best_ns = std::min(g_best_ns, spent.count() / g_repeats);
  }
}

using Level = void (*)(int);
extern const Level kLevels[16];

// Sixteen functions with frames of different sizes.
template <int kIndex>
[[gnu::noinline]] void descend(int depth) {
  char frame[16 + kIndex * 24];
  asm volatile("" ::"r"(frame) : "memory");
  if (depth <= 1) {
    measure();
  } else {
    kLevels[(kIndex * 5 + 3) % 16](depth - 1);
  }
  asm volatile("" ::"r"(frame) : "memory");
}
const Level kLevels[16] = {descend<0>,  descend<1>,  descend<2>,  descend<3>, descend<4>,  descend<5>,
                           descend<6>,  descend<7>,  descend<8>,  descend<9>, descend<10>, descend<11>,
                           descend<12>, descend<13>, descend<14>, descend<15>};

}  // namespace

int main() {
  if (!init_unwinder()) return 1;
  static test::OwnContext context;
  g_context = &context;
  g_backtrace = reinterpret_cast<int (*)(void**, int)>(dlsym(dlopen("libc.so.6", RTLD_NOW), "backtrace"));
  const struct {
    Method method;
    const char* name;
    int repeats;
  } methods[] = {{Method::kVerified, "heapprof, stack as before", 2000},
                 {Method::kRules, "heapprof, whole walk", 2000},
                 {Method::kUnwBacktrace, "libunwind unw_backtrace", 1000},
                 {Method::kVerifyLibrary, "libunwind unw_step (reference)", 5},
                 {Method::kBacktrace, "glibc backtrace", 20}};
  printf("%-32s %10s %10s %10s\n", "ns for a whole stack of", "11 frames", "31", "61");
  for (const auto& method : methods) {
    printf("%-32s", method.name);
    for (const uint32_t frames : {11u, 31u, 61u}) {
      g_method = Method::kRules;
      g_repeats = 1;
      kLevels[0](1);  // how many frames are below the first level
      const int depth = static_cast<int>(frames - g_frames + 1);
      g_method = method.method;
      g_repeats = method.repeats;
      kLevels[0](std::max(depth, 1));
      printf(" %10.1f", g_best_ns);
    }
    printf("\n");
  }
}
