// cli/run/snapshot_taker.cc: a fork copies all tables without any code for each of them, and stops the collector only
// while it forks. A fork does not copy the rings, which are shared with the target, so the forked copy never reads
// them.
#include "cli/run/snapshot_taker.h"

#include "cli/base/problems.h"
#include "cli/run/init.h"
#include "cli/run/process_tree_text.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <string>

namespace heapprof::cli {
namespace {

constexpr ptrdiff_t kMostWritersAtOnce = 4;
constexpr int kSnapshotPatience = 300;  // in steps: at the end of the run, wait 30 s for writers at work
constexpr useconds_t kSnapshotPatienceStepUs = 100'000;

void answer(const Caller& caller, SnapshotStatus status, const std::string& text, const SnapshotAnswer& numbers = {}) {
  SnapshotAnswer packet = numbers;
  packet.status = status;
  std::memcpy(packet.text, text.data(), std::min(text.size(), sizeof packet.text - 1));
  static_cast<void>(send(caller.connection.get(), &packet, sizeof packet, MSG_NOSIGNAL));
}

// Why the request is refused; empty if it may be served.
std::string refusal_of_snapshot(const Caller& caller) {
  const SnapshotRequest& request = *caller.snapshot;
  if (caller.uid != geteuid() && caller.uid != 0) return "its heapprof belongs to another user";
  if (request.version != kSnapshotVersion) return "its heapprof is of another version";
  if (request.path[sizeof request.path - 1] != 0 || request.path[0] != '/')
    return "the name of the file is not absolute";
  return "";
}

}  // namespace

SnapshotTaker::~SnapshotTaker() {
  for (int i = 0; i < kSnapshotPatience && reap(); ++i) usleep(kSnapshotPatienceStepUs);
  for (const Work& work : at_work_) {  // stuck, as when writing to a pipe without a reader
    kill(work.writer, SIGKILL);
    waitpid(work.writer, nullptr, 0);
  }
}

bool SnapshotTaker::is_said(const Work& work) {
  pollfd last{work.said.get(), POLLIN, 0};
  return poll(&last, 1, 0) == 1;
}

bool SnapshotTaker::reap() {
  std::erase_if(at_work_, [](const Work& work) { return waitpid(work.writer, nullptr, WNOHANG) != 0; });
  return !at_work_.empty();
}

void SnapshotTaker::take(const Caller& caller, Server* server, Processes* processes) {
  if (const std::string why = refusal_of_snapshot(caller); !why.empty())
    return answer(caller, SnapshotStatus::kRefused, why);
  const pid_t of = is_pid_of_run(caller.snapshot->pid) ? root_pid_ : caller.snapshot->pid;
  if (!processes->has(of)) return answer(caller, SnapshotStatus::kUnknown, "");
  reap();
  const auto is_unsaid = [](const Work& work) { return !is_said(work); };
  if (std::any_of(at_work_.begin(), at_work_.end(), [&](const Work& work) { return work.of == of && is_unsaid(work); }))
    return answer(caller, SnapshotStatus::kRefused, "another snapshot of it is being taken");
  if (std::count_if(at_work_.begin(), at_work_.end(), is_unsaid) >= kMostWritersAtOnce)
    return answer(caller, SnapshotStatus::kRefused, "four others are being taken");
  UniqueFd said(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!said.is_open()) return answer(caller, SnapshotStatus::kRefused, errno_text(errno));
  processes->drain(RoundKind::kAll);  // takes all events published so far
  const pid_t writer = fork();
  if (writer == 0) write(caller, of, said.get(), server, processes);
  if (writer < 0) return answer(caller, SnapshotStatus::kRefused, errno_text(errno));
  at_work_.push_back({writer, of, std::move(said)});
}

// Runs in the forked copy. The run's Finisher has threads, which a fork does not copy, so a new one is made. The copy
// ends by _exit(), so that no destructor of the run's objects runs.
void SnapshotTaker::write(const Caller& caller, pid_t of, int said, Server* server, Processes* processes) const {
  const auto say = [&](SnapshotStatus status, const std::string& text, const SnapshotAnswer& numbers = {}) {
    eventfd_write(said, 1);  // before the answer, after which the client may ask again at once
    answer(caller, status, text, numbers);
  };
  answer(caller, SnapshotStatus::kWorking, "");
  server->abandon();
  const int null = open("/dev/null", O_RDWR);
  for (int fd = 0; fd <= 2; ++fd) dup2(null, fd);  // a reader of the run's output must not have to wait for the copy
  try {
    const SnapshotRequest& request = *caller.snapshot;
    Finisher finisher(options_);
    const Result<Finished> finished =
        finisher.finish({processes->snapshot(of), request.path, request.may_overwrite != 0});
    if (finished) {
      SnapshotAnswer numbers;
      numbers.size_bytes = finished->saved.size_bytes;
      numbers.live_bytes = finished->profile->devices[0].totals.leaked_bytes;
      numbers.peak_bytes = finished->profile->devices[0].totals.peak_bytes;
      const std::string devices = devices_text(finished->saved.devices);
      devices.copy(numbers.devices, sizeof numbers.devices - 1);
      say(SnapshotStatus::kWritten, finished->saved.path, numbers);
    } else {
      say(SnapshotStatus::kRefused, finished.problem().what);
    }
  } catch (const std::exception&) {
    say(SnapshotStatus::kRefused, "there is not enough memory for a copy of its numbers");
  }
  _exit(0);
}

}  // namespace heapprof::cli
