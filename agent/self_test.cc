// agent/self_test.cc: see self_test.h. The calls go through the same symbols as the program's own.
#include "agent/self_test.h"

#include <malloc.h>
#include <stdlib.h>

#include "agent/lifecycle.h"
#include "agent/link_map.h"

// C23's, where libc has them; the agent defines them always.
extern "C" void free_sized(void* block, size_t size);
extern "C" void free_aligned_sized(void* block, size_t alignment, size_t size);
extern "C" void* _Znwm(size_t size);
extern "C" void _ZdlPv(void* block);

namespace heapprof::agent {

volatile uint32_t g_self_test_events = 0;

namespace {

constexpr size_t kAlignment = 64;
constexpr size_t kSize = 128;

enum Hook : uint32_t {
#define X(result, name, params, args) kHook_##name,
#include "shared/hooks.def"
#undef X
};

class Tester {
 public:
  // Calls `action` and notes a failure of `hook` if it did not give `want` events.
  template <typename Action>
  auto expect(Hook hook, uint32_t want, Action action) {
    return expect_bit(hook, want, action);
  }
  template <typename Action>
  auto expect_bit(uint32_t bit, uint32_t want, Action action) {
    const uint32_t before = g_self_test_events;
    struct Check {
      Tester* tester;
      uint32_t bit, target;
      ~Check() {
        if (g_self_test_events != target) tester->failures_ |= 1u << bit;
      }
    } check{this, bit, before + want};
    return action();
  }
  uint32_t failures() const { return failures_; }

 private:
  uint32_t failures_ = 0;
};

}  // namespace

uint32_t run_self_test() {
  t_flags |= kThreadSelfTest;
  Tester tester;
  // volatile: the compiler may remove a malloc whose block is freed unused
  void* volatile block = tester.expect(kHook_malloc, 1, [] { return malloc(kSize); });
  block = tester.expect(kHook_realloc, 2, [&block] { return realloc(block, 2 * kSize); });
  tester.expect(kHook_free, 1, [&block] { free(block); });
  block = tester.expect(kHook_calloc, 1, [] { return calloc(2, kSize); });
  tester.expect(kHook_free_sized, 1, [&block] { free_sized(block, 2 * kSize); });
  block = tester.expect(kHook_memalign, 1, [] { return memalign(kAlignment, kSize); });
  free(block);
  block = tester.expect(kHook_aligned_alloc, 1, [] { return aligned_alloc(kAlignment, kSize); });
  tester.expect(kHook_free_aligned_sized, 1, [&block] { free_aligned_sized(block, kAlignment, kSize); });
  void* out = nullptr;
  tester.expect(kHook_posix_memalign, 1, [&out] { return posix_memalign(&out, kAlignment, kSize); });
  free(out);
  block = tester.expect(kHook_valloc, 1, [] { return valloc(kSize); });
  free(block);
  block = tester.expect(kHook_pvalloc, 1, [] { return pvalloc(kSize); });
  free(block);
  if (find_in_process("_Znwm").address != nullptr && find_in_process("_ZdlPv").address != nullptr) {
    block = tester.expect_bit(kSelfTestNew, 1, [] { return _Znwm(kSize); });
    tester.expect_bit(kSelfTestNew, 1, [&block] { _ZdlPv(block); });
  }
  t_flags &= ~kThreadSelfTest;
  return tester.failures();
}

}  // namespace heapprof::agent
