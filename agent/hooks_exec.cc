// agent/hooks_exec.cc: see hooks_exec.h.
//
// The headers that declare these functions are left out: they do not agree on noexcept from version to version.
#include "agent/hooks_exec.h"

#include "agent/arena.h"
#include "agent/environment.h"
#include "agent/image_check.h"
#include "agent/lifecycle.h"
#include "agent/link_map.h"
#include "agent/raw.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <string.h>

#include <type_traits>

#define HOOK extern "C" __attribute__((visibility("default")))

extern "C" char** environ;

namespace heapprof::agent {

namespace {

using Texts = char* const*;

struct RealExec {
  int (*execve)(const char*, Texts, Texts);
  int (*execvpe)(const char*, Texts, Texts);
  int (*fexecve)(int, Texts, Texts);
  int (*execveat)(int, const char*, Texts, Texts, int);
  int (*posix_spawn)(int*, const char*, const void*, const void*, Texts, Texts);
  int (*posix_spawnp)(int*, const char*, const void*, const void*, Texts, Texts);
};
RealExec g_real_exec;

const RealExec& real_exec() {
  resolve_real_functions();
  return g_real_exec;
}

// What goes along with a new program.
struct Plan {
  EnvironmentChange change = EnvironmentChange::kInvite;
  size_t bytes = 0;            // that the changed environment takes; 0: it stays as it is
  wire::Note* note = nullptr;  // to be taken back if the program does not start
  bool is_own = false;         // this process becomes the program
};

// image: nullptr if it was not found, so that nothing will start.
Plan make_plan(int folder_fd, const char* image, Texts variables, bool replaces_process) {
  Plan plan;
  const Invitation invitation = find_invitation();
  if (invitation.socket_path == nullptr || !invitation.follow || image == nullptr) return plan;
  // Under a filter that we know of, no call of ours may be the one that kills.
  if (is_filtered()) return plan;
  const wire::ImageObstacle obstacle = check_image(folder_fd, image);
  if (obstacle != wire::ImageObstacle::kNone) {
    plan.is_own = replaces_process && sys_getpid() == g_pid;
    plan.note = add_note(wire::NoteKind::kImage, static_cast<uint32_t>(obstacle), image, plan.is_own);
  }
  // These two ignore our variables, and may start programs that do not.
  if (obstacle == wire::ImageObstacle::kStatic || obstacle == wire::ImageObstacle::kPrivileges) return plan;
  if (obstacle != wire::ImageObstacle::kNone) plan.change = EnvironmentChange::kRemove;
  plan.bytes = changed_environment_bytes(variables, plan.change);
  return plan;
}

// Calls start(environment); what it returns. A function of its own: the environment lives in its frame.
template <typename Start>
__attribute__((noinline)) int start_with(const Plan& plan, Texts variables, Start start) {
  if (plan.bytes != 0) {
    void* memory = __builtin_alloca_with_align(plan.bytes, 128);
    variables = change_environment(variables, plan.change, memory, plan.bytes);
  }
  return start(variables);
}

// Only a failed exec returns.
template <typename Start>
int replace_process(int folder_fd, const char* image, Texts variables, Start start) {
  const Plan plan = make_plan(folder_fd, image, variables, true);
  const int result = start_with(plan, variables, start);
  withdraw_note(plan.note, plan.is_own);
  return result;
}

template <typename Start>
int spawn(const char* image, Texts variables, Start start) {
  const Plan plan = make_plan(AT_FDCWD, image, variables, false);
  const int error = start_with(plan, variables, start);
  if (error != 0) withdraw_note(plan.note, false);
  return error;
}

int exec_path(const char* path, Texts arguments, Texts variables) {
  const RealExec& real = real_exec();
  return replace_process(AT_FDCWD, path, variables,
                         [&](Texts changed) { return real.execve(path, arguments, changed); });
}

int exec_file(const char* file, Texts arguments, Texts variables) {
  const RealExec& real = real_exec();
  char memory[PATH_MAX];
  return replace_process(AT_FDCWD, find_in_path(file, memory, sizeof memory), variables,
                         [&](Texts changed) { return real.execvpe(file, arguments, changed); });
}

// Arguments of the execl family up to the closing nullptr, which counts.
size_t count_arguments(va_list list) {
  size_t count = 2;  // the first, and the nullptr
  while (va_arg(list, char*) != nullptr) ++count;
  return count;
}

void copy_arguments(char** to, const char* first, va_list list) {
  *to = const_cast<char*>(first);
  while (*to++ != nullptr) *to = va_arg(list, char*);
}

}  // namespace

void settle_exec_hooks() {
  const auto find = [](auto* function, const char* name) {
    *function = reinterpret_cast<std::remove_reference_t<decltype(*function)>>(find_behind_agent(name).address);
  };
  find(&g_real_exec.execve, "execve");
  find(&g_real_exec.execvpe, "execvpe");
  find(&g_real_exec.fexecve, "fexecve");
  find(&g_real_exec.execveat, "execveat");
  find(&g_real_exec.posix_spawn, "posix_spawn");
  find(&g_real_exec.posix_spawnp, "posix_spawnp");
}

}  // namespace heapprof::agent

