// agent/hooks/exec.cc: checks the program that is about to be started, and changes the environment that it is given, if
// needed.
//
// A hook may run in a vfork child, which borrows its parent's memory. So no state is kept: the changed environment and
// the path lie in the frames of start_with and with_program, which exist until the exec. (If one is too large for a
// stack, it lies in mapped pages. When a vfork child execs, such pages remain in its parent: t_left.) If nothing has to
// change, the agent calls the function that the program called, with its own arguments; only a changed environment
// turns execv into execve.
//
// Paths and environments are the program's: they may be invalid addresses, and are read as the kernel reads them
// (own_memory.h). What cannot be read is passed to the real function unchanged.
//
// unistd.h and spawn.h, which declare these functions, are left out: they do not agree on noexcept from version to
// version.
#include "agent/hooks/exec.h"

#include "agent/arch/arch.h"
#include "agent/hooks/hook.h"
#include "agent/libc/variables.h"
#include "agent/process/arena.h"
#include "agent/process/environment.h"
#include "agent/process/image_check.h"
#include "agent/process/link_map.h"
#include "agent/process/own_memory.h"
#include "agent/process/own_variables.h"
#include "agent/start/start.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/uio.h>

namespace heapprof::agent {

namespace {

using Texts = char* const*;

// X(name, parameters): the real functions that the hooks call.
#define HEAPPROF_EXEC_FUNCTIONS(X)                                            \
  X(execv, (const char*, Texts))                                              \
  X(execvp, (const char*, Texts))                                             \
  X(execve, (const char*, Texts, Texts))                                      \
  X(execvpe, (const char*, Texts, Texts))                                     \
  X(fexecve, (int, Texts, Texts))                                             \
  X(execveat, (int, const char*, Texts, Texts, int))                          \
  X(posix_spawn, (int*, const char*, const void*, const void*, Texts, Texts)) \
  X(posix_spawnp, (int*, const char*, const void*, const void*, Texts, Texts))
// Those of them that libc also has in an old version (where HEAPPROF_OLD_LIBC is not empty).
#define HEAPPROF_OLD_SPAWN_FUNCTIONS(X)                                       \
  X(posix_spawn, (int*, const char*, const void*, const void*, Texts, Texts)) \
  X(posix_spawnp, (int*, const char*, const void*, const void*, Texts, Texts))

struct RealExec {
#define X(name, params) int(*name) params;
  HEAPPROF_EXEC_FUNCTIONS(X)
#undef X
#define X(name, params) int(*old_##name) params;
  HEAPPROF_OLD_SPAWN_FUNCTIONS(X)
#undef X
};
RealExec g_real_exec;

const RealExec& real_exec() {
  resolve_real_functions();
  return g_real_exec;
}

// What has to be done for a new program.
struct Plan {
  EnvironmentChange change = EnvironmentChange::kInvite;
  size_t bytes = 0;            // how long the changed environment is; 0: it stays as it is
  wire::Note* note = nullptr;  // taken back if the program does not start
  bool is_own = false;         // true: this process becomes the program
};

// In a process that heapprof attached to, or that was forked from one, programs are no longer followed after a detach:
// no collector waits for them. A forked child that has not allocated yet still has its parent's arena.
bool is_still_awaited() {
  if (!has_taken_invitation()) return true;
  return g_fork_page.state != AgentState::kOff && g_control != nullptr && !is_collector_dead() &&
         g_control->detach.load(std::memory_order_relaxed) != wire::Detach::kSession;
}

// True if programs that are started are followed. Under a seccomp filter no program is followed, because the filter
// could kill the process for a system call of the agent.
bool is_following() {
  const Invitation invitation = find_invitation();
  return invitation.socket_path != nullptr && invitation.follow && !is_filtered() && is_still_awaited();
}

wire::Note* note_obstacle(const ImagePlace& image, wire::ImageObstacle obstacle, bool is_own) {
  char name[sizeof wire::Note::text + 1];
  const char* text = name;
  if (image.is_link) {
    text = read_link(image.path, name, sizeof name);
  } else if (!read_own_string_end(name, sizeof name, image.path)) {
    return nullptr;
  }
  return add_note(wire::NoteKind::kImage, static_cast<uint32_t>(obstacle), text, is_own);
}

// True if the limit on address space is too small for the agent, its arena and what the program needs. The new program
// inherits that limit.
bool is_short_of_addresses() {
  constexpr uint64_t kLeast = 32 << 20;
  uint64_t limits[2] = {};
  return !is_error(raw_syscall(SYS_prlimit64, 0, RLIMIT_AS, 0, reinterpret_cast<long>(limits))) && limits[0] < kLeast;
}

Plan make_plan(const ImagePlace& image, Texts variables, bool replaces_process) {
  Plan plan;
  if (image.path == nullptr || !is_following()) return plan;
  if (lists_objects(variables)) {  // ldd: nothing is run
    plan.change = EnvironmentChange::kRemove;
    plan.bytes = changed_environment_bytes(variables, plan.change);
    return plan;
  }
  wire::ImageObstacle obstacle = check_image(image);
  if (obstacle == wire::ImageObstacle::kNone && is_short_of_addresses()) obstacle = wire::ImageObstacle::kNoRoom;
  if (obstacle == wire::ImageObstacle::kNone && preloads_sanitizer(variables))
    obstacle = wire::ImageObstacle::kSanitizerPreloaded;
  if (obstacle != wire::ImageObstacle::kNone) {
    plan.is_own = replaces_process && sys_getpid() == g_pid;
    plan.note = note_obstacle(image, obstacle, plan.is_own);
  }
  // A program of these two kinds ignores the agent's variables, but may start others that do not: the variables stay.
  if (obstacle == wire::ImageObstacle::kStatic || obstacle == wire::ImageObstacle::kPrivileges) return plan;
  if (obstacle != wire::ImageObstacle::kNone) plan.change = EnvironmentChange::kRemove;
  plan.bytes = changed_environment_bytes(variables, plan.change);
  return plan;
}

// If arguments and environment are too long together, the kernel refuses them, and the agent's variables may be the
// reason. Then the program is started without them, as it would be without the agent. A plan with kInvite: there is
// nothing else to try.
Plan make_bare_plan(const ImagePlace& image, Texts variables, bool replaces_process, const Plan& refused) {
  Plan plan;
  if (refused.change == EnvironmentChange::kRemove || image.path == nullptr || !is_following()) return plan;
  plan.bytes = changed_environment_bytes(variables, EnvironmentChange::kRemove);
  if (plan.bytes == 0 && refused.bytes == 0) return plan;  // the environment had no variables of the agent
  plan.change = EnvironmentChange::kRemove;
  plan.is_own = replaces_process && sys_getpid() == g_pid;
  plan.note = note_obstacle(image, wire::ImageObstacle::kNoRoom, plan.is_own);
  return plan;
}

// A stack may have only 16 KiB. What would exceed this limit lies in mapped pages instead.
constexpr size_t kMostOnStack = 8192;

// Where the program is, and how many bytes of kMostOnStack the search for it used.
struct FoundImage {
  ImagePlace where;
  size_t stack_bytes = 0;
};

// Mapped pages that a vfork child of this thread uses for its exec. The child shares its parent's thread-local storage,
// so the pages can be found later. When this thread or another child of it comes here again, and the first child no
// longer shares the memory, the pages can be unmapped.
struct alignas(64) PagesHead {
  size_t bytes;
  int child;
};
enum class PagesFor : uint32_t { kPath, kEnvironment };
constinit thread_local PagesHead* t_left[2] __attribute__((tls_model("initial-exec"))) = {};

// False if the child is gone, or has no memory or other content at that address. True also if the kernel refuses to
// answer.
bool may_share_memory(const PagesHead* head) {
  PagesHead other = {};
  iovec to{&other, sizeof other};
  iovec from{const_cast<PagesHead*>(head), sizeof other};
  const long got = raw_syscall(SYS_process_vm_readv, head->child, reinterpret_cast<long>(&to), 1,
                               reinterpret_cast<long>(&from), 1, 0);
  if (is_error(got)) return got != -ESRCH && got != -EFAULT;
  return got == static_cast<long>(sizeof other) && other.bytes == head->bytes && other.child == head->child;
}

class LargeMemory {
 public:
  LargeMemory(PagesFor what, size_t bytes) {
    PagesHead** const left = find_left(what);
    const int pid = sys_getpid();
    if (left != nullptr && *left != nullptr && !may_share_memory(*left)) {
      PagesHead* const unused = *left;
      *left = nullptr;  // cleared first, because a handler may come here, too
      sys_munmap(unused, unused->bytes);
    }
    const size_t all_bytes = sizeof(PagesHead) + bytes;
    head_ = static_cast<PagesHead*>(sys_mmap(all_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1));
    if (head_ == nullptr) return;
    *head_ = {all_bytes, pid};
    constexpr int kFirstOfNamespace = 1;  // in a new PID namespace; its parent knows it by another id
    if (left == nullptr || *left != nullptr || pid == g_pid || pid == kFirstOfNamespace) return;
    *left = head_;
    left_ = left;
  }
  LargeMemory(const LargeMemory&) = delete;
  LargeMemory& operator=(const LargeMemory&) = delete;
  ~LargeMemory() {
    if (left_ != nullptr) *left_ = nullptr;
    if (head_ != nullptr) sys_munmap(head_, head_->bytes);
  }
  void* get() const { return head_ == nullptr ? nullptr : head_ + 1; }  // nullptr: the kernel refused

