// tests/unit/agent_unwind/shapes/shapes.cc: functions whose frames an unwinder must know: alloca, alignment, many
// registers, callbacks, exceptions, longjmp, signal handlers, coroutines; in random order, with probes in between.
#include "tests/unit/agent_unwind/shapes/shapes.h"

#include <alloca.h>
#include <setjmp.h>
#include <signal.h>
#include <ucontext.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#define KEEP_FRAME asm volatile("" ::: "memory")  // no tail call, no reordering with the calls around it

namespace {

thread_local Probe t_probe;
thread_local uint64_t t_random = 1;
thread_local unsigned t_kinds;
thread_local jmp_buf* t_way_out;
thread_local bool t_in_coroutine;

uint64_t next_random() {
  t_random ^= t_random << 13;
  t_random ^= t_random >> 7;
  t_random ^= t_random << 17;
  return t_random;
}

[[gnu::noinline]] void wander(int depth);

[[gnu::noinline]] void touch(void* memory) { asm volatile("" ::"r"(memory) : "memory"); }

[[gnu::noinline]] void with_alloca(int depth) {
  char* buffer = static_cast<char*>(alloca(16 + next_random() % 700));
  buffer[0] = 1;
  touch(buffer);
  t_probe();
  wander(depth - 1);
  touch(buffer);
}

template <size_t kAlignment>
[[gnu::noinline]] void over_aligned(int depth) {
  alignas(kAlignment) char buffer[kAlignment * 2];
  touch(buffer);
  wander(depth - 1);
  t_probe();
  touch(buffer);
}

[[gnu::noinline]] void over_aligned_with_alloca(int depth) {
  alignas(64) char buffer[128];
  char* more = static_cast<char*>(alloca(8 + next_random() % 300));
  touch(buffer);
  touch(more);
  t_probe();
  wander(depth - 1);
  touch(more);
  touch(buffer);
}

[[gnu::noinline]] long many_arguments(int depth, long a, long b, long c, long d, long e, long f, long g, double h) {
  t_probe();
  wander(depth - 1);
  KEEP_FRAME;
  return a + b + c + d + e + f + g + static_cast<long>(h);
}

// More live values than registers, so that every callee-saved one is pushed.
[[gnu::noinline]] uint64_t register_pressure(int depth) {
  uint64_t a = next_random(), b = next_random(), c = next_random(), d = next_random(), e = next_random(),
           f = next_random();
  uint64_t g = next_random(), h = next_random();
  for (int i = 0; i < 3; ++i) {
    t_probe();
    a += b * 3;
    b ^= c;
    c += d;
    d -= e * 5;
    e ^= f;
    f += g;
    g -= h;
    h ^= a;
  }
  wander(depth - 1);
  return a + b + c + d + e + f + g + h;
}

struct ProbeAtEnd {
  ~ProbeAtEnd() { t_probe(); }
};

[[gnu::noinline]] void throw_or_go_on(int depth) {
  const ProbeAtEnd at_end;
  t_probe();
  if (next_random() % 3 == 0) throw std::runtime_error("thrown from a shape, with a text that is not short");
  wander(depth - 1);
}

[[gnu::noinline]] void catch_all(int depth) {
  const ProbeAtEnd at_end;
  try {
    throw_or_go_on(depth - 1);
  } catch (const std::exception& error) {
    t_probe();
    touch(const_cast<char*>(error.what()));
  }
  t_probe();
}

[[gnu::noinline]] void jump_out_or_go_on(int depth) {
  t_probe();
  if (t_way_out != nullptr && next_random() % 3 == 0) longjmp(*std::exchange(t_way_out, nullptr), 1);
  if (depth > 0) jump_out_or_go_on(depth - 1);
  t_probe();
}

[[gnu::noinline]] void set_jump(int depth) {
  jmp_buf here;
  jmp_buf* volatile before = t_way_out;
  if (setjmp(here) == 0) {
    t_way_out = &here;
    jump_out_or_go_on(depth);
  }
  t_way_out = before;
  t_probe();
}

int compare_with_probe(const void* a, const void* b) {
  t_probe();
  return *static_cast<const int*>(a) - *static_cast<const int*>(b);
}

[[gnu::noinline]] void sort_by_callback() {
  int values[] = {5, 3, static_cast<int>(next_random() % 100), 8, 1};
  qsort(values, std::size(values), sizeof values[0], compare_with_probe);
  touch(values);
}

template <typename T>
struct Nested {
  template <typename F>
  static inline auto apply(const T& value, F function) {
    return function(value);
  }
};

[[gnu::noinline]] void templates(int depth) {
  std::vector<std::string> words;
  for (int i = 0; i < 4; ++i) words.push_back(std::string(10 + next_random() % 40, 'w'));
  std::map<std::string, std::function<void(int)>> actions;
  actions["go"] = [](int rest) { wander(rest); };
  std::sort(words.begin(), words.end(), [](const std::string& a, const std::string& b) {
    t_probe();
    return a < b;
  });
  Nested<int>::apply(depth, [&actions](int rest) {
    actions["go"](rest - 1);
    t_probe();
    return rest;
  });
}

struct Base {
  virtual ~Base() = default;
  virtual void visit(int depth) = 0;
};
struct Derived : Base {
  void visit(int depth) override {
    t_probe();
    wander(depth - 1);
    KEEP_FRAME;
  }
};

[[gnu::noinline]] void through_virtual(int depth) {
  const std::unique_ptr<Base> object = std::make_unique<Derived>();
  touch(object.get());
  object->visit(depth);
}

[[gnu::noinline]] void by_signal() {
  t_probe();
  raise(next_random() % 2 == 0 ? SIGUSR1 : SIGUSR2);
  t_probe();
}

constexpr size_t kCoroutineBytes = 1 << 19;
struct Coroutine {
  ucontext_t own;
  ucontext_t caller;
  std::unique_ptr<char[]> stack;
};
thread_local Coroutine t_coroutines[3];

void coroutine_main(int index) {
  for (;;) {
    t_probe();
    wander(static_cast<int>(next_random() % 5));
    swapcontext(&t_coroutines[index].own, &t_coroutines[index].caller);
  }
}

[[gnu::noinline]] void by_coroutine() {
  const int index = static_cast<int>(next_random() % 3);
  Coroutine& coroutine = t_coroutines[index];
  if (coroutine.stack == nullptr) {
    coroutine.stack = std::make_unique<char[]>(kCoroutineBytes);
    getcontext(&coroutine.own);
    coroutine.own.uc_stack.ss_sp = coroutine.stack.get();
    coroutine.own.uc_stack.ss_size = kCoroutineBytes;
    coroutine.own.uc_link = nullptr;
    makecontext(&coroutine.own, reinterpret_cast<void (*)()>(coroutine_main), 1, index);
  }
  t_in_coroutine = true;
  swapcontext(&coroutine.caller, &coroutine.own);
  t_in_coroutine = false;
  t_probe();
}

[[gnu::noinline]] void wander(int depth) {
  if (depth <= 0) {
    t_probe();
    return;
  }
  switch (next_random() % 15) {
    case 0: with_alloca(depth); break;
    case 1: over_aligned<32>(depth); break;
    case 2: over_aligned<256>(depth); break;
    case 3: over_aligned_with_alloca(depth); break;
    case 4: many_arguments(depth, 1, 2, 3, 4, 5, 6, 7, 8.5); break;
    case 5: register_pressure(depth); break;
    case 6:
      if (!t_in_coroutine)
        catch_all(depth);  // a switch of stacks inside of a catch block would mix up two exception chains
      break;
    case 7:
      if (!t_in_coroutine && t_way_out == nullptr) set_jump(depth);
      break;
    case 8: sort_by_callback(); break;
    case 9: templates(depth); break;
    case 10: through_virtual(depth); break;
    case 11:
      if ((t_kinds & kShapesSignals) != 0) by_signal();
      break;
    case 12:
      if ((t_kinds & kShapesCoroutines) != 0 && !t_in_coroutine && t_way_out == nullptr) by_coroutine();
      break;
    case 13:
      wander(depth - 2);
      wander(depth - 1);
      break;
    default:
      t_probe();
      wander(depth - 1);
      t_probe();
      break;
  }
  KEEP_FRAME;
}

}  // namespace

