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
  kUnknown,   // ended; the kernel does not tell us how (not our child)
  kDetached,  // still running when the collector detached
  kRunning,   // still running and being recorded: a snapshot
};

// The beginning of RunInfo::incomplete_reason if the collector ran out of memory.
inline constexpr std::string_view kMemoryLimitReason = "heapprof reached its memory limit";
// All of it if a Valgrind tool served malloc.
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

// A program that the process started, or that it became by exec, and that could not be profiled.
struct UnprofiledProgram {
  std::string path;
  std::string reason;             // "statically linked"
  uint64_t count = 0;             // how often it was started
  bool replaced_process = false;  // at least once by exec of the process itself
};

// What the agent found and did in the process.
struct Coverage {
  std::string agent_version;
  std::string allocator;                          // file name of the object that serves malloc, "libc.so.6"
  bool new_recorded = false;                      // operator new records by itself (tcmalloc, jemalloc, mimalloc)
  std::string clock;                              // "tsc" or "sequence"
  std::string unwinder;                           // "heapprof", "libunwind"
  std::vector<std::string> self_test_failures;    // hooks for which one call did not give exactly one event
  std::vector<std::string> bypassing_modules;     // objects whose allocations the hooks do not see
  std::vector<std::string> unknown_functions;     // of the CUDA driver, which allocate memory and are not counted
  std::vector<std::string> unread_modules;        // modules whose names could not be read: no memory, or a broken file
  std::vector<std::string> unread_interpreters;   // interpreters whose frames are in no stack: "Python 3.15"
  std::vector<std::string> unrecorded_operators;  // why PyTorch's operators are no scopes, if that was asked for
  std::vector<std::string> unrecorded_objects;    // why an interpreter's objects were not recorded, if asked for
  std::vector<std::string> inner_allocators;      // inside the executable, hooked in place: "jemalloc: 33 functions"
  std::vector<std::string> unhooked_allocators;   // likewise, and not hooked: "jemalloc: free is shorter than a jump"
  std::vector<UnprofiledProgram> unprofiled_programs;
};

// Everything that was counted; see man/heapprof-format.5. All are events unless the name says otherwise.
struct Counters {
#define RUN_COUNTER(member, ...) uint64_t member = 0;
#include "cli/model/profile/run_counters.def"
#undef RUN_COUNTER
};

// How the agent found the stacks: unwinds that did not take the fast path, by cause (wire::UnwindCounters).
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
  std::string file;                  // relative to this profile's folder; empty: it could not be written
  uint64_t memory_peak_bytes = 0;    // of the heap and of mapped memory, added
  uint64_t resident_max_bytes = 0;   // 0: unknown
  std::string title = {};            // as RunInfo's
};

// The result of `heapprof run --leak-check`.
struct LeakJudgement {
  bool is_asked = false;
  bool is_made = false;
  std::string reason;            // why not; empty if it was made
  uint64_t searched_bytes = 0;   // of the process's memory
  uint64_t unread_bytes = 0;     // that could not be read
  uint64_t stopped_threads = 0;  // other than the one that ended the program
  uint64_t duration_ns = 0;
};

// For runs in which not every block of the heap was recorded. Then numbers of the heap are estimates, and those of
// devices and pages are exact (cli/model/analysis/sampling.h).
struct Sampling {
  uint64_t interval_bytes = 0;  // the largest that was used to choose blocks (shared/sampling.h); 0: no sampling
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
  std::string title;                 // that the program gave itself later, only to be shown; empty: none was seen
  std::string executable;            // path
  uint64_t pid = 0;
  uint64_t parent_pid = 0;
  uint32_t image = 0;  // 0 for the first program image of the pid, 1 after its first exec …
  bool is_fork = false;
  bool is_attached = false;   // recording began while it ran: what it had allocated before is unknown
  int64_t start_unix_ns = 0;  // wall clock
  Job job;                    // in a sum of profiles empty: MergedPart has the inputs'
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
  std::vector<Thread> threads;  // by total_bytes, descending; bounded, the rest summed in `other_threads`
  uint64_t other_threads_count = 0;
  Thread other_threads;                 // their sums
  std::vector<OtherProcess> processes;  // by peak, descending; only in the profile of the started program; bounded
  uint64_t other_processes_count = 0;   // that are not listed
  LeakJudgement leak_check;
};

}  // namespace heapprof::cli
