// tests/unit/agent_unwind/probe.cc: a hook's place played in a test: what the rest of the agent gives the unwinder, and
// one walk by it and by libunwind.
#include "tests/unit/agent_unwind/probe.h"

#include "agent/process/arena.h"
#include "agent/process/generation.h"
#include "agent/process/lock.h"
#include "agent/process/modules.h"
#include "agent/process/state.h"
#include "agent/unwind/unwind_plain.h"
#include "agent/verify/reference_unwind.h"

#include <dlfcn.h>
#include <signal.h>
#include <sys/mman.h>
#include <unwind.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace heapprof::agent {

// What the rest of the agent gives the unwinder.
ForkPage g_fork_page{};
namespace {
wire::Control g_test_control{};
}
wire::Control* g_control = &g_test_control;
uint32_t g_session = 1;
bool is_filtered() { return false; }
bool has_filters() { return false; }
void let_others_run(uint32_t) {}
// In memory of its own, as a handler may be the one who finds a module.
struct RawEntry {
  wire::ModuleEntry entry;
  char path[256];
  uint8_t build_id[64];
  uint32_t build_id_bytes;
};
RawEntry g_entries[2048];
std::atomic<uint32_t> g_entry_count;

bool announce_module(wire::ModuleEntry entry, const char* path, const uint8_t* build_id, uint32_t build_id_bytes) {
  RawEntry& raw = g_entries[g_entry_count.load(std::memory_order_relaxed) % std::size(g_entries)];
  raw.entry = entry;
  strncpy(raw.path, path, sizeof raw.path - 1);
  raw.build_id_bytes = std::min<uint32_t>(build_id_bytes, sizeof raw.build_id);
  if (raw.build_id_bytes != 0) memcpy(raw.build_id, build_id, raw.build_id_bytes);
  g_entry_count.fetch_add(1, std::memory_order_relaxed);
  return true;
}

namespace test {

// The unwinder takes generation 0 for none.
const uint32_t g_first_generation = end_what_is_known(kEverything);

void note_unload() { end_unloaded_modules(); }

Reference g_reference = Reference::kLibunwind;

std::vector<Announced> announced() {
  std::vector<Announced> entries;
  for (uint32_t i = 0; i < g_entry_count.load(std::memory_order_relaxed) && i < std::size(g_entries); ++i) {
    const RawEntry& raw = g_entries[i];
    entries.push_back({raw.entry.start_avma, raw.entry.end_avma, raw.entry.load_bias, raw.entry.generation, raw.path,
                       std::string(reinterpret_cast<const char*>(raw.build_id), raw.build_id_bytes)});
  }
  return entries;
}
void forget_announced() { g_entry_count.store(0, std::memory_order_relaxed); }

OwnContext::OwnContext()
    : memory_(mmap(nullptr, unwind_context_bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)),
      context_(make_unwind_context(memory_, &counters_)) {
  if (memory_ == MAP_FAILED) abort();
}
OwnContext::~OwnContext() { munmap(memory_, unwind_context_bytes()); }

namespace {

// A handler must find everything made.
struct ThreadState {
  ThreadState() { rebuilt.reserve(kMaxFrames); }

