// cli/attach/attach.cc: finds a thread, and what it is to call.
//
// The loader is not told to load anything behind its back: dlopen is called, as a debugger would. What the agent
// answers goes through memory on the thread's stack, not through a register: the thread goes on from the call to where
// it was without anybody in between.
#include "cli/attach/attach.h"

#include "cli/attach/process_maps.h"
#include "cli/attach/safe_place.h"
#include "cli/attach/stopped_thread.h"
#include "cli/base/clock.h"
#include "cli/base/file_name.h"
#include "cli/base/problems.h"
#include "shared/attach.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <utility>
#include <vector>

namespace heapprof::cli {

namespace {

constexpr uint64_t kMostSearchNs = 10'000'000'000;  // for a thread at a safe place
constexpr timespec kBetweenRounds{0, 20'000'000};
constexpr std::chrono::seconds kMostCall{20};  // the handshake takes a second, on a busy machine ten
constexpr size_t kAnswerAt = 0;                // in the text of a stopped thread
constexpr size_t kFirstTextAt = 64;
constexpr size_t kSecondTextAt = 256;
constexpr size_t kTextBytes = 256 + 4096;

// mov $15, %rax; syscall: rt_sigreturn, as libc's restorer has it.
const std::string kRestorer("\x48\xc7\xc0\x0f\x00\x00\x00\x0f\x05", 9);

// What a thread is made to call, and by what it comes back.
struct Callables {
  std::vector<Mapping> mappings;
  uint64_t dlopen_avma = 0;
  uint64_t restorer_avma = 0;
};

// Threads that sleep without a timeout come first: a call that begins anew loses nothing there. Then those that sleep
// at all.
int rank_of(pid_t pid, pid_t id) {
  std::ifstream file(fmt::format("/proc/{}/task/{}/syscall", pid, id));
  long number = -1;
  if (!(file >> number) || number < 0) return 2;  // "running", or stopped
  constexpr std::array kWithTimeout = {SYS_nanosleep, SYS_clock_nanosleep, SYS_poll, SYS_ppoll,
                                       SYS_select,    SYS_pselect6,        SYS_futex};
  return std::count(kWithTimeout.begin(), kWithTimeout.end(), number) != 0 ? 1 : 0;
}

// Each with its rank of that moment.
std::vector<std::pair<int, pid_t>> ranked_threads(pid_t pid) {
  std::vector<std::pair<int, pid_t>> threads;
  DIR* const folder = ::opendir(fmt::format("/proc/{}/task", pid).c_str());
  if (folder == nullptr) return threads;
  while (const dirent* const entry = ::readdir(folder)) {
    const auto id = static_cast<pid_t>(std::strtol(entry->d_name, nullptr, 10));
    if (id > 0) threads.emplace_back(rank_of(pid, id), id);
  }
  ::closedir(folder);
  std::sort(threads.begin(), threads.end());
  return threads;
}

// A number in a thread's status; 0: the kernel does not say.
long number_in_status(pid_t pid, pid_t id, const std::string& name) {
  std::ifstream status(fmt::format("/proc/{}/task/{}/status", pid, id));
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(name)) return std::strtol(line.c_str() + name.size(), nullptr, 10);
  }
  return 0;
}

// A file that was replaced since it was mapped: what it exported cannot be read any more.
bool has_deleted(const std::vector<Mapping>& mappings, const std::string& file_name) {
  return std::any_of(mappings.begin(), mappings.end(), [&](const Mapping& mapping) {
    return mapping.path.ends_with(" (deleted)") && base_name(mapping.path).starts_with(file_name);
  });
}
constexpr char kOldAgent[] = "it has an agent whose file was replaced since; only a new process can have the new one";

