// cli/run/checkpoints.cc: when a checkpoint is written, and whether with names.
//
// A forked copy of the collector writes it. Names are the expensive part: to look them up in a program's debug
// information can take minutes. So the first checkpoint of a process has no names. It is on disk after some
// milliseconds, and `report` looks its names up when it shows it. A second copy then tries with names, and is killed if
// it takes too long. Once a checkpoint with names was written in time, the names are in the cache, and further
// checkpoints have names.
//
// A program may be killed after a second or after a day. So the time between two checkpoints grows with the age of the
// process, up to a minute, or longer if the limit on processor time requires it.
#include "cli/run/checkpoints.h"

#include "cli/base/atomic_file.h"
#include "cli/base/clock.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <exception>
#include <thread>

namespace heapprof::cli {
namespace {

constexpr uint64_t kMs = 1'000'000;
constexpr uint64_t kSecond = 1000 * kMs;
constexpr uint64_t kLookIntervalNs = 100 * kMs;
constexpr uint64_t kFirstNs = kSecond;
constexpr uint64_t kLongestNs = 60 * kSecond;
constexpr uint64_t kAgeTimes = 2;          // the next checkpoint is due when the process is three times as old
constexpr uint64_t kAtStartNs = 60 * kMs;  // what all checkpoints together may take in any case
constexpr uint64_t kShareOf = 1000;        // or a thousandth of the time for each process, if more
constexpr uint64_t kNamesNs = 20 * kMs;    // a guess for the first checkpoint with names
constexpr uint64_t kBareNs = 5 * kMs;      // of a small program, without names
constexpr uint64_t kSmallBytes = 8 << 20;  // the MemoryNeed::finish_bytes of a small program
constexpr uint64_t kBytesPerNs = 3;        // for bytes beyond that
constexpr uint64_t kLeastPatienceNs = 100 * kMs;
constexpr uint64_t kPatienceTimes = 4;  // a copy may take this multiple of its processor time
constexpr int kNice = 10;
constexpr uint64_t kAtOnceNs = 1;  // names are due, but after processes without a checkpoint, whose due_ns is 0

uint64_t ns_of(const timeval& time) {
  return static_cast<uint64_t>(time.tv_sec) * kSecond + static_cast<uint64_t>(time.tv_usec) * 1000;
}

bool is_writable_target(const std::string& path) {
  struct stat facts {};
  return stat(path.c_str(), &facts) != 0 || S_ISREG(facts.st_mode);
}

}  // namespace

Checkpoints::Checkpoints(const FinishOptions& options, uint64_t interval_ns, uint64_t max_memory_bytes,
                         bool may_overwrite, NameOf name_of)
    : options_(options),
      first_ns_(interval_ns == 0 ? kFirstNs : std::min(kFirstNs, interval_ns)),
      longest_ns_(interval_ns == 0 ? kLongestNs : std::clamp(interval_ns, kFirstNs, kLongestNs)),
      budget_(max_memory_bytes),
      may_overwrite_(may_overwrite),
      name_of_(std::move(name_of)),
      start_ns_(monotonic_ns()),
      named_ns_(kNamesNs) {}

Checkpoints::~Checkpoints() {
  abandon();
  for (const auto& [number, plan] : plans_) {
    if (plan.is_written) unlink(plan.path.c_str());
  }
}

Checkpoints::Plan& Checkpoints::plan_of(ProcessNumber number, const ImageName& image) {
  const auto [at, is_new] = plans_.try_emplace(number);
  if (!is_new) return at->second;
  at->second.path = name_of_(image);
  if (!may_overwrite_) at->second.path = AtomicFile::free_name(at->second.path);
  return at->second;
}

uint64_t Checkpoints::allowance_ns(uint64_t now_ns, size_t processes) const {
  const uint64_t cores = std::clamp<uint64_t>(processes, 1, std::max(1u, std::thread::hardware_concurrency()));
  return std::max(kAtStartNs, (now_ns - start_ns_) / kShareOf * cores);
}

void Checkpoints::tick(Server* server, Processes* processes) {
  if (!reap()) return;
  const uint64_t now_ns = monotonic_ns();
  if (now_ns < next_look_ns_) return;
  next_look_ns_ = now_ns + kLookIntervalNs;
  const uint64_t allowance = allowance_ns(now_ns, processes->running());
  if (spent_ns_ + std::min(bare_ns_, named_ns_) > allowance) return;
  std::optional<RunningImage> chosen;
  uint64_t earliest_ns = now_ns;
  processes->for_each_image([&](const RunningImage& image) {
    const auto plan = plans_.find(image.number);
    const uint64_t due_ns = plan == plans_.end() ? 0 : plan->second.due_ns;
    if (due_ns >= earliest_ns || image.collector->age_ns() < first_ns_) return;
    if (plan != plans_.end() && !is_writable_target(plan->second.path)) return;
    earliest_ns = due_ns;
    chosen = image;
  });
  if (!chosen) return;
  const MemoryNeed need = chosen->collector->memory_need();
  const uint64_t beyond_bytes = need.finish_bytes - std::min(need.finish_bytes, kSmallBytes);
  const uint64_t bare_ns = std::max(bare_ns_, kBareNs + beyond_bytes * kBytesPerNs);
  const uint64_t named_ns = std::max(named_ns_, bare_ns);
  const bool has_room_for_names = spent_ns_ + named_ns <= allowance;
  const auto plan = plans_.find(chosen->number);
  const bool wants_names = is_named_ || (plan != plans_.end() && plan->second.wants_names);
  const bool has_names = wants_names && has_room_for_names;
  if (!has_names && (is_named_ || spent_ns_ + bare_ns > allowance)) return;
  if (budget_.shortage({need.freeable_bytes, 2 * need.finish_bytes})) return;
  const uint64_t most_ns = std::max(kLeastPatienceNs, kPatienceTimes * (allowance - spent_ns_));
  begin(*chosen, has_names, has_names ? most_ns : UINT64_MAX, server, processes);
}

void Checkpoints::begin(const RunningImage& image, bool has_names, uint64_t most_ns, Server* server,
                        Processes* processes) {
  Plan& plan = plan_of(image.number, image.name);
  const uint64_t now_ns = monotonic_ns();
  const uint64_t age_ns = image.collector->age_ns();
  plan.due_ns = now_ns + std::min(kAgeTimes * age_ns, longest_ns_);
  if (!is_writable_target(plan.path)) return;
  processes->drain(RoundKind::kAll);  // takes all events published so far
  const pid_t writer = fork();
  if (writer == 0) write(image.pid, plan, has_names, server, processes);
  if (writer < 0) return;
  spent_ns_ += monotonic_ns() - now_ns;
  work_ = {writer, image.number, has_names, now_ns, most_ns};
}

// Runs in the copy, whose exit status says whether the file was written.
void Checkpoints::write(pid_t pid, const Plan& plan, bool has_names, Server* server, Processes* processes) const {
  server->abandon();
  const int null = open("/dev/null", O_RDWR);
  for (int fd = 0; fd <= 2; ++fd) dup2(null, fd);
  setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + kNice);
  if (const int fd = open("/proc/self/oom_score_adj", O_WRONLY); fd >= 0)
    static_cast<void>(!::write(fd, "1000", 4));  // if memory runs out, this process is killed first
  unsetenv("DEBUGINFOD_URLS");
  try {
    FinishOptions options = options_;
    options.has_names = has_names;
    Finisher finisher(options);
    const bool may_overwrite = may_overwrite_ || plan.is_written;
    const Result<Finished> finished = finisher.finish({processes->snapshot(pid), plan.path, may_overwrite});
    if (finished && finished->saved.path == plan.path) _exit(0);
    if (finished) unlink(finished->saved.path.c_str());  // plan.path exists by now, so another name was chosen
  } catch (const std::exception&) {                      // out of memory
  }
  _exit(1);
}

