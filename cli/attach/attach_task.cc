// cli/attach/attach_task.cc: see attach_task.h.
#include "cli/attach/attach_task.h"

#include "cli/base/problems.h"

#include <system_error>

namespace heapprof::cli {

template <typename Work>
void AttachTask::begin(Work work) {
  end();
  has_to_stop_ = false;
  is_done_ = false;
  try {
    thread_ = std::thread([this, work = std::move(work)] {
      result_ = work();
      is_done_ = true;
    });
  } catch (const std::system_error&) {
    result_ = memory_refused("start a thread");
    is_done_ = true;
  }
}

void AttachTask::attach(AttachRequest request) {
  begin([this, request = std::move(request)]() -> Result<bool> {
    const Result<Done> done = attach_agent(request, has_to_stop_);
    if (!done) return done.problem();
    return true;
  });
}

void AttachTask::detach(pid_t pid, std::string agent) {
  begin([this, pid, agent = std::move(agent)] { return detach_agent(pid, agent, has_to_stop_); });
}

void AttachTask::end() {
  has_to_stop_ = true;
  if (thread_.joinable()) thread_.join();
}

}  // namespace heapprof::cli