Result<Callables> look_at_process(pid_t pid) {
  Callables found;
  if (::kill(pid, 0) != 0 && errno == ESRCH) return process_not_found(std::to_string(pid));
  if (number_in_status(pid, pid, "Tgid:") != pid) return process_not_found(std::to_string(pid));  // a thread's number
  found.mappings = read_mappings(pid);
  if (found.mappings.empty()) return attach_refused(std::to_string(pid), std::string(std::strerror(EPERM)));
  std::optional<MappedObject> object = find_object(pid, found.mappings, "libc.so.6");
  if (!object) object = find_object(pid, found.mappings, "libc-2.");  // before glibc 2.34
  if (!object)
    return attach_impossible(std::to_string(pid), "it has no glibc: it is linked statically, or with another libc");
  const auto is_start = [&](const Mapping& mapping) { return mapping.path == object->path && mapping.offset == 0; };
  if (std::count_if(found.mappings.begin(), found.mappings.end(), is_start) != 1)
    return attach_impossible(std::to_string(pid), "its libc is mapped more than once");
  found.dlopen_avma = function_in(*object, "dlopen");
  if (found.dlopen_avma == 0) {  // before glibc 2.34
    for (const char* name : {"libdl.so.2", "libdl-2."}) {
      const auto libdl = find_object(pid, found.mappings, name);
      if (libdl && found.dlopen_avma == 0) found.dlopen_avma = function_in(*libdl, "dlopen");
    }
  }
  if (found.dlopen_avma == 0) found.dlopen_avma = function_in(*object, "__libc_dlopen_mode");
  found.restorer_avma = bytes_in(pid, found.mappings, *object, kRestorer);
  // What loading a library takes may be what a filter kills for. One that we run under ourselves is the container's.
  for (const auto& [rank, id] : ranked_threads(pid)) {
    if (number_in_status(pid, id, "Seccomp_filters:") > number_in_status(getpid(), getpid(), "Seccomp_filters:"))
      return attach_impossible(std::to_string(pid), "it filters its system calls (seccomp)");
  }
  if (found.dlopen_avma == 0 || found.restorer_avma == 0)
    return attach_impossible(std::to_string(pid), "its libc has no dlopen that could be called");
  return found;
}

bool is_same_file(const std::string& one, const std::string& other) {
  struct stat first {};
  struct stat second {};
  return ::stat(one.c_str(), &first) == 0 && ::stat(other.c_str(), &second) == 0 && first.st_dev == second.st_dev &&
         first.st_ino == second.st_ino;
}

// Stops a thread at a safe place.
Result<Done> stop_one(pid_t pid, const std::string& agent_file, const std::atomic<bool>& has_to_stop,
                      StoppedThread* thread) {
  const uint64_t start_ns = monotonic_ns();
  std::string obstacle = "it has no thread";
  while (!has_to_stop && monotonic_ns() - start_ns < kMostSearchNs) {
    const std::vector<std::pair<int, pid_t>> threads = ranked_threads(pid);
    if (threads.empty()) return process_not_found(std::to_string(pid));
    SafePlaces places(pid, read_mappings(pid), agent_file);
    size_t forbidden = 0;
    for (const auto& [rank, id] : threads) {
      if (has_to_stop) break;
      obstacle = thread->stop(pid, id);
      if (obstacle.empty()) obstacle = places.find_obstacle(*thread);
      if (obstacle.empty()) return Done{};
      // One that ends just now is refused likewise.
      if (thread->id() == 0 && obstacle == std::strerror(EPERM)) ++forbidden;
      thread->let_go();
    }
    if (forbidden == threads.size()) return attach_refused(std::to_string(pid), std::strerror(EPERM));
    ::nanosleep(&kBetweenRounds, nullptr);
  }
  return attach_found_no_thread(std::to_string(pid), obstacle);
}

}  // namespace

