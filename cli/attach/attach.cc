// cli/attach/attach.cc: finds a thread, and what it is to call.
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
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>

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

struct Place {
  std::vector<Mapping> mappings;
  MappedObject libc;
  uint64_t dlopen_avma = 0;
  uint64_t restorer_avma = 0;
};

std::vector<pid_t> threads_of(pid_t pid) {
  std::vector<pid_t> ids;
  DIR* const folder = ::opendir(fmt::format("/proc/{}/task", pid).c_str());
  if (folder == nullptr) return ids;
  while (const dirent* const entry = ::readdir(folder)) {
    if (const long id = std::strtol(entry->d_name, nullptr, 10); id > 0) ids.push_back(static_cast<pid_t>(id));
  }
  ::closedir(folder);
  return ids;
}

// Threads that sleep without a timeout first: a call that begins anew loses nothing there. Then those that sleep at all.
int rank_of(pid_t pid, pid_t id) {
  std::ifstream file(fmt::format("/proc/{}/task/{}/syscall", pid, id));
  std::string number;
  if (!(file >> number) || number == "running" || number == "-1") return 2;
  static const std::array kWithTimeout = {"35", "230", "7", "23", "270", "271", "202"};  // sleeps, polls, futex
  return std::any_of(kWithTimeout.begin(), kWithTimeout.end(), [&](const char* one) { return number == one; }) ? 1 : 0;
}

Result<Place> look_at_process(pid_t pid) {
  Place place;
  if (::kill(pid, 0) != 0 && errno == ESRCH) return process_not_found(std::to_string(pid));
  place.mappings = read_mappings(pid);
  if (place.mappings.empty()) return attach_refused(std::to_string(pid), std::string(std::strerror(EPERM)));
  const std::optional<MappedObject> libc = find_object(pid, place.mappings, "libc.so.6");
  if (!libc) return attach_impossible(std::to_string(pid), "it has no glibc: it is linked statically, or with another libc");
  place.libc = *libc;
  place.dlopen_avma = function_in(*libc, "dlopen");
  if (place.dlopen_avma == 0) {  // before glibc 2.34
    if (const auto libdl = find_object(pid, place.mappings, "libdl.so.2")) place.dlopen_avma = function_in(*libdl, "dlopen");
  }
  if (place.dlopen_avma == 0) place.dlopen_avma = function_in(*libc, "__libc_dlopen_mode");
  place.restorer_avma = bytes_in(pid, place.mappings, *libc, kRestorer);
  if (place.dlopen_avma == 0 || place.restorer_avma == 0)
    return attach_impossible(std::to_string(pid), "its libc has no dlopen that could be called");
  return place;
}

bool is_same_file(const std::string& one, const std::string& other) {
  struct stat first {};
  struct stat second {};
  return ::stat(one.c_str(), &first) == 0 && ::stat(other.c_str(), &second) == 0 && first.st_dev == second.st_dev &&
         first.st_ino == second.st_ino;
}

// Stops a thread at a safe place.
Result<Done> stop_one(pid_t pid, const Place& place, const std::string& agent_file, const std::atomic<bool>& has_to_stop,
                      StoppedThread* thread) {
  SafePlaces places(pid, place.mappings, agent_file);
  const uint64_t start_ns = monotonic_ns();
  std::string obstacle = "it has no thread";
  while (!has_to_stop && monotonic_ns() - start_ns < kMostSearchNs) {
    std::vector<pid_t> ids = threads_of(pid);
    if (ids.empty()) return process_not_found(std::to_string(pid));
    std::stable_sort(ids.begin(), ids.end(),
                     [pid](pid_t one, pid_t other) { return rank_of(pid, one) < rank_of(pid, other); });
    for (const pid_t id : ids) {
      if (has_to_stop) break;
      obstacle = thread->stop(pid, id);
      if (obstacle.empty()) obstacle = places.find_obstacle(*thread);
      if (obstacle.empty()) return Done{};
      const bool is_forbidden = thread->id() == 0 && obstacle == std::strerror(EPERM);
      thread->let_go();
      if (is_forbidden) return attach_refused(std::to_string(pid), obstacle);
    }
    ::nanosleep(&kBetweenRounds, nullptr);
  }
  return attach_found_no_thread(std::to_string(pid), obstacle);
}

}  // namespace

