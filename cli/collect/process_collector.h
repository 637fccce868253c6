// cli/collect/process_collector.h: turns what the agent of one profiled process writes into a recording.
//
//   create → (arena_fd goes to the agent) → start → drain … drain → drain_to_end → finish
//
// Guarantees
//  - Every published event is in the recording, or counted there as lost; a process that is killed loses nothing it
//    published.
//  - finish() checks its own sums (Recording::consistency_errors).
//  - If memory runs out, drain() throws std::bad_alloc. The books are then exact for all events up to a certain one.
// Not provided: facts that only the launcher knows: command, end, machine, parent, wall-clock start,
//           self_test_failures, the collector's own cost.
// Context:  one thread, which lives as long as the collector: when this thread dies, the kernel tells the agents
//           (liveness.h). `second` is used within drain() only.
// Trust:    everything that the process writes is hostile: it can falsify its own numbers, and nothing else.
// Cost:     tests/bench/collect.cc; an idle round is 1 µs and 2 ns a ring.
#pragma once

#include "cli/base/result.h"
#include "cli/collect/inner_program.h"
#include "cli/collect/memory/memory_budget.h"
#include "cli/collect/recorded_blocks.h"
#include "cli/collect/rings/pace.h"
#include "cli/model/profile/recording.h"
#include "shared/wire.h"

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace heapprof::cli {

class SecondThread;
struct NamesWanted;
struct RecordedChanges;
struct TopSource;

// Bytes that a process may allocate; 0: no limit.
struct DeviceLimits {
  std::array<uint64_t, wire::kDeviceLimits> cuda{};  // of cuda:0 …
  uint64_t host_bytes = 0;                           // of the heap: usable bytes
};

struct CollectorOptions {
  RecordedBlocks recorded;                             // which blocks are recorded at first
  bool starts_paused = false;                          // nothing of the heap is recorded before resume()
  std::string awaited_mark;                            // the launcher waits for this mark; empty: for none
  wire::ClockMode clock_mode = wire::ClockMode::kTsc;  // detect_clock_mode() in clock.h
  wire::FenceMode fence_mode = wire::FenceMode::kMembarrierExpedited;  // detect_fence_mode()
  wire::FullPolicy full_policy = wire::FullPolicy::kWait;
  wire::UnwinderKind unwinder = wire::UnwinderKind::kHeapprof;
  uint32_t stall_timeout_ms = 10'000;
  DeviceLimits limits;
  bool estimates_gpu = false;  // the agent queries the free memory before and after a context or module is made
  wire::GpuTimeMode gpu_time = wire::GpuTimeMode::kOff;  // when CUDA events around kernels are read
  bool leak_check = false;            // the process is asked to wait at its orderly end, and its live blocks are judged
  uint64_t snapshot_interval_ns = 0;  // kMarksOnly: at marks alone; 0: no snapshots (cli/model/profile/snapshots.h)
  uint64_t trace_events = kDefaultTraceEvents;  // how many of the newest device events are kept one by one; 0: none
  bool records_nvtx = true;                     // ranges of NVTX become scopes
  bool records_objects = false;                 // Python objects are counted on a device of their own
  bool records_operators = false;               // operators of PyTorch are scopes
  bool reads_python = true;                     // stacks have the frames of Python
  bool hooks_deep_bind = false;                 // libraries that ask for RTLD_DEEPBIND are loaded without it
  uint32_t max_frames = 32'768;
  uint64_t patience_ns =
      100'000'000;                 // how long a thread that is stuck inside an event may delay all events of the others
  SecondThread* second = nullptr;  // runs the second stage while there is a backlog; collectors of one thread share it
  uint64_t second_from_bytes = 64 << 10;  // how many bytes of records must wait before it is used
  uint64_t trim_interval_ns =
      100'000'000;  // parts of rings that were not used for so long are given back to the system
};

// As written in the profile.
const char* unwinder_name(wire::UnwinderKind kind);

struct ProcessIdentity {
  pid_t pid = 0;
  bool inherits = false;   // it has blocks whose begin was not recorded: it was forked, or attached to
  std::string executable;  // the program's file
  std::shared_ptr<const InnerProgram> inner = nullptr;  // nullptr: there is no allocator inside
  bool is_loaded = false;  // /proc/PID/exe is a loader, which was told to load `executable`
};

class ProcessCollector {
 public:
  static Result<std::unique_ptr<ProcessCollector>> create(const CollectorOptions& options);
  ~ProcessCollector();
  ProcessCollector(const ProcessCollector&) = delete;
  ProcessCollector& operator=(const ProcessCollector&) = delete;

  int arena_fd() const;
  // Sets what is known of the target's seccomp filter. The state can only rise.
  void set_filter(wire::FilterState state);

  // Call it when the process has connected, before the agent is answered: the run's time begins here. Raises this
  // process's soft limit of open files to the hard one.
  void start(const wire::Hello& hello, const ProcessIdentity& identity);

  // Sets which blocks of the heap are recorded from now on. It may be called at any time; a thread of the program
  // follows it when it next reads the setting. The ends of recorded blocks are always recorded. set_recorded() ends a
  // pause; false: there have been too many different intervals.
  bool set_recorded(const RecordedBlocks& recorded);
  void pause();
  void resume();
  // How long a thread of the program waits for space in a ring; nullopt: as the options say.
  void set_stall_timeout(std::optional<uint32_t> milliseconds);
  // Whether the run needs every block recorded, because leaks are judged or Python's objects are recorded.
  bool needs_all() const;
  // Adds a mark from outside the program, at this moment. False: there is no room for its name.
  bool add_mark(std::string_view name);
  // Whether the program has set the awaited mark.
  bool has_met_mark() const;

  // Takes what is published; kIfDue: only if that is already worthwhile. Returns the number of events taken.
  size_t drain(RoundKind kind = RoundKind::kAll);
  // When drain() should be called next, by monotonic_ns().
  uint64_t next_drain_ns() const;
  // Why the agent itself stopped recording; kLeft: it was told to leave, and has written all that it had.
  wire::StopReason agent_stop() const;
  // The signal that the process gets when its parent dies (PR_SET_PDEATHSIG); 0: none, or unknown.
  int death_signal() const;
  // Whether the process's live blocks are being judged now. If so, its threads are stopped, and no other code may wait
  // for a stopped thread.
  bool is_judged() const;
  // Call it when the process is gone: takes everything that was published.
  void drain_to_end();
  // Tells the agent to stop recording. Events arrive until the agent has read this.
  void detach();
  // Stops at once, for `reason`: exactly what was taken is in the recording, and nothing after it. The agent is told to
  // stop. May follow a std::bad_alloc of drain() or drain_to_end().
  void stop(const std::string& reason);
  // Call it if memory is short: drops the snapshots, so that the rest of the recording can be kept. False: there were
  // no snapshots.
  bool give_up_snapshots();
  bool has_stopped() const;
  uint64_t age_ns() const;  // since start()

  // The memory of this collector, and about the most that finishing and writing the profile will take. It is not exact
  // because names are not known yet.
  MemoryNeed memory_need() const;
  // Samples the resident set; drain() does so every 10 ms.
  void sample_resident();
  // The UUIDs of the CUDA devices that the process has used so far.
  std::vector<std::string> device_uuids() const;
  // Notes how many bytes the driver counts as in use on that device now, by this process or by all processes.
  void note_device_use(const std::string& uuid, uint64_t bytes, bool is_of_all);
  // Notes why the driver's count for that device is unknown.
  void note_use_missing(const std::string& uuid, const std::string& reason);

  // The program waits for an answer that needs names (questions.h). The rings are read in the meantime. take_wanted()
  // returns each once; this process or a forked copy of it must reply, and only the first reply counts.
  bool wants_names() const;
  std::vector<NamesWanted> take_wanted();
  void reply(const NamesWanted& wanted, std::string_view text);
  // nullopt: the measurement was given up since.
  std::optional<RecordedChanges> record_wanted(const NamesWanted& wanted) const;
  // The number of this process image in the run. The pid is not enough, because an exec keeps it.
  uint64_t serial() const;
  // For the live view (top_reader.h).
  TopSource top_source() const;

  // Gives the result. Nothing may be called afterwards.
  Recording finish();
  // Gives the result so far, in a forked copy of the collector. The rings, which are not copied, are left alone.
  // Nothing may be called afterwards.
  Recording finish_copy();

 private:
  struct State;
  explicit ProcessCollector(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace heapprof::cli
