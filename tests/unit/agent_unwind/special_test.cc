// tests/unit/agent_unwind/special_test.cc: frames that no compact rule describes, and frames that nothing describes.
#include "agent/unwind/unwind_step.h"
#include "shared/events.h"
#include "tests/unit/agent_unwind/probe.h"
#include "tests/unit/agent_unwind/shapes/shapes.h"

#include <catch2/catch.hpp>
#include <dlfcn.h>
#include <signal.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>

extern "C" {
void special_cfa_in_rbx(void (*callee)());
void special_return_in_r12(void (*callee)());
void special_bp_in_r13(void (*callee)());
void special_cfa_in_memory(void (*callee)());
void special_arithmetic(void (*callee)());
void special_end(void (*callee)());
void undescribed(void (*callee)());
}

namespace heapprof::agent::test {

namespace {

using Special = void (*)(void (*)());

void* open_shapes(const char* name, int flags) {
  void* library = dlopen((std::string(SHAPES_DIR "/shapes_") + name + ".so").c_str(), flags);
  REQUIRE(library != nullptr);
  return library;
}

decltype(&shapes_wander) g_wander;

// Frames that use every callee-saved register, between a special frame and the probes.
void wander_a_little() {
  static uint64_t seed = 99;
  g_wander(probe, seed++, 3, 6, kShapesPlain);
}

void (*g_next)();
[[gnu::noinline]] void nest_special() {
  special_bp_in_r13(g_next);
  asm volatile("" ::: "memory");
}

std::vector<uint64_t> g_stack;
uint32_t g_truncation;
[[gnu::noinline]] void keep_stack() {
  g_stack = capture_here(&g_truncation);
  asm volatile("" ::: "memory");
}

// A page of machine code that calls its argument.
class JitPage {
 public:
  explicit JitPage(std::initializer_list<uint8_t> code)
      : page_(mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    REQUIRE(page_ != MAP_FAILED);
    memcpy(page_, code.begin(), code.size());
  }
  ~JitPage() { munmap(page_, 4096); }
  Special function() const { return reinterpret_cast<Special>(page_); }
  bool holds(uint64_t pc_avma) const { return pc_avma - reinterpret_cast<uint64_t>(page_) < 4096; }

