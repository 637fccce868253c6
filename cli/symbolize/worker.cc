// cli/symbolize/worker.cc: normally one child for all jobs. A result on the pipe: u64 job | u64 size | bytes.
#include "cli/symbolize/worker.h"

#include "cli/base/fd.h"
#include "cli/base/sanitizers.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <exception>
#include <fstream>
#include <new>

namespace heapprof::cli {
namespace {

constexpr uint64_t kMaxResultBytes = uint64_t{256} << 20;

struct ResultHeader {
  uint64_t job;
  uint64_t size_bytes;
};
static_assert(sizeof(ResultHeader) == 16);

bool write_all(int fd, const void* from, size_t size_bytes) {
  const char* at = static_cast<const char*>(from);
  while (size_bytes > 0) {
    ssize_t done = ::write(fd, at, size_bytes);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return false;
    at += done;
    size_bytes -= static_cast<size_t>(done);
  }
  return true;
}

void limit_cpu(unsigned seconds) {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  rlimit limit{};
  ::getrlimit(RLIMIT_CPU, &limit);
  rlim_t wanted = static_cast<rlim_t>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) + seconds;
  if (limit.rlim_max == RLIM_INFINITY || wanted < limit.rlim_max) limit.rlim_cur = wanted;
  ::setrlimit(RLIMIT_CPU, &limit);
}

// A broken file can request any amount. The limit counts private writable pages, not the files' mappings.
void limit_data(uint64_t wanted_bytes) {
  const auto page_bytes = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  if (wanted_bytes == 0) wanted_bytes = static_cast<uint64_t>(::sysconf(_SC_PHYS_PAGES)) / 2 * page_bytes;
  std::ifstream statm("/proc/self/statm");
  uint64_t pages = 0;
  for (int field = 0; field < 6; ++field) statm >> pages;  // the sixth: data and stack
  rlimit limit{};
  ::getrlimit(RLIMIT_DATA, &limit);
  const rlim_t wanted = pages * page_bytes + wanted_bytes;
  if (wanted < limit.rlim_cur) limit.rlim_cur = wanted;
  ::setrlimit(RLIMIT_DATA, &limit);
}

void prepare_child(pid_t parent, uint64_t data_bytes) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);  // the parent ended before the line above
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);  // a run blocks signals that its program may get
  for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGXCPU}) ::signal(signal, SIG_DFL);
  for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP}) ::signal(signal, SIG_IGN);  // the parent decides
  ::signal(SIGPIPE, SIG_IGN);
  if (!kHasAddressSanitizer) {
    UniqueFd nowhere(::open("/dev/null", O_WRONLY | O_CLOEXEC));
    if (nowhere.is_open()) ::dup2(nowhere.get(), STDERR_FILENO);  // drops the last messages of an aborting library
  }
  limit_data(data_bytes);
  rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  UniqueFd badness(::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC));
  if (badness.is_open()) write_all(badness.get(), "1000", 4);
}

[[noreturn]] void run_child(int to_parent, size_t first, size_t jobs, const WorkerLimits& limits,
                            const std::function<std::string(size_t)>& job) {
  for (size_t i = first; i < jobs; ++i) {
    limit_cpu(limits.job_cpu_s);
    std::string result;
    try {
      result = job(i);
    } catch (const std::exception&) {  // out of memory
      ::_exit(1);
    }
    ResultHeader header{i, result.size()};
    if (!write_all(to_parent, &header, sizeof header) || !write_all(to_parent, result.data(), result.size()))
      ::_exit(1);
  }
  ::_exit(0);
}

using Clock = std::chrono::steady_clock;

// False at the end of the pipe, or if nothing arrived by the deadline.
bool read_all(int fd, void* to, size_t size_bytes, Clock::time_point deadline) {
  char* at = static_cast<char*>(to);
  while (size_bytes > 0) {
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return false;
    pollfd ready{fd, POLLIN, 0};
    int count = ::poll(&ready, 1, static_cast<int>(left));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    ssize_t got = ::read(fd, at, size_bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got;
    size_bytes -= static_cast<size_t>(got);
  }
  return true;
}

// Takes results until the child ends; returns the first job without one.
size_t take_results(int from_child, size_t first, size_t jobs, const WorkerLimits& limits,
                    const std::function<void(size_t, std::string)>& take) {
  for (size_t i = first; i < jobs; ++i) {
    Clock::time_point deadline = Clock::now() + std::chrono::seconds(limits.job_silence_s);
    ResultHeader header{};
    if (!read_all(from_child, &header, sizeof header, deadline)) return i;
    if (header.job != i || header.size_bytes > kMaxResultBytes) return i;
    try {
      std::string result(header.size_bytes, '\0');
      if (!read_all(from_child, result.data(), result.size(), deadline)) return i;
      take(i, std::move(result));
    } catch (const std::bad_alloc&) {
      return i;
    }
  }
  return jobs;
}

}  // namespace

std::vector<size_t> run_in_worker(size_t jobs, const WorkerLimits& limits,
                                  const std::function<std::string(size_t)>& job,
                                  const std::function<void(size_t, std::string)>& take) {
  std::vector<size_t> without_result;
  for (size_t next = 0; next < jobs;) {
    int ends[2];
    pid_t parent = ::getpid();
    pid_t child = -1;
    if (::pipe2(ends, O_CLOEXEC) != 0) ends[0] = ends[1] = -1;
    UniqueFd from_child(ends[0]);
    UniqueFd to_parent(ends[1]);
    if (from_child.is_open()) child = ::fork();
    if (child == 0) {
      from_child.reset();
      prepare_child(parent, limits.data_bytes);
      run_child(to_parent.get(), next, jobs, limits, job);
    }
    to_parent.reset();
    if (child < 0) {  // no process available: no names from here on
      for (; next < jobs; ++next) without_result.push_back(next);
      break;
    }
    next = take_results(from_child.get(), next, jobs, limits, take);
    if (next < jobs) {
      ::kill(child, SIGKILL);
      without_result.push_back(next++);
    }
    while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  return without_result;
}

}  // namespace heapprof::cli