using namespace heapprof::agent;

HOOK int execve(const char* path, Texts arguments, Texts variables) { return exec_path(path, arguments, variables); }
HOOK int execv(const char* path, Texts arguments) { return exec_path(path, arguments, environ); }
HOOK int execvpe(const char* file, Texts arguments, Texts variables) { return exec_file(file, arguments, variables); }
HOOK int execvp(const char* file, Texts arguments) { return exec_file(file, arguments, environ); }

HOOK int fexecve(int fd, Texts arguments, Texts variables) {
  const RealExec& real = real_exec();
  char memory[PATH_MAX];
  return replace_process(AT_FDCWD, name_descriptor(fd, memory, sizeof memory), variables,
                         [&](Texts changed) { return real.fexecve(fd, arguments, changed); });
}

HOOK int execveat(int folder_fd, const char* path, Texts arguments, Texts variables, int flags) {
  const RealExec& real = real_exec();
  char memory[PATH_MAX];
  const bool is_open_file = (flags & AT_EMPTY_PATH) != 0 && path != nullptr && path[0] == 0;
  const char* image = is_open_file ? name_descriptor(folder_fd, memory, sizeof memory) : path;
  return replace_process(folder_fd, image, variables, [&](Texts changed) {
    if (real.execveat != nullptr) return real.execveat(folder_fd, path, arguments, changed, flags);
    errno = static_cast<int>(-raw_syscall(SYS_execveat, folder_fd, reinterpret_cast<long>(path),
                                          reinterpret_cast<long>(arguments), reinterpret_cast<long>(changed), flags));
    return -1;  // glibc before 2.34
  });
}

HOOK int execl(const char* path, const char* first, ...) {
  va_list list;
  va_start(list, first);
  char** arguments = static_cast<char**>(__builtin_alloca(count_arguments(list) * sizeof(char*)));
  va_end(list);
  va_start(list, first);
  copy_arguments(arguments, first, list);
  va_end(list);
  return exec_path(path, arguments, environ);
}

HOOK int execlp(const char* file, const char* first, ...) {
  va_list list;
  va_start(list, first);
  char** arguments = static_cast<char**>(__builtin_alloca(count_arguments(list) * sizeof(char*)));
  va_end(list);
  va_start(list, first);
  copy_arguments(arguments, first, list);
  va_end(list);
  return exec_file(file, arguments, environ);
}

HOOK int execle(const char* path, const char* first, ...) {
  va_list list;
  va_start(list, first);
  char** arguments = static_cast<char**>(__builtin_alloca(count_arguments(list) * sizeof(char*)));
  va_end(list);
  va_start(list, first);
  copy_arguments(arguments, first, list);
  Texts variables = va_arg(list, Texts);
  va_end(list);
  return exec_path(path, arguments, variables);
}

HOOK int posix_spawn(int* pid, const char* path, const void* actions, const void* attributes, Texts arguments,
                     Texts variables) {
  const RealExec& real = real_exec();
  return spawn(path, variables,
               [&](Texts changed) { return real.posix_spawn(pid, path, actions, attributes, arguments, changed); });
}

HOOK int posix_spawnp(int* pid, const char* file, const void* actions, const void* attributes, Texts arguments,
                      Texts variables) {
  const RealExec& real = real_exec();
  char memory[PATH_MAX];
  return spawn(find_in_path(file, memory, sizeof memory), variables,
               [&](Texts changed) { return real.posix_spawnp(pid, file, actions, attributes, arguments, changed); });
}
