// cli/attach/attach.cc: what is refused, which thread is stopped, what heapprof's thread calls.
//
// If a change could not be undone, or something about the process is unknown, the process is refused before anything in
// it is changed. heapprof also waits from outside until the loader's lock is free. If its own thread waited for that
// lock inside dlopen, it could block threads that are needed to release the lock: a constructor, or a callback of
// dl_iterate_phdr, may wait for them.
#include "cli/attach/attach.h"

#include "cli/attach/memory_sharers.h"
#include "cli/attach/own_thread.h"
#include "cli/attach/process_maps.h"
#include "cli/attach/thread_choice.h"
#include "cli/attach/thread_status.h"
#include "cli/attach/traced_thread.h"
#include "cli/base/clock.h"
#include "cli/base/fd.h"
#include "cli/base/file_name.h"
#include "cli/base/problems.h"
#include "shared/attach.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/ucontext.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <utility>
#include <vector>

namespace heapprof::cli {

namespace {

constexpr uint64_t kMostSearchNs = 10'000'000'000;  // for a thread that can be stopped
constexpr uint64_t kMostLoaderNs = 5'000'000'000;   // for the loader's lock
constexpr uint64_t kMostBesideNs = 1'000'000'000;   // for a child that has the same memory
constexpr timespec kBetweenRounds{0, 200'000};
constexpr int kMostForbiddenRounds = 20;  // ptrace refuses a thread that is just ending, too
constexpr std::chrono::milliseconds kMostLoad{5'000};
constexpr std::chrono::milliseconds kMostCall{20'000};  // the handshake takes a second, on a busy machine ten
constexpr size_t kAnswerSlot = 0, kInvitationSlot = 1, kPathSlot = 2;
constexpr size_t kMostObjects = 8000;  // fewer than the modules that heapprof's thread has room for
constexpr char kOwnMalloc[] = "its malloc is linked into the program, where no call can be redirected to the agent";
constexpr char kNoLoaderLock[] = "a thread of it held the loader's lock for 5 s, or the agent did not find that lock";
constexpr char kNoMalloc[] = "the agent found no library in it that has a malloc";
constexpr char kStartsAnother[] = "it has ended, or started another program (exec), at this moment";
constexpr char kIsStarting[] = "its libc is not loaded (yet): it is just being started, or has none";
constexpr char kEnded[] = "it has ended, or ends at this moment";
constexpr char kNotRedirected[] =
    "the agent could not redirect every call of malloc, free and their like: what leads there is not in a library, or "
    "in "
    "a page that could not be made writable: it is sealed, or lies between code, or a limit forbids (RLIMIT_DATA, "
    "ulimit -d; vm.max_map_count)";
constexpr char kSharesMemory[] =
    "process {0} has the same memory (vfork, or clone with CLONE_VM), where what heapprof changes would stay when {1} "
    "ends or starts another program; attach to {0}, or to {1} when it has started that program";
constexpr char kInHandler[] = "it may be in a signal handler, which may have interrupted malloc";
constexpr char kChildBeside[] =
    "its child {} has the same memory and runs beside it (clone with CLONE_VM); try again when that one has ended";
constexpr char kOldAgent[] = "it has an agent whose file was replaced since; only a new process can have the new one";

// A process that can be attached to, as it was when it was examined.
struct Target {
  std::string image;  // identifies the started program; differs after each exec
  std::vector<Mapping> mappings;
  std::vector<RemoteObject> objects;
  std::vector<RemoteObject> allocators;  // libc, the loader, and other objects that define malloc
  Libc libc;
  RemoteSymbol frame;  // unused memory, for the registers of a thread that makes a call
};

// Says what the kernel reports that makes attaching to the process impossible; empty: nothing.
std::string find_kernel_obstacle(pid_t pid) {
  for (const pid_t id : thread_ids(pid)) {
    const uint64_t mode = number_in_status(pid, id, "Seccomp:");
    constexpr uint64_t kStrict = 1;
    // A filter may kill the process for a call that loading a library needs. Filters under which heapprof runs, too, do
    // not count: they are the container's.
    if (mode == kStrict ||
        number_in_status(pid, id, "Seccomp_filters:") > number_in_status(getpid(), getpid(), "Seccomp_filters:"))
      return "it filters its system calls (seccomp)";
    if (line_of_status(pid, id, "x86_Thread_features:").find("shstk") != std::string::npos)
      return "it has shadow stacks, which forbid the returns by which heapprof calls functions there";
    const std::string state = line_of_status(pid, id, "State:\t");
    if (!state.empty() && state[0] == 'T') return fmt::format("it is stopped; to go on with it: kill -CONT {}", pid);
  }
  return "";
}

uint64_t address_of(const RemoteObject* object, const char* name) {
  const std::optional<RemoteSymbol> symbol = object == nullptr ? std::nullopt : object->find(name);
  return symbol ? symbol->start_avma : 0;
}

template <typename T>
bool read_variable(pid_t pid, const RemoteObject* object, const char* name, T* to) {
  const uint64_t avma = address_of(object, name);
  return avma != 0 && read_memory(pid, avma, to, sizeof *to);
}

// Fills in what heapprof's thread needs. Returns why it cannot; empty: all is found.
std::string find_libc(pid_t pid, const RemoteObject* program, Target* target) {
  const RemoteObject* const libc = find_object(target->objects, "libc.so.6") != nullptr
                                       ? find_object(target->objects, "libc.so.6")
                                       : find_object(target->objects, "libc-2.");  // before glibc 2.34
  const RemoteObject* loader = find_object(target->objects, "ld-linux-x86-64");
  if (loader == nullptr) loader = find_object(target->objects, "ld-2.");
  if (libc == nullptr && loader != nullptr) return kIsStarting;
  if (libc == nullptr || loader == nullptr) return "it has no glibc: it is linked statically, or with another libc";
  const auto is_libc = [&](const RemoteObject& object) { return object.path() == libc->path(); };
  if (std::count_if(target->objects.begin(), target->objects.end(), is_libc) != 1)
    return "its libc is loaded more than once";
  Libc& found = target->libc;
  const RemoteObject* threads = libc;
  found.dlopen_avma = address_of(libc, "dlopen");
  if (found.dlopen_avma == 0) {  // before glibc 2.34
    threads = find_object(target->objects, "libpthread");
    if (threads == nullptr) return "its glibc is older than 2.34 and has no threads: it takes no locks to wait for";
    const RemoteObject* libdl = find_object(target->objects, "libdl.so.2");
    if (libdl == nullptr) libdl = find_object(target->objects, "libdl-2.");
    found.dlopen_avma = address_of(libdl, "dlopen");
    if (found.dlopen_avma == 0) found.dlopen_avma = address_of(libc, "__libc_dlopen_mode");
    found.dlerror_avma = address_of(libdl, "dlerror");
  } else {
    found.dlerror_avma = address_of(libc, "dlerror");
  }
  found.unlock_avma = address_of(threads, "pthread_mutex_unlock");
  found.init_tls_avma = address_of(loader, "_dl_allocate_tls_init");
  found.tls_size_avma = address_of(loader, "_dl_get_tls_static_info");
  found.init_ctype_avma = address_of(libc, "__ctype_init");
  if (const std::optional<RemoteSymbol> state = loader->find("_rtld_global")) found.loader_state = *state;
  using namespace std::string_literals;
  found.code.system_call_avma = libc->find_code("\x0f\x05\x48\x3d\x01\xf0\xff\xff\x73\x01\xc3"s);
  found.code.end_thread_avma = libc->find_code("\x48\x89\xc7\xb8\x3c\x00\x00\x00\x0f\x05"s);
  found.code.restorer_avma = libc->find_code("\x48\xc7\xc0\x0f\x00\x00\x00\x0f\x05"s);
  uint32_t thread_id_field[3] = {};  // bits, how many, offset (libthread_db's description)
  constexpr uint32_t kLeastDescriptor = 0x300, kMostDescriptor = 8192;
  const bool is_known = found.dlopen_avma != 0 && found.init_tls_avma != 0 && found.tls_size_avma != 0 &&
                        found.loader_state.size_bytes != 0 && found.code.system_call_avma != 0 &&
                        found.code.end_thread_avma != 0 && found.code.restorer_avma != 0 &&
                        read_variable(pid, threads, "_thread_db_sizeof_pthread", &found.descriptor_bytes) &&
                        read_variable(pid, threads, "_thread_db_pthread_tid", &thread_id_field) &&
                        found.descriptor_bytes >= kLeastDescriptor && found.descriptor_bytes <= kMostDescriptor &&
                        thread_id_field[0] == 32 && thread_id_field[2] < found.descriptor_bytes;
  if (!is_known) return "its glibc is built in a way that heapprof does not know";
  found.thread_id_off = thread_id_field[2];
  found.rseq_off_avma = address_of(loader, "__rseq_offset");
  for (const RemoteObject* object : {libc, program}) {
    if (const uint64_t avma = address_of(object, "__libc_single_threaded"); avma != 0)
      found.single_threaded_avmas.push_back(avma);
  }
  for (const RemoteObject& object : target->objects) {
    if (&object == libc || &object == loader || object.find("malloc")) target->allocators.push_back(object);
    const RemoteSymbol unused = object.unused_bytes();
    if (&object != program && &object != loader && unused.size_bytes > target->frame.size_bytes) target->frame = unused;
  }
  // The program's own unused bytes are the last choice, because some programs use memory after their own end.
  constexpr uint64_t kEnoughForFrame = 1200;
  if (program != nullptr && target->frame.size_bytes < kEnoughForFrame &&
      program->unused_bytes().size_bytes > target->frame.size_bytes)
    target->frame = program->unused_bytes();
  return "";
}

// The kernel gives each started program an auxiliary vector of addresses; one of them points to random bytes.
std::string image_of(pid_t pid) {
  std::ifstream file(fmt::format("/proc/{}/auxv", pid), std::ios::binary);
  std::string image{std::istreambuf_iterator<char>(file), {}};
  std::array<char, 16> random{};
  for (size_t at = 0; at + sizeof(Elf64_auxv_t) <= image.size(); at += sizeof(Elf64_auxv_t)) {
    Elf64_auxv_t entry;
    std::memcpy(&entry, image.data() + at, sizeof entry);
    if (entry.a_type == AT_RANDOM) read_memory(pid, entry.a_un.a_val, random.data(), random.size());
  }
  return image.append(random.data(), random.size());
}

Result<Target> look_once(pid_t pid) {
  const std::string name = std::to_string(pid);
  Target target;
  if (::kill(pid, 0) != 0 && errno == ESRCH) return process_not_found(name);
  if (pid == getpid()) return attach_impossible(name, "it is this heapprof");
  const uint64_t process = number_in_status(pid, pid, "Tgid:");
  if (process != static_cast<uint64_t>(pid))
    return process == 0 ? process_not_found(name)
                        : attach_impossible(name, fmt::format("it is a thread of process {}", process));
  target.image = image_of(pid);
  for (const pid_t id : thread_ids(pid)) {  // the first thread may have ended before the others
    if (target.mappings = read_mappings(id); !target.mappings.empty()) break;
  }
  if (has_no_thread(pid)) return attach_impossible(name, "it has ended: its parent has not taken note yet");
  if (is_dead(line_of_status(pid, pid, "State:\t")))
    return attach_impossible(name, "its first thread has ended, and with it what /proc shows of it");
  if (target.mappings.empty() && number_in_status(pid, pid, "VmPeak:") == 0)
    return attach_impossible(name, "it has no memory: it is the kernel's, or ends at this moment");
  if (target.mappings.empty()) return attach_refused(name, std::string(std::strerror(EPERM)));
  if (std::string obstacle = find_kernel_obstacle(pid); !obstacle.empty()) return attach_impossible(name, obstacle);
  if (const std::optional<pid_t> other = find_memory_sharer(pid))
    return attach_impossible(name, fmt::format(kSharesMemory, *other, pid));
  target.objects = read_objects(pid, target.mappings);
  if (target.objects.empty() && image_of(pid) != target.image) return attach_failed(name, kStartsAnother);
  if (target.objects.empty()) return attach_refused(name, std::string(std::strerror(EPERM)));
  if (target.objects.size() > kMostObjects) return attach_impossible(name, "it has loaded thousands of libraries");
  std::array<char, 4097> path{};
  const ssize_t length = ::readlink(fmt::format("/proc/{}/exe", pid).c_str(), path.data(), path.size() - 1);
  const auto is_program = [&](const RemoteObject& object) { return object.path() == path.data(); };
  const auto program = std::find_if(target.objects.begin(), target.objects.end(), is_program);
  const RemoteObject* const found = length > 0 && program != target.objects.end() ? &*program : nullptr;
  if (std::string obstacle = find_libc(pid, found, &target); !obstacle.empty()) {
    if (image_of(pid) != target.image) return attach_failed(name, kStartsAnother);
    return obstacle == kIsStarting ? attach_failed(name, obstacle) : attach_impossible(name, obstacle);
  }
  if (found != nullptr && found->find("malloc")) return attach_impossible(name, kOwnMalloc);
  return target;
}

// Looks more than once: in the middle of an exec only a part of the program is there.
Result<Target> look_at_process(pid_t pid) {
  constexpr int kMostLooks = 5;
  constexpr timespec kBetweenLooks{0, 50'000'000};
  Result<Target> target = look_once(pid);
  for (int looks = 1; !target && looks < kMostLooks && !has_no_thread(pid); ++looks) {
    ::nanosleep(&kBetweenLooks, nullptr);
    target = look_once(pid);
  }
  return target;
}

bool is_same_file(const std::string& one, const std::string& other) {
  struct stat first {};
  struct stat second {};
  return ::stat(one.c_str(), &first) == 0 && ::stat(other.c_str(), &second) == 0 && first.st_dev == second.st_dev &&
         first.st_ino == second.st_ino;
}

// True if the stack has a frame that the kernel wrote for a signal handler: a ucontext whose word of segment registers
// has those of 64-bit code, and below it the handler's return address, which is in code. A stale frame in an
// uninitialised variable looks the same.
bool may_be_in_handler(pid_t pid, const Target& target, const TracedThread& thread) {
  constexpr uint64_t kMostBytes = 16 << 20;
  constexpr uint64_t kPartBytes = 64 << 10;
  constexpr uint64_t kSegments = 0x002b'0000'0000'0033;  // ss, 0, 0, cs
  constexpr uint64_t kOfFlags = 0x3f'ffff, kAlwaysSet = 2;
  constexpr size_t kSegmentsAt = 6 + REG_CSGSFS, kFlagsAt = 6 + REG_EFL;  // from the word of the return address
  const uint64_t sp_avma = thread.registers().rsp & ~uint64_t{7};
  // The thread is stopped during this check, and reading 60,000 mappings takes time: they are read only if needed.
  std::vector<Mapping> now;
  const auto mappings_now = [&]() -> const std::vector<Mapping>& {
    if (now.empty()) now = read_mappings(pid);
    return now;
  };
  const Mapping* stack = mapping_at(target.mappings, sp_avma);
  if (stack == nullptr || stack->path != "[stack]") stack = mapping_at(mappings_now(), sp_avma);
  if (stack == nullptr) return true;
  const auto is_code = [&](uint64_t avma) {
    const Mapping* mapping = mapping_at(target.mappings, avma);
    if (mapping == nullptr || !mapping->is_code) mapping = mapping_at(mappings_now(), avma);
    return mapping != nullptr && mapping->is_code;
  };
  // If the thread is in the restorer, the return address has been popped: it lies just below sp.
  const uint64_t start_avma = std::max(stack->start_avma, sp_avma - sizeof(uint64_t));
  const uint64_t end_avma = std::min(stack->end_avma, sp_avma + kMostBytes);
  std::vector<uint64_t> words;
  for (uint64_t part_avma = start_avma; end_avma - part_avma > kSegmentsAt * sizeof(uint64_t);) {
    words.resize(std::min(kPartBytes, end_avma - part_avma) / sizeof(uint64_t));
    if (!read_memory(pid, part_avma, words.data(), words.size() * sizeof(uint64_t))) return true;
    const size_t starts = words.size() - kSegmentsAt;
    for (size_t i = 0; i < starts; ++i) {
      const uint64_t flags = words[i + kFlagsAt];
      if (words[i + kSegmentsAt] == kSegments && (flags & ~kOfFlags) == 0 && (flags & kAlwaysSet) != 0 &&
          (is_code(words[i]) || (part_avma == start_avma && i == 0)))
        return true;
    }
    part_avma += starts * sizeof(uint64_t);
  }
  return end_avma != stack->end_avma && stack->path == "[stack]";  // the rest was not checked
}

// Says why a program's only thread, which takes no locks, may not be stopped while heapprof's thread runs; empty: it
// may be stopped. A signal handler may have interrupted malloc, and heapprof's thread may use the same arena: the
// environment, or mallopt(), may limit the number of arenas to one.
std::string find_obstacle_of_only(pid_t pid, const Target& target, const TracedThread& thread) {
  constexpr std::array kOfAllocators = {SYS_brk, SYS_mmap, SYS_munmap, SYS_mremap, SYS_madvise, SYS_mprotect};
  const user_regs_struct& registers = thread.registers();
  const bool is_called = registers.orig_rax != UINT64_MAX;
  const auto number = static_cast<long>(registers.orig_rax);
  const RemoteObject* inside = nullptr;
  for (const RemoteObject& object : target.allocators) {
    if (object.has(registers.rip)) inside = &object;
  }
  const bool sleeps = is_called && static_cast<int64_t>(registers.rax) < 0 &&
                      std::count(kOfAllocators.begin(), kOfAllocators.end(), number) == 0;
  if (inside != nullptr && (!sleeps || base_name(inside->path()).starts_with("ld-")))
    return "it is in " + base_name(inside->path());
  if (may_be_in_handler(pid, target, thread)) return kInHandler;
  if (const std::optional<pid_t> child = find_child_beside(pid)) return fmt::format(kChildBeside, *child);
  return "";
}

Problem attach_was_given_up(pid_t pid) {
  const std::string name = std::to_string(pid);
  if (has_no_thread(pid)) return attach_impossible(name, kEnded);
  return attach_failed(name, "heapprof was asked to stop before it was attached");
}

// Stops a thread that can be made to execute system calls. is_only: set to whether it is the program's only one.
Result<Done> stop_one(pid_t pid, const Target& target, const std::atomic<bool>& has_to_stop, TracedThread* thread,
                      bool* is_only, uint64_t most_ns) {
  const std::string name = std::to_string(pid);
  const uint64_t start_ns = monotonic_ns();
  ThreadChoice choice(pid);
  std::string obstacle;
  bool was_in_handler = false;  // at one of the checks; others may have seen a function that the handler calls
  int forbidden_rounds = 0;
  uint64_t alone_ns = start_ns;  // when it was last seen without a concurrent child
  while (monotonic_ns() - start_ns < most_ns) {
    if (const std::optional<pid_t> child = find_child_beside(pid)) {
      if (monotonic_ns() - alone_ns > kMostBesideNs) return attach_impossible(name, fmt::format(kChildBeside, *child));
      if (has_to_stop) return attach_was_given_up(pid);
      ::nanosleep(&kBetweenRounds, nullptr);
      continue;
    }
    alone_ns = monotonic_ns();
    const std::vector<pid_t> candidates = choice.look();
    size_t forbidden = 0;
    for (const pid_t id : candidates) {
      if (has_to_stop) break;
      obstacle = thread->stop(pid, id);
      if (thread->is_held()) {
        const user_regs_struct& at = thread->registers();
        choice.note_stop(id, {static_cast<long>(at.orig_rax), {at.rdi, at.rsi, at.rdx, at.r10, at.r8, at.r9}},
                         static_cast<int64_t>(at.rax));
      }
      if (obstacle.empty()) {
        if (image_of(pid) != target.image) {  // there was an exec in between
          thread->let_go();
          return attach_failed(name, kStartsAnother);
        }
        *is_only = thread_ids(pid).size() == 1;
        uint8_t flag = 0;
        for (const uint64_t avma : target.libc.single_threaded_avmas) {
          if (!*is_only && read_memory(pid, avma, &flag, 1) && flag != 0)
            obstacle = "it has threads that its libc does not know";
        }
        if (*is_only) obstacle = find_obstacle_of_only(pid, target, *thread);
        was_in_handler = was_in_handler || obstacle == kInHandler;
      }
      if (obstacle.empty()) return Done{};
      // ptrace refuses a thread that is just ending, too.
      if (!thread->is_held() && obstacle == std::strerror(EPERM)) ++forbidden;
      thread->let_go();
    }
    if (has_to_stop) return attach_was_given_up(pid);
    if (has_no_thread(pid)) return attach_impossible(name, kEnded);
    const bool is_forbidden = !candidates.empty() && forbidden == candidates.size();
    forbidden_rounds = is_forbidden ? forbidden_rounds + 1 : 0;
    if (forbidden_rounds == kMostForbiddenRounds) return attach_refused(name, std::strerror(EPERM));
    // A pause of changing length, so as not to be in step with what the program does periodically.
    const timespec pause{0, kBetweenRounds.tv_nsec + static_cast<long>(monotonic_ns() % 300'000)};
    ::nanosleep(&pause, nullptr);
  }
  if (was_in_handler) obstacle = kInHandler;
  return attach_found_no_thread(name, obstacle.empty() ? choice.obstacle() : obstacle);
}

Result<Done> await_loader(pid_t pid, const Target& target, const std::atomic<bool>& has_to_stop) {
  const uint64_t start_ns = monotonic_ns();
  for (pid_t owner = 0; (owner = owner_of_loader(pid, target.libc)) != 0;) {
    if (has_to_stop) return attach_was_given_up(pid);
    if (monotonic_ns() - start_ns > kMostLoaderNs)
      return attach_failed(std::to_string(pid),
                           fmt::format("its thread {} has held the loader's lock for {} s: it loads a library, runs a "
                                       "constructor, or walks the list of libraries",
                                       owner, kMostLoaderNs / 1'000'000'000));
    ::nanosleep(&kBetweenRounds, nullptr);
  }
  return Done{};
}

// A process in which heapprof's thread works, from the first check to restoring everything.
class Visit {
 public:
  // has_to_stop: as for attach_agent(); it outlives this object.
  Visit(pid_t pid, Target target, const std::atomic<bool>& has_to_stop)
      : pid_(pid), target_(std::move(target)), has_to_stop_(has_to_stop), own_(pid, target_.libc, has_to_stop) {}

  // agent_file: the agent's base name. path: its file, to be loaded if it is not there yet; "": do not load it.
  Result<Done> begin(const std::string& agent_file, const std::string& path);
  // Calls a function of the agent, which answers with a number. This is the last call: heapprof's thread ends with it.
  Result<uint32_t> ask(const char* function, const std::vector<std::string>& texts, const RemoteObject& agent);
  void end();
  const RemoteObject* agent() const { return find_object(target_.objects, agent_file_); }

 private:
  Problem failed(const std::string& what) const { return attach_failed(std::to_string(pid_), what); }
  // A problem that would recur on the next try.
  Problem impossible(const std::string& what) const {
    return attach_impossible(std::to_string(pid_), has_no_thread(pid_) ? kEnded : what);
  }
  std::string load(const std::string& path);
  RemoteSymbol kept_thread() const;

  pid_t pid_;
  Target target_;
  const std::atomic<bool>& has_to_stop_;
  std::string agent_file_;
  UniqueFd alone_;
  TracedThread lender_;
  OwnThread own_;
};

RemoteSymbol Visit::kept_thread() const {
  const RemoteObject* const object = agent();
  const std::optional<RemoteSymbol> variable =
      object == nullptr ? std::nullopt : object->find(wire::kAttachThreadVariable);
  return variable && variable->size_bytes == sizeof(wire::AttachThread) ? *variable : RemoteSymbol{};
}

std::string Visit::load(const std::string& path) {
  uint64_t handle = 0;
  const CallEnd end =
      own_.call(target_.libc.dlopen_avma, {own_.put(kPathSlot, path), RTLD_NOW | RTLD_LOCAL}, &handle, kMostLoad);
  if (end != CallEnd::kReturned) return "its loader did not return from loading the agent: " + own_.failure();
  target_.objects = read_objects(pid_, read_mappings(pid_));
  if (handle != 0 && agent() != nullptr) return "";
  uint64_t text_avma = 0;
  std::array<char, 512> text{};
  if (target_.libc.dlerror_avma != 0 &&
      own_.call(target_.libc.dlerror_avma, {}, &text_avma, kMostLoad) == CallEnd::kReturned && text_avma != 0)
    read_memory(pid_, text_avma, text.data(), text.size() - 1);
  return fmt::format("its loader refused the agent: {}", text[0] != 0 ? text.data() : "it does not say why");
}

Result<Done> Visit::begin(const std::string& agent_file, const std::string& path) {
  agent_file_ = agent_file;
  // Without this lock, two heapprofs could use the same memory for their threads.
  alone_ = UniqueFd(::open(fmt::format("/proc/{}", pid_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const uint64_t start_ns = monotonic_ns();
  while (alone_.is_open() && ::flock(alone_.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    if (has_to_stop_) return attach_was_given_up(pid_);
    if (monotonic_ns() - start_ns > kMostLoaderNs)
      return failed("another heapprof attaches to it, or detaches, at this moment");
    ::nanosleep(&kBetweenRounds, nullptr);
  }
  if (const Result<Done> free = await_loader(pid_, target_, has_to_stop_); !free) return free.problem();
  bool is_only = false;
  if (const Result<Done> stopped = stop_one(pid_, target_, has_to_stop_, &lender_, &is_only, kMostSearchNs); !stopped)
    return stopped.problem();
  lender_.keep_registers(target_.libc.code, target_.frame, true);
  wire::AttachThread kept{};
  const RemoteSymbol variable = kept_thread();
  if (variable.size_bytes != 0 && read_memory(pid_, variable.start_avma, &kept, sizeof kept)) {
    constexpr wire::AttachThread kTaken{};  // if heapprof leaves the thread, the next one must not use its memory
    write_memory(pid_, variable.start_avma, &kTaken, sizeof kTaken);
  }
  if (std::string failure = own_.start(&lender_, is_only, kept); !failure.empty()) return impossible(failure);
  if (agent() != nullptr || path.empty()) return Done{};
  if (std::string failure = load(path); !failure.empty()) return impossible(failure);
  return Done{};
}

Result<uint32_t> Visit::ask(const char* function, const std::vector<std::string>& texts, const RemoteObject& agent) {
  uint64_t ignored = 0;
  uint32_t answer = 0;
  const uint64_t function_avma = address_of(&agent, function);
  if (function_avma == 0)
    return has_no_thread(pid_) ? impossible(kEnded) : failed("the agent in it cannot be read, or is another version's");
  const uint64_t answer_avma = own_.slot_avma(kAnswerSlot);
  write_memory(pid_, answer_avma, &answer, sizeof answer);
  const CallEnd end =
      texts.empty()
          ? own_.call(function_avma, {answer_avma}, &ignored, kMostCall, Turn::kLast)
          : own_.call(function_avma, {own_.put(kInvitationSlot, texts[0]), own_.put(kPathSlot, texts[1]), answer_avma},
                      &ignored, kMostCall, Turn::kLast);
  if (end == CallEnd::kEnded || has_no_thread(pid_)) return impossible(kEnded);
  if (end != CallEnd::kReturned || !read_memory(pid_, answer_avma, &answer, sizeof answer))
    return failed("the agent in it did not return: " + own_.failure());
  return answer;
}

void Visit::end() {
  own_.end();
  // Unlocks explicitly: children that heapprof has forked since share the descriptor.
  struct Unlocked {
    const UniqueFd& fd;
    ~Unlocked() {
      if (fd.is_open()) ::flock(fd.get(), LOCK_UN);
    }
  } unlocked{alone_};
  const RemoteSymbol variable = kept_thread();
  const wire::AttachThread memory = own_.memory();
  if (variable.size_bytes != 0 && memory.tcb_avma != 0 && !own_.was_left())
    write_memory(pid_, variable.start_avma, &memory, sizeof memory);
  if (!own_.has_changed_flags()) return;
  // The program's thread was released while libc's flags said that there are two threads. The flags are restored once
  // it is stopped outside the code that reads them. If that does not succeed soon, they stay, which only costs malloc
  // its fast path.
  constexpr uint64_t kMostNs = 1'000'000'000;
  bool is_only = false;
  if (stop_one(pid_, target_, has_to_stop_, &lender_, &is_only, kMostNs) && is_only) own_.put_flags_back();
  lender_.let_go();
}

}  // namespace

Result<Done> attach_agent(const AttachRequest& request, const std::atomic<bool>& has_to_stop) {
  const pid_t pid = request.pid;
  const std::string name = std::to_string(pid);
  Result<Target> target = look_at_process(pid);
  if (!target) return target.problem();
  const std::string agent_name = base_name(request.agent);
  const RemoteObject* const present = find_object(target->objects, agent_name);
  if (present != nullptr && present->is_deleted()) return attach_impossible(name, kOldAgent);
  if (present == nullptr && !is_same_file(request.agent, fmt::format("/proc/{}/root{}", pid, request.agent)))
    return attach_sees_no_agent(name, request.agent);

  Visit visit(pid, std::move(*target), has_to_stop);
  const Result<Done> begun = visit.begin(agent_name, request.agent);
  Result<uint32_t> answer =
      begun
          ? visit.ask(wire::kAttachFunction, {request.invitation, request.follows ? request.agent : ""}, *visit.agent())
          : Result<uint32_t>(begun.problem());
  visit.end();
  if (!answer) return answer.problem();
  switch (static_cast<wire::AttachAnswer>(*answer)) {
    case wire::AttachAnswer::kAttached: return Done{};
    case wire::AttachAnswer::kBusy:
    case wire::AttachAnswer::kStarting: return already_profiled(name);
    case wire::AttachAnswer::kNoAllocator: return attach_impossible(name, kNoMalloc);
    case wire::AttachAnswer::kNotRedirected: return attach_impossible(name, kNotRedirected);
    case wire::AttachAnswer::kNoLock: return attach_failed(name, kNoLoaderLock);
    case wire::AttachAnswer::kRefused: break;
  }
  return attach_failed(name, "the agent in it could not reach heapprof, or map its memory");
}

Result<bool> detach_agent(pid_t pid, const std::string& agent_path, const std::atomic<bool>& has_to_stop) {
  const std::string name = std::to_string(pid);
  Result<Target> target = look_at_process(pid);
  if (!target) return target.problem();
  const std::string agent_name = base_name(agent_path);
  const RemoteObject* const present = find_object(target->objects, agent_name);
  if (present == nullptr) return false;
  if (present->is_deleted()) return attach_impossible(name, kOldAgent);
  Visit visit(pid, std::move(*target), has_to_stop);
  const Result<Done> begun = visit.begin(agent_name, "");
  Result<uint32_t> answer =
      begun ? visit.ask(wire::kDetachFunction, {}, *visit.agent()) : Result<uint32_t>(begun.problem());
  visit.end();
  if (!answer) return answer.problem();
  if (static_cast<wire::DetachAnswer>(*answer) == wire::DetachAnswer::kNoLock)
    return attach_failed(name, kNoLoaderLock);
  return static_cast<wire::DetachAnswer>(*answer) == wire::DetachAnswer::kDetached;
}

}  // namespace heapprof::cli
