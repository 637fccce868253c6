// cli/run/processes.h: the processes of one run, from their agent's hello to their end.
//
// A process is identified by pid and image number: exec keeps the pid and starts a new image, whose agent asks again.
//
// Guarantees
//  - Ends are detected by pidfds, on kernels without them by /proc; what was published until then is in the profile.
//  - If a process goes on as a program without an agent, its image ends there: that program's status is not taken for
//    the image's (as far as /proc shows it in time).
//  - A process that cannot be profiled is counted, with the reason, and runs on.
//  - If memory runs short, recording stops for the process that takes most of it, and its profile ends there, exactly.
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
  CollectorOptions collector;  // fence_mode is chosen per process unless fence_forced
  bool fence_forced = false;
  bool follow = true;
  std::vector<std::string> follow_only;  // globs of program names; empty: all
  bool leaves_inner_allocators = false;  // inside executables: they are named, and not hooked
  pid_t root_pid = 0;
  std::vector<std::string> root_command;
  Machine machine;
  uint64_t max_memory_bytes = 0;   // of this process; 0: only the system's limits apply
  bool has_second_thread = false;  // of the collector, for backlogs
};

// Counts the recorded processes of a run: all images of one share a number, and no other process has it, even if its
// pid is reused, or the tree has no room.
using ProcessNumber = uint64_t;
inline constexpr ProcessNumber kRootNumber = 0;

// A program image that has ended.
struct EndedImage {
  Recording recording;
  bool is_root = false;                 // of the process that heapprof started
  bool is_last = false;                 // the process ended with it (not by exec)
  bool is_lost = false;                 // it may have allocated, but nothing could be recorded
  std::string program;                  // its name
  uint32_t entry = ProcessTree::kNone;  // in the tree; kNone: the tree has no room
  ProcessNumber number = kRootNumber;
};

// A program image that is being profiled.
struct RunningImage {
  pid_t pid = 0;
  ProcessNumber number = kRootNumber;
  ProcessCollector* collector = nullptr;
  ImageName name = {};  // of its profile, if it is the process's last
};

class Processes {
 public:
  using OnEnd = std::function<void(EndedImage)>;
  // The tree must outlive this.
  Processes(ProcessPlan plan, ProcessTree* tree, OnEnd on_end);
  ~Processes();
  Processes(const Processes&) = delete;
  Processes& operator=(const Processes&) = delete;

  // Answers an agent: an arena, or a refusal.
  void admit(Caller caller);
  // One drain pass over all rings, or those that are worth it, and a check of the memory left. Returns when the next
  // one is due, by monotonic_ns(), before a ring runs full.
  uint64_t drain(RoundKind kind);
  // Looks for processes that ended, which are finished (all but the root), for those that went on as another program,
  // and for those that set a seccomp filter. While is_asked() says that an agent waits for its answer, only one is
  // finished, or as many as are too many. True: more are left.
  bool reap(const std::function<bool()>& is_asked);
  // Prepares what the next process will need, if one is to be expected.
  void prepare() { spare_.prepare(); }
  bool is_prepared() const { return spare_.is_ready(); }
  // The root has ended in this way: its last image is finished. Other running processes are left alone and finished as
  // detached.
  void end_root(const RunEnd& end);
  void detach_all(const RunEnd& root_end);
  // Why the root's agent has stopped recording, while the root runs; kNone: it records, or is not known.
  wire::StopReason root_stop() const;

  // visit(pid, collector): for each profiled process.
  void for_each(const std::function<void(pid_t, ProcessCollector&)>& visit);
  void for_each_image(const std::function<void(const RunningImage&)>& visit);
  // has(): this run profiles the process now. snapshot(): its numbers so far; called in a forked copy, which ends with
  // it.
  bool has(pid_t pid) const;
  // True if the process with this pid has asked, whatever the answer was.
  bool is_known(pid_t pid) const;
  Recording snapshot(pid_t pid);

  // How processes that come from now on are recorded.
  const RecordedBlocks& recorded_next() const { return plan_.collector.recorded; }
  void set_recorded_next(const RecordedBlocks& recorded, bool is_paused) {
    plan_.collector.recorded = recorded;
    plan_.collector.starts_paused = is_paused;
  }

  // Full rings lose events, and programs do not wait.
  bool is_dropping() const { return plan_.collector.full_policy == wire::FullPolicy::kDrop; }
  size_t running() const { return processes_.size(); }
  uint32_t wrong_version() const { return wrong_version_; }
  // Why the root got no arena; empty if it got one.
  const std::optional<Problem>& root_problem() const { return root_problem_; }
  // What the kernel refused ("memfd_create: too many open files"), and to how many other processes.
  const std::map<std::string, uint64_t>& refusals() const { return refusals_; }
  // The executable that the root went on as, if it has no agent.
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
  std::list<ProcessHandle> unseen_;  // went on as programs without an agent
  struct Seen {
    ProcessNumber number = kRootNumber;
    uint32_t images = 0;
  };
  std::map<pid_t, Seen> seen_;  // what was recorded for a pid that is still running
  ProcessNumber last_number_ = kRootNumber;
  std::map<std::string, uint64_t> refusals_;
  std::optional<Problem> root_problem_;
  std::string root_became_;
  bool is_root_over_ = false;  // another process may have its pid
  size_t watched_ = 0;         // the next process to be checked in /proc
  uint32_t wrong_version_ = 0;
  SpareCollector spare_;
  InnerPrograms inner_programs_;
  TitleWatch titles_;
  MemoryBudget budget_;
  uint64_t next_memory_ns_ = 0;
};

}  // namespace heapprof::cli
