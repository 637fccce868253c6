// cli/commands/processes.h: the processes of one run, from their agent's first word to their end.
//
// A process is known by pid and image number: exec keeps the pid and starts a new image, whose agent asks again.
//
// Guarantees
//  - Ends are learned from pidfds; what was published until then is in the profile.
// Context:  one thread, which also holds the arenas' liveness mutexes.
#pragma once

#include "cli/base/fd.h"
#include "cli/base/result.h"
#include "cli/collect/process_collector.h"
#include "cli/model/recording.h"
#include "cli/target/server.h"

#include <poll.h>
#include <sys/types.h>

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace heapprof::cli {

struct ProcessPlan {
  CollectorOptions collector;  // fence_mode is chosen per process unless fence_forced
  bool fence_forced = false;
  bool follow = true;
  pid_t root_pid = 0;
  std::vector<std::string> root_command;
  Machine machine;
};

// A program image that has ended.
struct EndedImage {
  Recording recording;
  bool is_root = false;  // of the process that we started
  bool is_last = false;  // the process ended with it (not by exec)
};

class Processes {
 public:
  using OnEnd = std::function<void(EndedImage)>;
  Processes(ProcessPlan plan, OnEnd on_end);
  ~Processes();
  Processes(const Processes&) = delete;
  Processes& operator=(const Processes&) = delete;

  // Answers an agent: an arena, or a refusal.
  void admit(Caller caller);
  // One round over all rings. Returns the number of records.
  size_t drain();
  // Looks for processes that ended, which are finished at once (all but the root), and for those that filter system calls.
  void reap();
  // The root has ended so: its last image is finished. Others that are still running are left alone and finished as detached.
  void end_root(const RunEnd& end);
  void detach_all(const RunEnd& root_end);

  size_t running() const { return processes_.size(); }
  bool root_connected() const { return root_connected_; }
  uint32_t refused() const { return refused_; }
  uint32_t wrong_version() const { return wrong_version_; }
  // Asks every collector for a Problem that kept an arena from being made.
  const std::vector<Problem>& problems() const { return problems_; }

 private:
  struct Process;
  using Iterator = std::list<Process>::iterator;

  void watch_restrictions(Process* process);
  void finish(Iterator process, const RunEnd& end, bool is_last);

  ProcessPlan plan_;
  OnEnd on_end_;
  std::list<Process> processes_;
  std::map<pid_t, uint32_t> images_;  // images seen of a pid that is still running
  std::vector<Problem> problems_;
  bool root_connected_ = false;
  uint32_t refused_ = 0;
  uint32_t wrong_version_ = 0;
};

}  // namespace heapprof::cli
