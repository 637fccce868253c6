// cli/run/watch.h: the collector's loop: answers agents, reads rings, notices the end of processes, takes snapshots.
//
// Context:  the thread that started the program and holds the arenas' liveness words.
#pragma once

#include "cli/attach/attach_task.h"
#include "cli/run/explainer.h"
#include "cli/run/inherited.h"
#include "cli/run/processes.h"
#include "cli/run/recording_switch.h"
#include "cli/run/signals.h"
#include "cli/run/snapshot_taker.h"
#include "cli/run/top_service.h"
#include "cli/target/device_use_watch.h"
#include "cli/target/launch.h"
#include "cli/target/process_births.h"
#include "cli/target/process_identity.h"
#include "cli/target/server.h"

#include <poll.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace heapprof::cli {

struct WatchResult {
  RunEnd end;
  int detached_by = 0;  // the signal that made us leave while the program runs on; 0: none
};

struct AttachedProgram {
  ProcessHandle process;
  uint64_t for_ns = 0;  // 0: without a limit
  std::string agent;
};

// The collector's loop: each round handles what has arrived, and makes one drain pass.
class Watch {
 public:
  Watch(Server* server, SignalWatch* signals, Processes* processes, SnapshotTaker* snapshots, Explainer* explainer,
        TopService* top_service, RecordingSwitch* recording, DeviceUseWatch* use);

  // Runs until the program has ended, or a signal makes us leave.
  WatchResult until_end(const Launched& launched, const Inherited& inherited);
  // The same for an attached program: runs until it has ended, for_ns has passed, a signal comes (which is not
  // forwarded), or the attach fails. If the agent has to be detached, that is done when this returns.
  WatchResult until_left(const AttachedProgram& program, AttachTask* task);
  // Runs until the other processes have ended, `wait` has passed (nullopt: 200 ms; 0: no limit), or a signal makes us
  // leave. Also waits for processes that were started and have not asked for an arena yet.
  void others(const std::optional<std::chrono::seconds>& wait, const std::string& socket_path);
  // Live processes of this run that never asked for an arena.
  std::vector<pid_t> never_seen(const std::string& socket_path) const;

 private:
  void round();
  void admit();
  void set_sleep(uint64_t due_ns);
  void sleep(int pidfd);
  bool is_root_judged() const;
  void stop_with_root(int number);
  void follow_parent(const Inherited& inherited);
  std::optional<PidSpan> run_pids() const;
  bool may_others_come(const std::string& socket_path, bool is_waiting);

  Server& server_;
  SignalWatch& signals_;
  Processes& processes_;
  SnapshotTaker& snapshots_;
  Explainer& explainer_;
  TopService& top_service_;
  RecordingSwitch& recording_;
  DeviceUseWatch& use_;
  std::vector<pollfd> waiting_;
  uint64_t next_news_ns_ = 0;  // when to check for changes that no descriptor reports
  uint64_t next_reap_ns_ = 0;
  bool has_news_ = true;         // something from an agent, a signal, or the program's end
  bool is_behind_ = false;       // the rings fill as fast as they are read
  bool has_ended_ones_ = false;  // some ended processes are not finished yet
  uint64_t longest_sleep_ns_;
  uint64_t sleep_ns_ = 0;
  uint64_t searched_ns_ = 0;
  bool has_parent_ended_ = false;
  pid_t root_pid_ = 0;  // 0: not started yet
  uint64_t before_root_ns_ = 0;
};

}  // namespace heapprof::cli
