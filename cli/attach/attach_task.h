// cli/attach/attach_task.h: attaches or detaches on a thread of its own, while the collector answers the agent.
//
// Context:  used by one thread, which never waits: it polls is_done().
#pragma once

#include "cli/attach/attach.h"

#include <atomic>
#include <optional>
#include <thread>

namespace heapprof::cli {

class AttachTask {
 public:
  AttachTask() = default;
  AttachTask(const AttachTask&) = delete;
  AttachTask& operator=(const AttachTask&) = delete;
  // Gives up if a task is in progress.
  ~AttachTask() { end(); }

  // pre of both: no task is in progress.
  void attach(AttachRequest request);
  void detach(pid_t pid, std::string agent);

  bool is_under_way() const { return thread_.joinable() && !is_done_; }
  bool is_done() const { return is_done_; }
  // pre: it is done. true: the task succeeded.
  const Result<bool>& result() const { return *result_; }
  // Gives up. If the agent already calls the collector, the collector has to answer until the task is done.
  void give_up() { has_to_stop_ = true; }
  void end();

 private:
  template <typename Work>
  void begin(Work work);

  std::thread thread_;
  std::atomic<bool> has_to_stop_{false};
  std::atomic<bool> is_done_{false};
  std::optional<Result<bool>> result_;
};

}  // namespace heapprof::cli