// False: a copy is at work.
bool Checkpoints::reap() {
  if (work_.writer == 0) return true;
  int status = 0;
  rusage used{};
  const bool is_late = monotonic_ns() - work_.begin_ns > work_.most_ns;
  if (is_late) kill(work_.writer, SIGKILL);
  const pid_t ended = wait4(work_.writer, &status, is_late ? 0 : WNOHANG, &used);
  if (ended == 0) return false;
  const bool is_good = ended > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  take_leave(is_good, ns_of(used.ru_utime) + ns_of(used.ru_stime));
  return true;
}

void Checkpoints::take_leave(bool is_good, uint64_t cpu_ns) {
  spent_ns_ += cpu_ns;
  Plan& plan = plans_[work_.number];
  // If the copy was killed just now, only the file shows whether the copy had already written it.
  plan.is_written = plan.is_written || is_good || (!may_overwrite_ && access(plan.path.c_str(), F_OK) == 0);
  if (work_.has_names) {
    plan.wants_names = false;
    is_named_ = is_good;
    named_ns_ = is_good ? cpu_ns : std::max(kPatienceTimes * named_ns_, kPatienceTimes * cpu_ns);
  } else {
    bare_ns_ = cpu_ns;
    plan.wants_names = is_good;
    if (is_good) plan.due_ns = kAtOnceNs;
  }
  work_ = {};
}

void Checkpoints::abandon() {
  if (work_.writer == 0) return;
  kill(work_.writer, SIGKILL);
  work_.most_ns = 0;
  reap();
}

Checkpoints::Claim Checkpoints::claim(ProcessNumber number, const ImageName& image) {
  if (work_.number == number) abandon();
  const Plan& plan = plan_of(number, image);
  Claim claim{plan.path, may_overwrite_ || plan.is_written};
  plans_.erase(number);
  return claim;
}

}  // namespace heapprof::cli