 private:
  [[gnu::noinline]] static PagesHead** find_left(PagesFor what) {
    if (!has_own_variables()) return nullptr;
    begin_own_variables();
    return &t_left[static_cast<uint32_t>(what)];
  }

  PagesHead* head_ = nullptr;
  PagesHead** left_ = nullptr;
};

// Returns what start(environment) returns. A function of its own, because the environment lies in its frame.
template <typename Start>
__attribute__((noinline)) int start_with(const Plan& plan, size_t stack_bytes, Texts variables, Start start) {
  if (plan.bytes > kMostOnStack - stack_bytes) {
    const LargeMemory memory(PagesFor::kEnvironment, plan.bytes);
    if (memory.get() != nullptr) return start(change_environment(variables, plan.change, memory.get(), plan.bytes));
  }
  if (plan.bytes != 0) {
    void* memory = __builtin_alloca_with_align(plan.bytes, 128);
    variables = change_environment(variables, plan.change, memory, plan.bytes);
  }
  return start(variables);
}

// Returns only if the exec failed: then its note is taken back.
template <typename Start>
int replace_process(const FoundImage& image, Texts variables, Start start) {
  const Plan plan = make_plan(image.where, variables, true);
  int result = start_with(plan, image.stack_bytes, variables, start);
  withdraw_note(plan.note, plan.is_own);
  if (result != -1 || errno != E2BIG) return result;
  const Plan bare = make_bare_plan(image.where, variables, true, plan);
  if (bare.change == EnvironmentChange::kInvite) return result;
  result = start_with(bare, image.stack_bytes, variables, start);
  withdraw_note(bare.note, bare.is_own);
  return result;
}

template <typename Start>
int spawn(const FoundImage& image, Texts variables, Start start) {
  const Plan plan = make_plan(image.where, variables, false);
  const int error = start_with(plan, image.stack_bytes, variables, start);
  if (error != 0) withdraw_note(plan.note, false);
  if (error != E2BIG) return error;
  const Plan bare = make_bare_plan(image.where, variables, false, plan);
  if (bare.change == EnvironmentChange::kInvite) return error;
  const int again = start_with(bare, image.stack_bytes, variables, start);
  if (again != 0) withdraw_note(bare.note, false);
  return again;
}

// Calls run(the program that PATH gives for `file`). A function of its own, because the path lies in its frame.
template <typename Run>
__attribute__((noinline)) int with_program(const char* file, Run run) {
  FoundImage image;
  const unsigned long bytes = is_following() ? search_bytes(file) : 0;
  if (bytes > kMostOnStack) {
    const LargeMemory memory(PagesFor::kPath, bytes);
    if (memory.get() != nullptr) image.where.path = find_in_path(file, static_cast<char*>(memory.get()), bytes);
    return run(image);
  }
  image.stack_bytes = bytes;
  if (bytes != 0) image.where.path = find_in_path(file, static_cast<char*>(__builtin_alloca(bytes)), bytes);
  return run(image);
}

int exec_path(const char* path, Texts arguments, Texts variables) {
  const RealExec& real = real_exec();
  return replace_process({{AT_FDCWD, path}}, variables,
                         [&](Texts changed) { return real.execve(path, arguments, changed); });
}

int exec_file(const char* file, Texts arguments, Texts variables) {
  const RealExec& real = real_exec();
  return with_program(file, [&](const FoundImage& image) {
    return replace_process(image, variables, [&](Texts changed) { return real.execvpe(file, arguments, changed); });
  });
}

// Collects the arguments of the execl family up to the closing nullptr, and calls run() with them. `list` is then after
// the nullptr.
template <typename Run>
__attribute__((noinline)) int with_arguments(const char* first, va_list& list, Run run) {
  va_list again;
  va_copy(again, list);
  size_t count = 1;  // the nullptr
  for (const char* argument = first; argument != nullptr; argument = va_arg(again, char*)) ++count;
  va_end(again);
  char** arguments = static_cast<char**>(__builtin_alloca(count * sizeof(char*)));
  arguments[0] = const_cast<char*>(first);
  for (size_t i = 1; i < count; ++i) arguments[i] = va_arg(list, char*);
  return run(arguments);
}

}  // namespace

void settle_exec_hooks() {
#define X(name, params) find_real(&g_real_exec.name, #name);
  HEAPPROF_EXEC_FUNCTIONS(X)
#undef X
#define X(name, params)    \
  g_real_exec.old_##name = \
      reinterpret_cast<decltype(g_real_exec.old_##name)>(find_version_behind_agent(#name, kFirstGlibc).address);
  HEAPPROF_OLD_LIBC(HEAPPROF_OLD_SPAWN_FUNCTIONS(X))
#undef X
}

}  // namespace heapprof::agent

using namespace heapprof::agent;

EARLY_HOOK(int, execve)(const char* path, Texts arguments, Texts variables) {
  return exec_path(path, arguments, variables);
}
EARLY_HOOK(int, execvpe)(const char* file, Texts arguments, Texts variables) {
  return exec_file(file, arguments, variables);
}

EARLY_HOOK(int, execv)(const char* path, Texts arguments) {
  const RealExec& real = real_exec();
  return replace_process({{AT_FDCWD, path}}, environ, [&](Texts changed) {
    return changed == environ ? real.execv(path, arguments) : real.execve(path, arguments, changed);
  });
}

EARLY_HOOK(int, execvp)(const char* file, Texts arguments) {
  const RealExec& real = real_exec();
  return with_program(file, [&](const FoundImage& image) {
    return replace_process(image, environ, [&](Texts changed) {
      return changed == environ ? real.execvp(file, arguments) : real.execvpe(file, arguments, changed);
    });
  });
}

EARLY_HOOK(int, fexecve)(int fd, Texts arguments, Texts variables) {
  const RealExec& real = real_exec();
  if (variables == nullptr) return real.fexecve(fd, arguments, variables);  // EINVAL from libc, unlike from the kernel
  const DescriptorLink link(fd);
  return replace_process({{fd, link.path, true}}, variables,
                         [&](Texts changed) { return real.fexecve(fd, arguments, changed); });
}

EARLY_HOOK(int, execveat)(int folder_fd, const char* path, Texts arguments, Texts variables, int flags) {
  const RealExec& real = real_exec();
  const DescriptorLink link(folder_fd);
  char first = 1;
  const bool is_open_file = (flags & AT_EMPTY_PATH) != 0 && read_given_memory(&first, path, 1) && first == 0;
  const ImagePlace image = is_open_file ? ImagePlace{folder_fd, link.path, true} : ImagePlace{folder_fd, path};
  return replace_process({image}, variables, [&](Texts changed) {
    if (real.execveat != nullptr) return real.execveat(folder_fd, path, arguments, changed, flags);
    return static_cast<int>(result_as_libc(  // glibc before 2.34
        raw_syscall(SYS_execveat, folder_fd, reinterpret_cast<long>(path), reinterpret_cast<long>(arguments),
                    reinterpret_cast<long>(changed), flags)));
  });
}

EARLY_HOOK(int, execl)(const char* path, const char* first, ...) {
  va_list list;
  va_start(list, first);
  const int result = with_arguments(first, list, [&](Texts arguments) { return exec_path(path, arguments, environ); });
  va_end(list);
  return result;
}

EARLY_HOOK(int, execlp)(const char* file, const char* first, ...) {
  va_list list;
  va_start(list, first);
  const int result = with_arguments(first, list, [&](Texts arguments) { return exec_file(file, arguments, environ); });
  va_end(list);
  return result;
}

EARLY_HOOK(int, execle)(const char* path, const char* first, ...) {
  va_list list;
  va_start(list, first);
  const int result =
      with_arguments(first, list, [&](Texts arguments) { return exec_path(path, arguments, va_arg(list, Texts)); });
  va_end(list);
  return result;
}

// On x86-64 libc has two versions of posix_spawn and posix_spawnp. Programs that were linked before glibc 2.15 call the
// old one, which hands a script without "#!" to the shell. Each hook has the version of the function that it calls,
// because a hook without a version would interpose both.
namespace {

struct SpawnCall {
  int* pid;
  const char* program;
  const void* actions;
  const void* attributes;
  Texts arguments;
  Texts variables;
};
using RealSpawn = decltype(RealExec::posix_spawn);

// posix_spawn_file_actions_t and its entries, as glibc has had them since 2.29, which brought kChangeTo; later versions
// appended kinds.
struct FileActions {
  int room;
  int count;
  const void* actions;
};
struct FileAction {
  enum Kind : int { kClose, kDuplicate, kOpen, kChangeTo, kChangeToOpen, kCloseFrom, kForeground };
  Kind kind;
  union {
    const char* folder;  // kChangeTo
    int fd;              // kChangeToOpen
    char size[24];
  };
};

// Determines from which folder the child will look for a relative path. Only a single change of folder can be followed.
void follow_actions(const void* actions, ImagePlace* image) {
  constexpr int kMostActions = 4096;
  FileActions list;
  if (actions == nullptr || !is_following()) return;
  image->is_unknown = true;
  if (!read_given_memory(&list, actions, sizeof list) || list.count < 0 || list.count > list.room ||
      list.count > kMostActions)
    return;
  const auto* at = static_cast<const FileAction*>(list.actions);
  for (int i = 0; i < list.count; ++i) {
    FileAction action;
    if (!read_given_memory(&action, at + i, sizeof action)) return;
    if (action.kind < FileAction::kClose || action.kind > FileAction::kForeground) return;
    if (action.kind != FileAction::kChangeTo && action.kind != FileAction::kChangeToOpen) continue;
    // an earlier action may have changed the child's descriptors
    const bool is_other_table = action.kind == FileAction::kChangeToOpen && i != 0;
    if (image->folder != nullptr || image->folder_fd != AT_FDCWD || is_other_table) return;
    if (action.kind == FileAction::kChangeTo) image->folder = action.folder;
    if (action.kind == FileAction::kChangeToOpen) image->folder_fd = action.fd;
  }
  image->is_unknown = false;
}

int spawn_path(RealSpawn real, const SpawnCall& call) {
  FoundImage image;
  image.where.path = call.program;
  follow_actions(call.actions, &image.where);
  return spawn(image, call.variables, [&](Texts changed) {
    return real(call.pid, call.program, call.actions, call.attributes, call.arguments, changed);
  });
}

int spawn_file(RealSpawn real, const SpawnCall& call) {
  return with_program(call.program, [&](FoundImage image) {
    if (image.where.path != nullptr) follow_actions(call.actions, &image.where);
    return spawn(image, call.variables, [&](Texts changed) {
      return real(call.pid, call.program, call.actions, call.attributes, call.arguments, changed);
    });
  });
}

}  // namespace

#define SPAWN_HOOK(function, symbol, versioned, starts, real_spawn)                                                   \
  HEAPPROF_EARLY_ENTRY(#function, symbol, #function "_late");                                                         \
  extern "C" HIDDEN __attribute__((noinline)) int function##_late(                                                    \
      int* pid, const char* program, const void* actions, const void* attributes, Texts arguments, Texts variables) { \
    return starts(real_exec().real_spawn, {pid, program, actions, attributes, arguments, variables});                 \
  }                                                                                                                   \
  HEAPPROF_EXPORT_VERSION(#function, symbol, versioned)

SPAWN_HOOK(heapprof_posix_spawn, "posix_spawn", "@@GLIBC_2.15", spawn_path, posix_spawn)
SPAWN_HOOK(heapprof_posix_spawnp, "posix_spawnp", "@@GLIBC_2.15", spawn_file, posix_spawnp)
HEAPPROF_OLD_LIBC(SPAWN_HOOK(heapprof_posix_spawn_old, "posix_spawn", "@GLIBC_2.2.5", spawn_path, old_posix_spawn))
HEAPPROF_OLD_LIBC(SPAWN_HOOK(heapprof_posix_spawnp_old, "posix_spawnp", "@GLIBC_2.2.5", spawn_file, old_posix_spawnp))