  Tally tally;
  OwnContext context;
  OwnContext hooks;  // of the same stacks, as the hooks find them
  std::vector<uint64_t> reference = std::vector<uint64_t>(kMaxFrames);
  std::vector<uint64_t> rebuilt;  // outermost first, as a collector keeps it
};

ThreadState& state() {
  thread_local ThreadState of_thread;
  return of_thread;
}

// libunwind exports the names of libgcc, too.
template <typename F>
F libgcc_function(const char* name) {
  return reinterpret_cast<F>(dlsym(dlopen("libgcc_s.so.1", RTLD_NOW), name));
}

struct LibgccWalk {
  const StartFrame& start;
  uint64_t* pcs;
  uint32_t count;
};

_Unwind_Reason_Code collect(_Unwind_Context* frame, void* data) {
  static const auto get_pc = libgcc_function<decltype(&_Unwind_GetIPInfo)>("_Unwind_GetIPInfo");
  static const auto get_cfa = libgcc_function<decltype(&_Unwind_GetCFA)>("_Unwind_GetCFA");
  LibgccWalk& walk = *static_cast<LibgccWalk*>(data);
  int is_interrupted = 0;
  const uint64_t pc_avma = get_pc(frame, &is_interrupted);
  if (walk.count == 0 && (pc_avma != walk.start.pc_avma || get_cfa(frame) != walk.start.sp)) return _URC_NO_REASON;
  if (pc_avma == 0 || walk.count == kMaxFrames) return _URC_END_OF_STACK;
  walk.pcs[walk.count++] = pc_avma + (is_interrupted != 0 ? 1 : 0);
  return _URC_NO_REASON;
}

uint32_t walk_by_libgcc(const StartFrame& start, uint64_t* pcs) {
  static const auto backtrace = libgcc_function<decltype(&_Unwind_Backtrace)>("_Unwind_Backtrace");
  LibgccWalk walk{start, pcs, 0};
  backtrace(collect, &walk);
  return walk.count;
}

void append_stack(std::string* text, const char* title, const uint64_t* pcs, uint64_t count) {
  *text += title;
  for (uint64_t i = 0; i < count; ++i) {
    char line[64];
    snprintf(line, sizeof line, "\n  %3lu %lx", static_cast<unsigned long>(i), static_cast<unsigned long>(pcs[i]));
    *text += line;
  }
  *text += '\n';
}

void rebuild(ThreadState* thread, const StackDelta& delta) {
  thread->rebuilt.resize(std::min<size_t>(thread->rebuilt.size(), delta.keep));
  for (uint32_t i = 0; i < delta.fresh; ++i) thread->rebuilt.push_back(delta.fresh_frames[i].pc_avma);
}

// Takes the stack as the hooks do, and says whether a collector would be told the same as by capture_stack, which gave
// `delta`.
bool is_same_by_hooks(ThreadState* thread, const StartFrame& start, const StackDelta& delta) {
  UnwindContext* context = thread->hooks.get();
  StackDelta other;
  set_generation(context, current_generation());
  if (capture_as_hooks_do(context, start, &other)) {
    ++thread->tally.short_ways;
  } else {
    capture_stack(context, start, current_generation(), &other);
  }
  if (other.keep != delta.keep || other.fresh != delta.fresh || other.truncation != delta.truncation) return false;
  for (uint32_t i = 0; i < delta.fresh; ++i) {
    if (other.fresh_frames[i].pc_avma != delta.fresh_frames[i].pc_avma) return false;
  }
  const wire::UnwindCounters& counters = thread->context.counters();
  const wire::UnwindCounters& other_counters = thread->hooks.counters();
  return counters.changed_stacks == other_counters.changed_stacks &&
         counters.second_walks == other_counters.second_walks && counters.whole_walks == other_counters.whole_walks;
}

// pre: signals are blocked, as a handler may probe, too.
[[gnu::noinline]] void compare(const StartFrame& start) {
  ThreadState& thread = state();
  Tally& tally = thread.tally;
  uint64_t* expected = thread.reference.data();
  const uint32_t expected_count = g_reference == Reference::kLibgcc
                                      ? walk_by_libgcc(start, expected)
                                      : heapprof_reference_unwind(start.pc_avma, start.sp, expected, kMaxFrames);
  StackDelta delta;
  capture_stack(thread.context.get(), start, current_generation(), &delta);
  tally.other_short += !is_same_by_hooks(&thread, start, delta);
  uint32_t count = 0;
  const uint64_t* pcs = current_stack(thread.context.get(), &count);
  rebuild(&thread, delta);
  ++tally.probes;
  tally.frames_sent += delta.fresh;
  tally.frames += count;
  tally.deepest = std::max<uint64_t>(tally.deepest, count);
  tally.truncated += delta.truncation != 0;
  const bool is_rebuilt = std::equal(thread.rebuilt.rbegin(), thread.rebuilt.rend(), pcs, pcs + count);
  tally.wrong_deltas += !is_rebuilt;
  if (std::equal(pcs, pcs + count, expected, expected + expected_count)) return;
  if (++tally.mismatched > 3) return;
  append_stack(&tally.first_mismatch, "heapprof:", pcs, count);
  append_stack(&tally.first_mismatch, "reference:", expected, expected_count);
}

class AllSignalsBlocked {
 public:
  AllSignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~AllSignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

// The walk's start as a hook has it. A macro would be no better: all three are of the function that says so.
[[gnu::always_inline]] inline StartFrame start_of_caller() {
  return {reinterpret_cast<uint64_t>(__builtin_return_address(0)), reinterpret_cast<uint64_t>(__builtin_dwarf_cfa()),
          *static_cast<const uint64_t*>(__builtin_frame_address(0))};
}

}  // namespace

Tally& tally() { return state().tally; }

const wire::UnwindCounters& counters() { return state().context.counters(); }

void reset_tally() {
  state().tally = {};
  state().rebuilt.clear();
  reset_stack(state().context.get());
  reset_stack(state().hooks.get());
}

[[gnu::noinline]] std::vector<uint64_t> capture_here(uint32_t* truncation) {
  const StartFrame start = start_of_caller();
  const AllSignalsBlocked blocked;
  StackDelta delta;
  capture_stack(state().context.get(), start, current_generation(), &delta);
  uint32_t count = 0;
  const uint64_t* pcs = current_stack(state().context.get(), &count);
  if (truncation != nullptr) *truncation = delta.truncation;
  state().tally.other_short += !is_same_by_hooks(&state(), start, delta);
  rebuild(&state(), delta);
  return {pcs, pcs + count};
}

}  // namespace test
}  // namespace heapprof::agent

extern "C" [[gnu::noinline]] void probe() {
  using namespace heapprof::agent;
  const StartFrame start = test::start_of_caller();
  const test::AllSignalsBlocked blocked;
  test::compare(start);
}
