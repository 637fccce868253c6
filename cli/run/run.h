// cli/run/run.h: a run of a program under the profiler, from its start to the summary.
//
// cli/commands/run.cc parses the flags; run.cc wires the parts; summary.h prints at the end.
#pragma once

#include "cli/base/terminal.h"
#include "cli/collect/recorded_blocks.h"
#include "cli/model/profile/device_trace.h"
#include "cli/read/read_suppressions.h"
#include "shared/wire.h"

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace heapprof::cli {

class Inherited;

enum class UnwinderChoice { kHeapprof, kLibunwind, kFramePointers };
enum class OnFull { kWait, kDrop };
enum class ClockChoice { kAuto, kTsc, kSequence };
enum class FenceChoice { kAuto, kExpedited, kGlobal, kProducer };
enum class ThreadsChoice { kAuto, kOne, kTwo };

// When recording begins.
enum class StartKind { kAtOnce, kPaused, kAfter, kAtMark };
struct StartRule {
  StartKind kind = StartKind::kAtOnce;
  uint64_t after_ns = 0;  // kAfter: the time since the run's start
  std::string mark;       // kAtMark: recording begins when a process of the run sets this mark
};

struct RunOptions {
  std::string output;  // may hold directives (profile_path.h); empty: heapprof.PROGRAM.PID.json in the current folder
  bool quiet = false;  // only errors
  std::string html;    // the page's file; empty: no page is written
  bool no_summary = false;                   // no summary at exit; warnings and errors stay
  bool all_sites = false;                    // write small sites one by one
  bool no_follow = false;                    // only the started process
  bool all_processes = false;                // keep the files even of many small processes
  std::vector<std::string> follow_only;      // globs of other programs to be profiled; empty: all
  std::optional<std::chrono::seconds> wait;  // for other processes, after the end; nullopt: 200 ms; 0: no limit
  bool verify_stacks = false;                // compare each stack with libunwind's
  UnwinderChoice unwinder = UnwinderChoice::kHeapprof;
  OnFull on_full = OnFull::kWait;
  uint64_t stall_timeout_s = 10;
  bool no_cache = false;                                 // neither use names of earlier runs nor keep names
  uint64_t max_memory_bytes = 0;                         // of heapprof itself; 0: as much as the system gives
  bool live = false;                                     // a view of it in the terminal, while it runs
  std::string serve;                                     // address to serve profiles at; empty: no server
  std::string token_file;                                // has the token that clients of the server must send
  std::string child_output;                              // file for the program's stdout and stderr; empty: ours
  bool hooks_deep_bind = false;                          // --deepbind=hook
  bool leak_check = false;                               // leaks at exit are classified
  bool no_nvtx = false;                                  // NVTX ranges are ignored
  bool python_objects = false;                           // also record each Python object, besides the block it is in
  bool torch_operators = false;                          // PyTorch operators are scopes
  bool no_inner_allocators = false;                      // allocators inside executables are not hooked
  bool no_python = false;                                // stacks have no Python frames
  bool estimates_gpu = false;                            // estimate what CUDA contexts and modules take
  wire::GpuTimeMode gpu_time = wire::GpuTimeMode::kOff;  // when CUDA events around kernels are read
  RecordedBlocks recorded;                               // at the start, or when first resumed
  std::string start_text;                                // of --start, as typed
  StartRule start;
  std::string interval;                         // of --interval, as typed
  uint64_t snapshot_interval_ns = 0;            // 0: no snapshots (snapshot_interval.h)
  uint64_t trace_events = kDefaultTraceEvents;  // of --device-trace
  std::vector<std::string> limits;              // DEVICE=SIZE: what the program may allocate
  ClockChoice clock = ClockChoice::kAuto;
  FenceChoice fence = FenceChoice::kAuto;
  ThreadsChoice collector_threads = ThreadsChoice::kAuto;
  ColorMode color = ColorMode::kAuto;
  SuppressionOptions suppressions;
  std::vector<std::string> program;  // argv of what to run; never empty
  bool goes_on = false;              // this process continues after the run, and needs what it inherited
  pid_t attach_pid = 0;              // not 0: the process that runs `program` already
  uint64_t attach_for_ns = 0;        // 0: until the process ends, or a signal comes
};

// pre: options.program is not empty. Returns heapprof's exit code: the program's own, 128 + signal, 125, 126 or 127. If
// SIGINT or SIGQUIT ended the run, it does not return but ends this process by that signal, unless options.goes_on is
// set or this process is PID 1.
int run_command(const RunOptions& options);
// The same for one of several runs, without forking an init (init.h).
int run_command(const RunOptions& options, const Inherited& inherited);

}  // namespace heapprof::cli
