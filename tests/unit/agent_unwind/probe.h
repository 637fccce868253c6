// tests/unit/agent_unwind/probe.h: takes the stack where it is called with both unwinders and compares them frame by
// frame.
//
// A probe stands for a hook: it starts the walk as a hook does, and it plays the collector, which rebuilds each stack
// from the difference to the one before.
#pragma once

#include "agent/unwind/unwind.h"

#include <cstdint>
#include <string>
#include <vector>

namespace heapprof::agent::test {

struct Tally {
  uint64_t probes = 0;
  uint64_t frames = 0;
  uint64_t mismatched = 0;
  uint64_t wrong_deltas = 0;  // stacks that a collector would rebuild differently
  uint64_t truncated = 0;
  uint64_t short_ways = 0;   // stacks that the hooks' common path found without capture_stack
  uint64_t other_short = 0;  // stacks that the two found, counted or sent differently
  uint64_t frames_sent = 0;  // that a collector would be told, as the stack before did not have them
  uint64_t deepest = 0;
  std::string first_mismatch;  // both stacks, for the message
};

// Whom a probe believes. libunwind 1.6 loses its way where the return address is in a register; libgcc's unwinder,
// which throws exceptions through such frames, does not.
enum class Reference { kLibunwind, kLibgcc };
extern Reference g_reference;

// Of the calling thread. reset_tally also forgets the thread's previous stack.
Tally& tally();
void reset_tally();
const wire::UnwindCounters& counters();

// To be called after a dlclose: what `free` notices in a program that is profiled.
void note_unload();

// The stack of the caller, by the unwinder under test. truncation may be nullptr.
std::vector<uint64_t> capture_here(uint32_t* truncation);

// An unwinder of one's own, for tests that count modules or time walks.
class OwnContext {
 public:
  OwnContext();
  ~OwnContext();
  OwnContext(const OwnContext&) = delete;
  OwnContext& operator=(const OwnContext&) = delete;
  UnwindContext* get() { return context_; }
  const wire::UnwindCounters& counters() const { return counters_; }

 private:
  wire::UnwindCounters counters_{};
  void* memory_;
  UnwindContext* context_;
};

// One entry that was announced to the (absent) collector.
struct Announced {
  uint64_t start_avma = 0;
  uint64_t end_avma = 0;
  uint64_t load_bias = 0;
  uint32_t generation = 0;
  std::string path;
  std::string build_id;
};
std::vector<Announced> announced();
void forget_announced();

}  // namespace heapprof::agent::test

// Compares the caller's stack; never inlined, so that it has a caller.
extern "C" void probe();