void shapes_wander(Probe probe, uint64_t seed, int rounds, int depth, unsigned kinds) {
  t_probe = probe;
  t_random = seed | 1;
  t_kinds = kinds;
  for (int i = 0; i < rounds; ++i) wander(depth);
}

int shapes_recurse(Probe probe, int depth) {
  if (depth <= 1) {
    probe();
    KEEP_FRAME;
    return 1;
  }
  decltype(&shapes_recurse) volatile self = shapes_recurse;  // no compiler folds several levels into one frame then
  const int below = self(probe, depth - 1);
  KEEP_FRAME;
  return below + 1;
}

uint64_t shapes_busy(uint64_t seed, long steps) {
  t_random = seed | 1;
  uint64_t sum = 0;
  char text[200];
  for (long i = 0; i < steps; ++i) {
    memset(text, static_cast<int>('a' + next_random() % 26), 1 + next_random() % 150);
    text[next_random() % 150] = 0;
    text[199] = 0;
    sum += strlen(text) + strtoul("123456789", nullptr, 10);
    int values[] = {4, 2, static_cast<int>(next_random() % 100), 1};
    qsort(values, std::size(values), sizeof values[0],
          [](const void* a, const void* b) { return *static_cast<const int*>(a) - *static_cast<const int*>(b); });
    alignas(64) char aligned[64];
    touch(aligned);
    sum += static_cast<uint64_t>(values[2]) + labs(static_cast<long>(sum));
  }
  return sum;
}
