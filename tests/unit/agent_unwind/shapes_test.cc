// tests/unit/agent_unwind/shapes_test.cc: every stack of every shape is the same by our rules and by unw_step.
#include "tests/unit/agent_unwind/shapes/shapes.h"

#include "agent/process/modules.h"
#include "tests/unit/agent_unwind/probe.h"

#include <catch2/catch.hpp>
#include <dlfcn.h>
#include <signal.h>
#include <sys/time.h>

#include <atomic>
#include <sstream>
#include <thread>

namespace heapprof::agent::test {

namespace {

struct Shapes {
  std::string name;
  decltype(&shapes_wander) wander;
  decltype(&shapes_recurse) recurse;
  decltype(&shapes_busy) busy;
};

template <typename F>
F symbol(void* library, const char* name) {
  void* address = dlsym(library, name);
  REQUIRE(address != nullptr);
  return reinterpret_cast<F>(address);
}

// All libraries, loaded once.
const std::vector<Shapes>& all_shapes() {
  static const std::vector<Shapes> loaded = [] {
    REQUIRE(init_unwinder());
    std::vector<Shapes> result;
    std::stringstream names(SHAPES_NAMES);
    for (std::string name; std::getline(names, name, ',');) {
      if (name.ends_with("native") && __builtin_cpu_supports("avx2") == 0) continue;
      void* library = dlopen((std::string(SHAPES_DIR "/shapes_") + name + ".so").c_str(), RTLD_NOW | RTLD_LOCAL);
      REQUIRE(library != nullptr);
      result.push_back({name, symbol<decltype(&shapes_wander)>(library, "shapes_wander"),
                        symbol<decltype(&shapes_recurse)>(library, "shapes_recurse"),
                        symbol<decltype(&shapes_busy)>(library, "shapes_busy")});
    }
    return result;
  }();
  return loaded;
}

void require_no_difference(const Tally& result) {
  INFO(result.first_mismatch);
  CHECK(result.probes > 0);
  CHECK(result.mismatched == 0);
  CHECK(result.wrong_deltas == 0);
  CHECK(result.truncated == 0);
  CHECK(result.other_short == 0);
}

// Where bp decides frames, the hooks' common path is not taken: of the shapes, or of the test as the sanitizers build
// it.
bool has_frame_pointers([[maybe_unused]] const std::string& shapes) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return true;
#else
  return shapes.ends_with("_fp") || shapes.ends_with("_O0");
#endif
}

void handle_with_probe(int) { probe(); }

// SIGUSR1 is handled on the interrupted stack, SIGUSR2 and SIGPROF on another.
class Handlers {
 public:
  Handlers() : stack_(1 << 20) {
    stack_t other{};
    other.ss_sp = stack_.data();
    other.ss_size = stack_.size();
    sigaltstack(&other, nullptr);
    install(SIGUSR1, 0);
    install(SIGUSR2, SA_ONSTACK);
  }
  ~Handlers() {
    stack_t none{};
    none.ss_flags = SS_DISABLE;
    sigaltstack(&none, nullptr);
    signal(SIGUSR1, SIG_DFL);
    signal(SIGUSR2, SIG_DFL);
  }
  static void install(int number, int flags) {
    struct sigaction action {};
    action.sa_handler = handle_with_probe;
    action.sa_flags = flags | SA_RESTART;
    sigaction(number, &action, nullptr);
  }

 private:
  std::vector<char> stack_;
};

}  // namespace

TEST_CASE("stacks of every shape are what unw_step says", "[shapes]") {
  const Handlers handlers;
  for (const Shapes& shapes : all_shapes()) {
    DYNAMIC_SECTION(shapes.name) {
      reset_tally();
      shapes.wander(probe, 12345, 250, 9, kShapesSignals | kShapesCoroutines);
      require_no_difference(tally());
      CHECK(tally().probes > 2000);
      CHECK((tally().short_ways > tally().probes / 20 || has_frame_pointers(shapes.name)));
    }
  }
}

TEST_CASE("stacks are the same where the loader's list is all there is", "[shapes]") {
  const Handlers handlers;
  g_use_link_map_only = true;
  REQUIRE(init_unwinder());
  for (const Shapes& shapes : all_shapes()) {
    reset_tally();
    INFO(shapes.name);
    shapes.wander(probe, 777, 50, 8, kShapesSignals | kShapesCoroutines);
    require_no_difference(tally());
  }
  g_use_link_map_only = false;
  REQUIRE(init_unwinder());
}

TEST_CASE("a recursion of 20,000 frames is walked to its end", "[shapes]") {
  for (const Shapes& shapes : all_shapes()) {
    reset_tally();
    INFO(shapes.name);
    shapes.recurse(probe, 20000);
    shapes.recurse(probe, 19000);
    require_no_difference(tally());
    CHECK(tally().deepest > 20000);
  }
}

extern "C" [[gnu::noinline]] void probe_from_elsewhere() {
  probe();
  asm volatile("" ::: "memory");  // no tail call
}

TEST_CASE("stacks beyond the limit differ where they differ", "[shapes]") {
  const Shapes& shapes = all_shapes().front();
  reset_tally();
  for (const Probe leaf : {probe, probe_from_elsewhere, probe})
    shapes.recurse(leaf, static_cast<int>(kMaxFrames) + 1000);
  CHECK(tally().truncated == 3);
  CHECK(tally().wrong_deltas == 0);
  CHECK(tally().other_short == 0);
}

TEST_CASE("threads start at a frame of their own", "[shapes]") {
  std::vector<Tally> results(4);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < results.size(); ++i) {
    threads.emplace_back([i, &results] {
      reset_tally();
      for (const Shapes& shapes : all_shapes()) shapes.wander(probe, i * 31 + 7, 40, 8, kShapesCoroutines);
      results[i] = tally();
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Tally& result : results) require_no_difference(result);
}

TEST_CASE("a walk that begins in a handler passes the instruction that was interrupted", "[shapes]") {
  const Handlers handlers;
  Handlers::install(SIGPROF, SA_ONSTACK);
  for (const Shapes& shapes : all_shapes()) {
    reset_tally();
    INFO(shapes.name);
    const itimerval every_ms{{0, 1000}, {0, 1000}};
    const itimerval never{};
    setitimer(ITIMER_PROF, &every_ms, nullptr);
    uint64_t sum = 0;
    for (uint64_t i = 0; tally().probes < 60 && i < 2000; ++i) sum += shapes.busy(i, 2000);
    setitimer(ITIMER_PROF, &never, nullptr);
    CHECK(sum != 0);
    require_no_difference(tally());
  }
  signal(SIGPROF, SIG_DFL);
}

}  // namespace heapprof::agent::test