Result<Done> attach_agent(const AttachRequest& request, const std::atomic<bool>& has_to_stop) {
  const pid_t pid = request.pid;
  Result<Callables> libc = look_at_process(pid);
  if (!libc) return libc.problem();
  const std::string agent_name = base_name(request.agent);
  std::optional<MappedObject> agent = find_object(pid, libc->mappings, agent_name);
  if (!agent && has_deleted(libc->mappings, agent_name)) return attach_impossible(std::to_string(pid), kOldAgent);
  if (!agent && !is_same_file(request.agent, fmt::format("/proc/{}/root{}", pid, request.agent)))
    return attach_sees_no_agent(std::to_string(pid), request.agent);

  StoppedThread thread;
  if (const Result<Done> stopped = stop_one(pid, agent_name, has_to_stop, &thread); !stopped) return stopped.problem();
  std::string failure = thread.prepare(libc->restorer_avma, kTextBytes);
  const std::string followed = request.follows ? request.agent : "";
  if (failure.empty() &&
      !(thread.write_text(kFirstTextAt, request.invitation) && thread.write_text(kSecondTextAt, request.agent)))
    failure = std::strerror(errno);
  if (failure.empty() && !agent) {
    failure = thread.call(libc->dlopen_avma, {thread.text_avma() + kSecondTextAt, RTLD_NOW | RTLD_LOCAL}, kMostCall);
    if (failure.empty()) agent = find_object(pid, read_mappings(pid), agent_name);
    if (failure.empty() && !agent)
      failure = "its loader did not take the agent: it lacks memory, or room for thread-local storage";
  }
  const uint64_t function_avma = agent ? function_in(*agent, wire::kAttachFunction) : 0;
  if (failure.empty() && function_avma == 0) failure = "the agent in it is another version's";
  uint32_t answer = 0;
  if (failure.empty() && !thread.write_text(kSecondTextAt, followed)) failure = std::strerror(errno);
  if (failure.empty())
    failure = thread.call(
        function_avma,
        {thread.text_avma() + kFirstTextAt, thread.text_avma() + kSecondTextAt, thread.text_avma() + kAnswerAt},
        kMostCall);
  if (failure.empty() && !thread.read_text(kAnswerAt, &answer, sizeof answer)) failure = std::strerror(errno);
  thread.let_go();
  if (!failure.empty()) return attach_failed(std::to_string(pid), failure);
  switch (static_cast<wire::AttachAnswer>(answer)) {
    case wire::AttachAnswer::kAttached: return Done{};
    case wire::AttachAnswer::kBusy:
    case wire::AttachAnswer::kStarting: return already_profiled(std::to_string(pid));
    case wire::AttachAnswer::kNoAllocator:
      return attach_impossible(std::to_string(pid),
                               "its malloc is linked into the program, where nothing can be led to the agent");
    case wire::AttachAnswer::kRefused: break;
  }
  return attach_failed(std::to_string(pid), "the agent in it could not reach heapprof, or map its memory");
}

Result<bool> detach_agent(pid_t pid, const std::string& agent_path, const std::atomic<bool>& has_to_stop) {
  Result<Callables> libc = look_at_process(pid);
  if (!libc) return libc.problem();
  const std::string agent_name = base_name(agent_path);
  const std::optional<MappedObject> agent = find_object(pid, libc->mappings, agent_name);
  if (!agent && has_deleted(libc->mappings, agent_name)) return attach_impossible(std::to_string(pid), kOldAgent);
  if (!agent) return false;
  const uint64_t function_avma = function_in(*agent, wire::kDetachFunction);
  if (function_avma == 0) return attach_failed(std::to_string(pid), "the agent in it is another version's");
  StoppedThread thread;
  if (const Result<Done> stopped = stop_one(pid, agent_name, has_to_stop, &thread); !stopped) return stopped.problem();
  uint32_t answer = 0;
  std::string failure = thread.prepare(libc->restorer_avma, kTextBytes);
  if (failure.empty()) failure = thread.call(function_avma, {thread.text_avma() + kAnswerAt}, kMostCall);
  if (failure.empty() && !thread.read_text(kAnswerAt, &answer, sizeof answer)) failure = std::strerror(errno);
  thread.let_go();
  if (!failure.empty()) return attach_failed(std::to_string(pid), failure);
  return static_cast<wire::DetachAnswer>(answer) == wire::DetachAnswer::kDetached;
}

}  // namespace heapprof::cli