 private:
  void* page_;
};

[[gnu::noinline]] void call(Special special) {
  special(keep_stack);
  asm volatile("" ::: "memory");
}

// True if the outer frames of `stack` are those of this thread at the time of the call, but for the innermost few.
bool reaches_main(const std::vector<uint64_t>& stack) {
  const std::vector<uint64_t> here = capture_here(nullptr);
  const size_t common = std::min<size_t>(here.size(), 5);
  return stack.size() > common && std::equal(stack.end() - static_cast<long>(common) + 1, stack.end(),
                                             here.end() - static_cast<long>(common) + 1);
}

// Writes below the red zone, which the compiler may use.
void set_single_step(bool on) {
  const uint64_t keep = ~uint64_t{0x100};  // all but the trap flag
  const uint64_t set = on ? 0x100 : 0;
  asm volatile(
      "leaq -128(%%rsp), %%rsp\n\t"
      "pushfq\n\t"
      "andq %[keep], (%%rsp)\n\t"
      "orq %[set], (%%rsp)\n\t"
      "popfq\n\t"
      "leaq 128(%%rsp), %%rsp"
      :
      : [keep] "r"(keep), [set] "r"(set)
      : "memory", "cc");
}

void handle_trap(int) { probe(); }

}  // namespace

TEST_CASE("frames that need the interpreter are stepped over", "[special]") {
  g_wander = reinterpret_cast<decltype(&shapes_wander)>(dlsym(open_shapes("gcc_O2", RTLD_NOW), "shapes_wander"));
  const struct {
    const char* name;
    Special function;
  } specials[] = {{"cfa in rbx", special_cfa_in_rbx}, {"return address in r12", special_return_in_r12},
                  {"bp in r13", special_bp_in_r13},   {"cfa in memory", special_cfa_in_memory},
                  {"arithmetic", special_arithmetic}, {"end of stack", special_end}};
  for (const auto& special : specials) {
    INFO(special.name);
    g_reference = special.function == special_return_in_r12 ? Reference::kLibgcc : Reference::kLibunwind;
    reset_tally();
    special.function(wander_a_little);
    special.function(probe);
    g_next = wander_a_little;
    special.function(nest_special);  // two of them in one stack
    INFO(tally().first_mismatch);
    CHECK(tally().probes > 5);
    CHECK(tally().mismatched == 0);
    CHECK(tally().wrong_deltas == 0);
    CHECK(tally().other_short == 0);
    CHECK(tally().truncated == 0);
  }
  g_reference = Reference::kLibunwind;
}

TEST_CASE("code without call frame information is passed by its frame pointer, and marked", "[special]") {
  const JitPage framed{0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3};  // push bp; mov bp, sp; call di; pop bp; ret
  call(framed.function());
  CHECK(g_truncation == static_cast<uint32_t>(wire::TruncationCause::kNoUnwindInfo));
  REQUIRE(g_stack.size() > 3);
  CHECK(framed.holds(g_stack[1]));
  CHECK(reaches_main(g_stack));

  call(undescribed);
  CHECK(g_truncation == static_cast<uint32_t>(wire::TruncationCause::kNoUnwindInfo));
  CHECK(g_stack[1] - reinterpret_cast<uint64_t>(undescribed) < 16);
  CHECK(reaches_main(g_stack));
}

// How often something was asked for that verified stacks need not ask for.
struct Asked {
  uint64_t whole_walks = counters().whole_walks.load();
  uint64_t guessed_frames = counters().guessed_frames.load();
  uint64_t unkept_rules = counters().unkept_rules.load();
};
Asked g_asked;
[[gnu::noinline]] void keep_stack_twice() {
  keep_stack();
  g_asked = {};
  keep_stack();
}

TEST_CASE("a stack through code that nothing describes is verified like others", "[special]") {
  const JitPage framed{0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3};
  reset_tally();
  call(framed.function());
  const Asked before;
  for (int i = 0; i < 100; ++i) {
    framed.function()(keep_stack_twice);
    const Asked after;
    CHECK(after.guessed_frames == g_asked.guessed_frames);
    CHECK(g_truncation == static_cast<uint32_t>(wire::TruncationCause::kNoUnwindInfo));
    CHECK(framed.holds(g_stack[2]));
    CHECK(reaches_main(g_stack));
  }
  const Asked after;
  CHECK(after.whole_walks == before.whole_walks);
  CHECK(after.unkept_rules == before.unkept_rules);
  note_loading();
  framed.function()(keep_stack_twice);
  CHECK(Asked().unkept_rules == before.unkept_rules + 1);
  CHECK(framed.holds(g_stack[2]));
  CHECK(tally().other_short == 0);
}

TEST_CASE("a frame pointer that changes under a guess is seen", "[special]") {
  // push bp; mov bp, sp; call di; pop bp; ret, twice: the outer one calls through the inner one
  const JitPage framed{0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3};
  // push bp; mov bp, sp; sub sp, 64; call di; leave; ret: another frame at the same return address further in
  const JitPage wide{0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x40, 0xff, 0xd7, 0xc9, 0xc3};
  reset_tally();
  for (int i = 0; i < 50; ++i) {
    call((i & 1) != 0 ? framed.function() : wide.function());
    CHECK(((i & 1) != 0 ? framed : wide).holds(g_stack[1]));
    CHECK(reaches_main(g_stack));
    // frameless code in between: its stack is cut, and that of the next is whole again
    if (i % 7 == 0) {
      const JitPage frameless{0x48, 0x89, 0xe8, 0x50, 0xbd, 0x00, 0x10, 0x00, 0x00, 0xff, 0xd7, 0x5d, 0xc3};
      call(frameless.function());
      REQUIRE(g_stack.size() == 2);
    }
  }
  CHECK(tally().other_short == 0);
}

TEST_CASE("code that nothing describes and that keeps no frame pointer ends a stack, marked", "[special]") {
  // mov rax, rbp; push rax; mov ebp, 0x1000; call di; pop rbp; ret
  const JitPage frameless{0x48, 0x89, 0xe8, 0x50, 0xbd, 0x00, 0x10, 0x00, 0x00, 0xff, 0xd7, 0x5d, 0xc3};
  call(frameless.function());
  CHECK(g_truncation == static_cast<uint32_t>(wire::TruncationCause::kNoUnwindInfo));
  REQUIRE(g_stack.size() == 2);
  CHECK(frameless.holds(g_stack[1]));
}

TEST_CASE("a stack deeper than the limit is cut and marked", "[special]") {
  const auto recurse =
      reinterpret_cast<decltype(&shapes_recurse)>(dlsym(open_shapes("gcc_O2", RTLD_NOW), "shapes_recurse"));
  set_max_frames(100);
  recurse(keep_stack, 300);
  CHECK(g_stack.size() == 100);
  CHECK(g_truncation == static_cast<uint32_t>(wire::TruncationCause::kDepth));
  set_max_frames(0);
  recurse(keep_stack, 300);
  CHECK(g_stack.size() > 300);
  CHECK(g_truncation == 0);
}

TEST_CASE("every instruction of a run can be interrupted", "[special]") {
  struct sigaction action {};
  action.sa_handler = handle_trap;
  sigaction(SIGTRAP, &action, nullptr);
  // Bound lazily, so that the loader's resolver is on the way, too: its CFA is in rbx.
  const auto busy = reinterpret_cast<decltype(&shapes_busy)>(dlsym(open_shapes("gcc_lazy", RTLD_LAZY), "shapes_busy"));
  reset_tally();
  set_single_step(true);
  const uint64_t sum = busy(5, 3);
  set_single_step(false);
  signal(SIGTRAP, SIG_DFL);
  CHECK(sum != 0);
  INFO(tally().first_mismatch);
  CHECK(tally().probes > 2000);
  CHECK(tally().mismatched == 0);
  CHECK(tally().truncated == 0);
  CHECK(tally().other_short == 0);
}

TEST_CASE("what an interrupted function has popped is found below its stack pointer, also on another page") {
  constexpr uint64_t kPage = 4096;
  auto* const memory =
      static_cast<char*>(mmap(nullptr, 3 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  REQUIRE(memory != MAP_FAILED);
  const uint64_t sp = reinterpret_cast<uint64_t>(memory) + kPage;
  const auto put = [](uint64_t at, uint64_t word) { std::memcpy(reinterpret_cast<void*>(at), &word, sizeof word); };
  put(sp - 32, 0x1234);
  put(sp + 8, 0x5678);
  const auto take = [sp](int16_t bp_offset_words, WalkState* state) {
    KnownStacks stacks;
    stacks.go_to(sp);
    REQUIRE_FALSE(stacks.current().holds(sp - 32));
    *state = {0, sp, 0};
    UnwindRule rule{};
    rule.kind = RuleKind::kCfaFromSp;
    rule.cfa_offset_bytes = 16;
    rule.saved = bp_offset_words;
    return step(&rule, &stacks, state);
  };
  WalkState state{};
  CHECK(take(-6, &state) == StepResult::kStepped);  // cfa - 48
  CHECK(state.bp == 0x1234);
  CHECK(state.pc_avma == 0x5678);
  CHECK(state.sp == sp + 16);
  CHECK(take(-19, &state) == StepResult::kBadFrame);  // below what a signal leaves alone
  CHECK(mprotect(memory, kPage, PROT_NONE) == 0);
  CHECK(take(-6, &state) == StepResult::kBadFrame);
  munmap(memory, 3 * kPage);
}

}  // namespace heapprof::agent::test