Result<Done> attach_agent(const AttachRequest& request, const std::atomic<bool>& has_to_stop) {
  const pid_t pid = request.pid;
  Result<Place> place = look_at_process(pid);
  if (!place) return place.problem();
  const std::string agent_name = base_name(request.agent);
  std::optional<MappedObject> agent = find_object(pid, place->mappings, agent_name);
  if (!agent && !is_same_file(request.agent, fmt::format("/proc/{}/root{}", pid, request.agent)))
    return attach_sees_no_agent(std::to_string(pid), request.agent);

  StoppedThread thread;
  if (const Result<Done> stopped = stop_one(pid, *place, agent_name, has_to_stop, &thread); !stopped)
    return stopped.problem();
  std::string failure = thread.prepare(place->restorer_avma, kTextBytes);
  const std::string followed = request.follows ? request.agent : "";
  if (failure.empty() && !(thread.write_text(kFirstTextAt, request.invitation) &&
                           thread.write_text(kSecondTextAt, request.agent)))
    failure = std::strerror(errno);
  if (failure.empty() && !agent) {
    failure = thread.call(place->dlopen_avma, {thread.text_avma() + kSecondTextAt, RTLD_NOW | RTLD_LOCAL}, kMostCall);
    if (failure.empty()) agent = find_object(pid, read_mappings(pid), agent_name);
    if (failure.empty() && !agent) failure = "its loader did not take the agent: it lacks memory, or room for thread-local storage";
  }
  const uint64_t function_avma = agent ? function_in(*agent, wire::kAttachFunction) : 0;
  if (failure.empty() && function_avma == 0) failure = "the agent in it is another version's";
  uint32_t answer = 0;
  if (failure.empty() && !thread.write_text(kSecondTextAt, followed)) failure = std::strerror(errno);
  if (failure.empty())
    failure = thread.call(function_avma,
                          {thread.text_avma() + kFirstTextAt, thread.text_avma() + kSecondTextAt,
                           thread.text_avma() + kAnswerAt},
                          kMostCall);
  if (failure.empty() && !thread.read_text(kAnswerAt, &answer, sizeof answer)) failure = std::strerror(errno);
  thread.let_go();
  if (!failure.empty()) return attach_failed(std::to_string(pid), failure);
  switch (static_cast<wire::AttachAnswer>(answer)) {
    case wire::AttachAnswer::kAttached: return Done{};
    case wire::AttachAnswer::kBusy:
    case wire::AttachAnswer::kStarting: return already_profiled(std::to_string(pid));
    case wire::AttachAnswer::kNoAllocator:
      return attach_impossible(std::to_string(pid), "its malloc is linked into the program, where nothing can be led to the agent");
    case wire::AttachAnswer::kRefused: break;
  }
  return attach_failed(std::to_string(pid), "the agent in it could not reach heapprof, or map its memory");
}

Result<bool> detach_agent(pid_t pid, const std::string& agent_path, const std::atomic<bool>& has_to_stop) {
  Result<Place> place = look_at_process(pid);
  if (!place) return place.problem();
  const std::string agent_name = base_name(agent_path);
  const std::optional<MappedObject> agent = find_object(pid, place->mappings, agent_name);
  if (!agent) return false;
  const uint64_t function_avma = function_in(*agent, wire::kDetachFunction);
  if (function_avma == 0) return attach_failed(std::to_string(pid), "the agent in it is another version's");
  StoppedThread thread;
  if (const Result<Done> stopped = stop_one(pid, *place, agent_name, has_to_stop, &thread); !stopped)
    return stopped.problem();
  uint32_t answer = 0;
  std::string failure = thread.prepare(place->restorer_avma, kTextBytes);
  if (failure.empty()) failure = thread.call(function_avma, {thread.text_avma() + kAnswerAt}, kMostCall);
  if (failure.empty() && !thread.read_text(kAnswerAt, &answer, sizeof answer)) failure = std::strerror(errno);
  thread.let_go();
  if (!failure.empty()) return attach_failed(std::to_string(pid), failure);
  return static_cast<wire::DetachAnswer>(answer) == wire::DetachAnswer::kDetached;
}

}  // namespace heapprof::cli
