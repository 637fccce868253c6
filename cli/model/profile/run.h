// cli/model/profile/run.h: what is known about one profiled process besides its allocations.
#pragma once

#include "cli/model/profile/job.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heapprof::cli {

enum class EndKind {
  kExited,    // with `status`
  kSignaled,  // by signal `status`
  kExec,      // the process started another program
  kUnknown,   // ended; the kernel does not report how, because it is not our child
  kDetached,  // still running when the collector detached
  kRunning,   // still running and being recorded: a snapshot
};

// The beginning of RunInfo::incomplete_reason if the collector ran out of memory.
inline constexpr std::string_view kMemoryLimitReason = "heapprof reached its memory limit";
// The whole reason if a Valgrind tool served malloc.
inline constexpr std::string_view kMallocReplacedReason =
    "Valgrind's tool serves malloc itself, and nothing on the heap was counted";

struct RunEnd {
  EndKind kind = EndKind::kUnknown;
  int status = 0;  // exit code or signal number
};

struct Machine {
  std::string cpu;  // model name
  int cores = 0;
  uint64_t memory_bytes = 0;
  std::string kernel;  // uname -sr and machine
  std::string libc;    // of the target, "glibc 2.36"
};

// A program that could not be profiled. The process started it, or became it by exec.
struct UnprofiledProgram {
  std::string path;
  std::string reason;             // "statically linked"
  uint64_t count = 0;             // how often it was started
  bool replaced_process = false;  // at least once, the process itself became this program by exec
};

// What the agent found and did in the process.
struct Coverage {
  std::string agent_version;
  std::string allocator;                          // file name of the object that serves malloc, "libc.so.6"
  bool new_recorded = false;                      // operator new records by itself (tcmalloc, jemalloc, mimalloc)
  std::string clock;                              // "tsc" or "sequence"
  std::string unwinder;                           // "heapprof", "libunwind"
  std::vector<std::string> self_test_failures;    // hooks of which a test call did not give exactly one event
  std::vector<std::string> bypassing_modules;     // objects whose allocations the hooks do not see
  std::vector<std::string> unknown_functions;     // of the CUDA driver: they allocate, and are not counted
  std::vector<std::string> unread_modules;        // modules whose names could not be read: no memory, or a broken file
  std::vector<std::string> unread_interpreters;   // interpreters whose frames are in no stack: "Python 3.15"
  std::vector<std::string> unrecorded_operators;  // why PyTorch's operators are not scopes, if that was requested
  std::vector<std::string> unrecorded_objects;    // why an interpreter's objects were not recorded, if requested
  std::vector<std::string> inner_allocators;      // in the executable, hooked there: "jemalloc: 33 functions"
  std::vector<std::string> unhooked_allocators;   // the same, not hooked: "jemalloc: free is shorter than a jump"
  std::vector<UnprofiledProgram> unprofiled_programs;
};

// Everything that was counted; see man/heapprof-format.5. All are events unless the name says otherwise.
struct Counters {
#define RUN_COUNTER(member, ...) uint64_t member = 0;
#include "cli/model/profile/run_counters.def"
#undef RUN_COUNTER
};

// Unwinds of the agent that did not take the fast path, by cause (wire::UnwindCounters).
struct UnwinderCounters {
#define UNWINDER_COUNTER(member, ...) uint64_t member = 0;
#include "cli/model/profile/run_counters.def"
#undef UNWINDER_COUNTER
};

// What profiling itself cost.
struct Cost {
#define RUN_COST(member, ...) uint64_t member = 0;
#include "cli/model/profile/run_counters.def"
#undef RUN_COST
};

struct Thread {
  uint32_t id = 0;  // kernel thread id
  std::string name;
  uint64_t allocations = 0;
  uint64_t total_bytes = 0;
  uint64_t frees = 0;
};

// Another process of the run, or an earlier image of this one before an exec, with its own profile.
struct OtherProcess {
  uint64_t pid = 0;
  uint64_t parent_pid = 0;
  uint32_t image = 0;
  std::vector<std::string> command;  // its first words
  std::string file;                  // its profile, relative to this one's folder; empty: it has none
  uint64_t memory_peak_bytes = 0;    // sum of the peaks of the heap and of mapped memory
  uint64_t resident_max_bytes = 0;   // 0: unknown
  std::string title = {};            // as RunInfo::title
};

// The result of `heapprof run --leak-check`.
struct LeakJudgement {
  bool is_asked = false;
  bool is_made = false;
  std::string reason;            // why it was not made; empty if it was
  uint64_t searched_bytes = 0;   // bytes of the process's memory that were searched
  uint64_t unread_bytes = 0;     // bytes that could not be read
  uint64_t stopped_threads = 0;  // other threads than the one that ended the program
  uint64_t duration_ns = 0;
};

// For runs in which not every block of the heap was recorded. With sampling, numbers of the heap are estimates, and
// those of devices and pages are exact (cli/model/analysis/sampling.h).
struct Sampling {
  uint64_t interval_bytes = 0;  // the largest sampling interval used (shared/sampling.h); 0: no sampling
  uint64_t chosen = 0;          // blocks that were chosen
  // Blocks allocated while blocks were sampled or all were recorded, and their bytes: exact.
  uint64_t counted = 0;
  uint64_t counted_bytes = 0;
  uint64_t unrecorded_ns = 0;  // the part of the duration in which no new block was recorded

  bool is_sampled() const { return interval_bytes != 0; }
  bool has_any() const { return is_sampled() || unrecorded_ns != 0; }
};

struct RunInfo {
  std::vector<std::string> command;  // argv
  std::string title;                 // process title that the program set later; for display only; empty: none
  std::string executable;            // path
  uint64_t pid = 0;
  uint64_t parent_pid = 0;
  uint32_t image = 0;  // 0 for the first program image of the pid, 1 after its first exec …
  bool is_fork = false;
  bool is_attached = false;   // recording began while it ran; earlier allocations are unknown
  int64_t start_unix_ns = 0;  // wall clock
  Job job;                    // empty in a sum of profiles: MergedPart::job has those of the inputs
  uint64_t duration_ns = 0;   // from the agent's start to the end
  Sampling sampling;
  RunEnd end;
  bool complete = true;           // false: events were lost, or the collector detached
  std::string incomplete_reason;  // empty if complete
  Machine machine;
  Coverage coverage;
  Counters counters;
  UnwinderCounters unwinder;
  Cost cost;
  std::vector<Thread> threads;  // by total_bytes, descending; limited: `other_threads` has the sum of the others
  uint64_t other_threads_count = 0;
  Thread other_threads;                 // sums of the threads that are not listed
  std::vector<OtherProcess> processes;  // by peak, descending; limited; only in the profile of the started program
  uint64_t other_processes_count = 0;   // how many are not listed
  LeakJudgement leak_check;
};

}  // namespace heapprof::cli
