// cli/run/inherited.cc: closes heapprof's copies of the program's descriptors, so that the other end notices when the
// program closes its output.
//
// Inherited descriptors have no close-on-exec flag, and all that heapprof has opened until then have it: that tells
// them apart. Descriptors 0 and 1 are not closed but replaced, so that no file of ours gets their numbers. If 0 and 1
// were closed at the start, they are /dev/null already (cli/base/output.h).
//
// Device and inode show which inherited descriptor an output's path names: /dev/stdout, /dev/fd/63 (bash's >(…)) or a
// link to one. If an ordinary output file happens to be inherited too, it stays open; that does no harm.
#include "cli/run/inherited.h"

#include "cli/target/process_identity.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>

namespace heapprof::cli {

namespace {

std::vector<int> descriptors_without_cloexec() {
  std::vector<int> found;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir("/proc/self/fd"), closedir);
  if (folder == nullptr) return found;
  while (const dirent* entry = readdir(folder.get())) {
    char* end = nullptr;
    const long number = std::strtol(entry->d_name, &end, 10);
    if (*end != 0 || number <= STDERR_FILENO) continue;
    const int flags = fcntl(static_cast<int>(number), F_GETFD);
    if (flags >= 0 && (flags & FD_CLOEXEC) == 0) found.push_back(static_cast<int>(number));
  }
  return found;
}

// The line of a record lock in fdinfo: "lock: 1: POSIX  ADVISORY  WRITE 4711 fd:01:1234 0 EOF".
bool has_record_lock(int fd) {
  std::ifstream file("/proc/self/fdinfo/" + std::to_string(fd));
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  return text.find(": POSIX") != std::string::npos;
}

constexpr rlim_t kOwnStackBytes = 8 << 20;

// Raises the soft limit to `wanted`, but not beyond the hard limit.
void raise_limit(int what, rlimit limit, rlim_t wanted) {
  if (limit.rlim_cur >= wanted) return;
  limit.rlim_cur = std::min(limit.rlim_max, wanted);
  setrlimit(what, &limit);
}

// glibc sizes the stacks of threads by the stack limit at the process's start, so the raised limit is set for them,
// too.
void raise_thread_stacks() {
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return;
  if (pthread_attr_setstacksize(&attributes, kOwnStackBytes) == 0) pthread_setattr_default_np(&attributes);
  pthread_attr_destroy(&attributes);
}

constexpr uint64_t kResetOnFork = 1;  // SCHED_FLAG_RESET_ON_FORK
constexpr uint32_t kDeadlines = 6;    // SCHED_DEADLINE

bool is_same_file(const struct stat& a, const struct stat& b) { return a.st_dev == b.st_dev && a.st_ino == b.st_ino; }

// If the parent ended before the call, the kernel would never send the signal, so it is sent here.
void die_with(pid_t parent, int number) {
  if (number == 0) return;
  prctl(PR_SET_PDEATHSIG, number);
  if (getppid() != parent) kill(getpid(), number);
}

}  // namespace

Inherited::Inherited() : pid_(getpid()), parent_(getppid()) {
  prctl(PR_GET_PDEATHSIG, &death_signal_);
  int is_set = 0;
  is_subreaper_ = prctl(PR_GET_CHILD_SUBREAPER, &is_set) == 0 && is_set != 0;
  const bool is_told = syscall(SYS_sched_getattr, 0, &scheduling_, sizeof scheduling_, 0) == 0;
  const bool has_deadlines = is_told && scheduling_.policy == kDeadlines;
  if (!is_told || ((scheduling_.flags & kResetOnFork) == 0 && !has_deadlines)) scheduling_ = {};
  const sched_param usual{};
  if (has_deadlines) sched_setscheduler(0, SCHED_OTHER, &usual);
  nice_ = getpriority(PRIO_PROCESS, 0);
  for (const int what : {RLIMIT_NOFILE, RLIMIT_FSIZE, RLIMIT_STACK}) {
    rlimit limit{};
    if (getrlimit(what, &limit) != 0) continue;
    limits_.emplace_back(what, limit);
    if (what == RLIMIT_FSIZE) raise_limit(what, limit, RLIM_INFINITY);
    if (what != RLIMIT_STACK || limit.rlim_cur >= kOwnStackBytes) continue;
    raise_limit(what, limit, kOwnStackBytes);
    raise_thread_stacks();
  }
  descriptors_ = descriptors_without_cloexec();
  keep_namespace();
}

// For each task the kernel keeps the PID namespace of its children, besides its own, also over an exec. The first of
// our children would be PID 1 there: signals would not end it, and all processes that it started would end with it.
void Inherited::keep_namespace() {
  struct stat own {};
  struct stat childrens {};
  if (stat("/proc/self/ns/pid", &own) != 0) return;
  const bool has_begun = stat("/proc/self/ns/pid_for_children", &childrens) == 0;
  if (has_begun ? is_same_file(own, childrens) : errno != ENOENT) return;
  const UniqueFd ours(open("/proc/self/ns/pid", O_RDONLY | O_CLOEXEC));
  if (has_begun) child_namespace_ = UniqueFd(open("/proc/self/ns/pid_for_children", O_RDONLY | O_CLOEXEC));
  const bool is_set = setns(ours.get(), CLONE_NEWPID) == 0;
  begins_namespace_ = is_set && !has_begun;
  if (!is_set) child_namespace_ = UniqueFd();
}

bool Inherited::has_parent_ended() const { return (getpid() == pid_ ? getppid() : look_at(pid_).parent) != parent_; }

void Inherited::enter_run(pid_t parent) const { die_with(parent, death_signal_); }

void Inherited::enter_program(pid_t parent) const {
  if (is_subreaper_) prctl(PR_SET_CHILD_SUBREAPER, 1);
  for (const auto& [what, limit] : limits_) setrlimit(what, &limit);  // open files: cli/collect/process_files.cc
  if (scheduling_.size != 0) {                                        // no error if the limits do not allow it
    setpriority(PRIO_PROCESS, 0, nice_);  // because the next call does not set the nice value with a real-time policy
    syscall(SYS_sched_setattr, 0, &scheduling_, 0);
  }
  if (begins_namespace_) unshare(CLONE_NEWPID);
  if (child_namespace_.is_open()) setns(child_namespace_.get(), CLONE_NEWPID);
  die_with(parent, death_signal_);
}

void Inherited::drop_descriptors(const std::vector<std::string>& files, bool keeps_terminal) const {
  std::vector<int> dropped = descriptors_;
  if (!keeps_terminal) dropped.insert(dropped.end(), {STDIN_FILENO, STDOUT_FILENO});
  std::vector<struct stat> kept;
  struct stat facts {};
  for (const std::string& file : files) {
    if (!file.empty() && stat(file.c_str(), &facts) == 0) kept.push_back(facts);
  }
  for (const int fd : dropped) {
    if (has_record_lock(fd) && fstat(fd, &facts) == 0) kept.push_back(facts);
  }
  UniqueFd null(open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!null.is_open()) null = UniqueFd(open("/", O_RDONLY | O_CLOEXEC));  // if the root folder has no /dev
  for (const int fd : dropped) {
    if (fstat(fd, &facts) != 0) continue;
    const auto is_this = [&facts](const struct stat& one) { return is_same_file(one, facts); };
    if (std::any_of(kept.begin(), kept.end(), is_this)) continue;
    if (fd > STDERR_FILENO) {
      close(fd);
    } else if (null.is_open()) {
      dup3(null.get(), fd, O_CLOEXEC);
    }
  }
}

}  // namespace heapprof::cli
