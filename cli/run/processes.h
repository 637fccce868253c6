// cli/run/processes.h: the processes of one run, each from its agent's hello to its end.
//
// A program image is identified by pid and image number: exec keeps the pid and starts a new image, whose agent asks
// for an arena again.
//
// Guarantees
//  - The end of a process is detected by its pidfd, or by /proc on kernels without pidfds. The profile has all events
//    that were published until then.
//  - If a process execs a program without an agent, its image ends there. The exit status of that program is not taken
//    for the image's, provided that /proc shows the exec in time.
//  - A process that cannot be profiled runs on, and is counted with the reason.
//  - If memory runs short, recording stops for the process whose data takes most of heapprof's memory. Its profile ends
//    there, and is exact up to that moment.
// Context:  one thread, which also holds the arenas' liveness words (cli/collect/liveness.h).
#pragma once

#include "cli/base/result.h"
#include "cli/collect/memory/memory_budget.h"
#include "cli/collect/process_collector.h"
#include "cli/collect/rings/second_thread.h"
#include "cli/model/profile/recording.h"
#include "cli/run/inner_programs.h"
#include "cli/run/process_tree.h"
#include "cli/run/profile_path.h"
#include "cli/run/spare_collector.h"
#include "cli/target/process_identity.h"
#include "cli/target/server.h"
#include "cli/target/title_watch.h"

#include <sys/types.h>

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace heapprof::cli {

struct ProcessPlan {
  CollectorOptions collector;  // unless fence_forced, fence_mode is chosen for each process
  bool fence_forced = false;
  bool follow = true;
  std::vector<std::string> follow_only;  // globs of program names; empty: all
  bool leaves_inner_allocators = false;  // allocators inside executables are named but not hooked
  pid_t root_pid = 0;
  std::vector<std::string> root_command;
  Machine machine;
  uint64_t max_memory_bytes = 0;   // what heapprof may use; 0: only the system's limits apply
  bool has_second_thread = false;  // the collector uses a second thread when it is behind
};

// The number of a recorded process in its run. All images of a process share it, and no other process has it, even if
// the pid is reused or the tree is full.
using ProcessNumber = uint64_t;
inline constexpr ProcessNumber kRootNumber = 0;

// A program image that has ended.
struct EndedImage {
  Recording recording;
  bool is_root = false;                 // it is of the process that heapprof started
  bool is_last = false;                 // the process ended with it (not by exec)
  bool is_lost = false;                 // the process may have allocated, but nothing could be recorded
  std::string program;                  // its name
  uint32_t entry = ProcessTree::kNone;  // in the tree; kNone: the tree is full
  ProcessNumber number = kRootNumber;
};

// A program image that is being profiled.
struct RunningImage {
  pid_t pid = 0;
  ProcessNumber number = kRootNumber;
  ProcessCollector* collector = nullptr;
  ImageName name = {};  // name of its profile, if no other image follows
};

class Processes {
 public:
  using OnEnd = std::function<void(EndedImage)>;
  // The tree must outlive this object.
  Processes(ProcessPlan plan, ProcessTree* tree, OnEnd on_end);
  ~Processes();
  Processes(const Processes&) = delete;
  Processes& operator=(const Processes&) = delete;

  // Answers an agent with an arena or a refusal.
  void admit(Caller caller);
  // Makes one drain pass over all rings, or over those that are due, and checks the memory left. Returns the time by
  // monotonic_ns() at which the next pass is due, before a ring runs full.
  uint64_t drain(RoundKind kind);
  // Finishes processes that have ended, except the root. Also looks for processes that exec'ed a program without an
  // agent, and for processes that set a seccomp filter. If is_asked() says that an agent waits for its answer, returns
  // after one process has been finished, unless too many have ended. True: ended processes are left.
  bool reap(const std::function<bool()>& is_asked);
  // If another process is expected, prepares what it will need.
  void prepare() { spare_.prepare(); }
  bool is_prepared() const { return spare_.is_ready(); }
  // end_root(): called when the root has ended; finishes its last image. detach_all(): finishes all processes that are
  // left; those that still run are finished as detached.
  void end_root(const RunEnd& end);
  void detach_all(const RunEnd& root_end);
  // Why the root's agent has stopped recording although the root runs; kNone: the agent records, or the reason is
  // unknown.
  wire::StopReason root_stop() const;

  // Calls visit(pid, collector) for each profiled process.
  void for_each(const std::function<void(pid_t, ProcessCollector&)>& visit);
  void for_each_image(const std::function<void(const RunningImage&)>& visit);
  // has(): whether this run profiles the process now. snapshot(): its numbers so far; only a forked copy of the
  // collector calls it, as the last thing that it does with the process.
  bool has(pid_t pid) const;
  // True if the process with this pid has asked for an arena, whatever the answer was.
  bool is_known(pid_t pid) const;
  Recording snapshot(pid_t pid);

  // How processes that start from now on are recorded.
  const RecordedBlocks& recorded_next() const { return plan_.collector.recorded; }
  void set_recorded_next(const RecordedBlocks& recorded, bool is_paused) {
    plan_.collector.recorded = recorded;
    plan_.collector.starts_paused = is_paused;
  }

  // True if a thread whose ring is full drops events instead of waiting.
  bool is_dropping() const { return plan_.collector.full_policy == wire::FullPolicy::kDrop; }
  size_t running() const { return processes_.size(); }
  uint32_t wrong_version() const { return wrong_version_; }
  // Why the root got no arena; empty if it got one.
  const std::optional<Problem>& root_problem() const { return root_problem_; }
  // How many processes, besides the root, could not be profiled because the kernel refused something; by reason
  // ("memfd_create: too many open files").
  const std::map<std::string, uint64_t>& refusals() const { return refusals_; }
  // The executable that the root exec'ed, if that program has no agent.
  const std::string& root_became() const { return root_became_; }

 private:
  struct Process;
  using Iterator = std::list<Process>::iterator;

  uint32_t enter(pid_t pid, const ProcessLook& look);
  bool is_number_of_root(pid_t pid) const { return !is_root_over_ && pid == plan_.root_pid; }
  void forget(pid_t pid);
  bool is_wanted(const Process& process) const;
  void describe(const Caller& caller, bool is_root, Process* process);
  bool start(const Caller& caller, Process* process);
  void watch(Iterator process);
  void finish(Iterator process, RunEnd end, bool is_last);
  Iterator largest();
  void watch_memory();
  void stop(Iterator process, const std::optional<MemoryShortage>& shortage);
  Recording take_recording(Process* process);

  ProcessPlan plan_;
  SecondThread second_;
  ProcessTree* tree_;
  OnEnd on_end_;
  std::list<Process> processes_;
  std::list<ProcessHandle> unseen_;  // processes that exec'ed programs without an agent
  struct Seen {
    ProcessNumber number = kRootNumber;
    uint32_t images = 0;
  };
  std::map<pid_t, Seen> seen_;  // by pid of a process that still runs
  ProcessNumber last_number_ = kRootNumber;
  std::map<std::string, uint64_t> refusals_;
  std::optional<Problem> root_problem_;
  std::string root_became_;
  bool is_root_over_ = false;  // another process may have the root's pid now
  size_t watched_ = 0;         // the next process to be checked in /proc
  uint32_t wrong_version_ = 0;
  SpareCollector spare_;
  InnerPrograms inner_programs_;
  TitleWatch titles_;
  MemoryBudget budget_;
  uint64_t next_memory_ns_ = 0;
};

}  // namespace heapprof::cli
