// tests/targets/attack/parts/images.cc: programs that are started: the attacker itself, which allocates a little and
// ends (`attack image`), what is not there, and what the kernel refuses.
#include "../../keep.h"
#include "action.h"

#include <errno.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

extern char** environ;

namespace attack {

constexpr uint32_t kImageSites[] = {kSite_image_a, kSite_image_b};

namespace {
// No page ever lies there. An address below it may be one that the stack can grow to, and be read as an empty
// environment.
constexpr uintptr_t kEndOfUserSpace = 0x7ffffffff000;

// attack image BOOKS BOOK AMOUNT STATUS
struct Command {
  char book[16], amount[16], status[16];
  char* arguments[7];
  Command(uint32_t index, unsigned amount_of_work, int with_status) {
    snprintf(book, sizeof(book), "%u", index);
    snprintf(amount, sizeof(amount), "%u", amount_of_work);
    snprintf(status, sizeof(status), "%d", with_status);
    char* made[7] = {const_cast<char*>(g_start.self),
                     const_cast<char*>("image"),
                     const_cast<char*>(g_start.books),
                     book,
                     amount,
                     status,
                     nullptr};
    memcpy(arguments, made, sizeof(made));
  }
};
}  // namespace

// What `attack image` does.
int live_as_image(uint32_t index, unsigned amount, int status) {
  enter_book(index);
  kMine->pid = getpid();
  kMine->is_image = 1;
  Context context = {};
  context.random.state = index;
  work(context, amount * 5, kImageSites, 2);
  return status;
}

long act_vfork_exec(Context& context, unsigned amount) {
  const Command command(claim_book("vfork_exec"), amount, 31);
  work_heap(context, 10);
  const pid_t child = vfork();
  if (child == 0) {
    execv(g_start.self, command.arguments);
    _exit(97);
  }
  return child < 0 ? -1 : wait_for(child);
}

long act_exec_self(Context& context, unsigned amount) {
  const bool allocates_before = context.random.below(2) != 0;
  const bool with_environment = context.random.below(2) != 0;
  return in_child("exec_self", [&] {
    const uint32_t site = kSite_child_a;
    if (allocates_before) work(context, 20, &site, 1);
    const Command command(claim_book("exec_self image"), amount, 32);
    if (with_environment) {
      execve(g_start.self, command.arguments, environ);
    } else {
      execvp(g_start.self, command.arguments);
    }
    return 97L;
  });
}

long act_exec_fails(Context& context, unsigned amount) {
  return in_child("exec_fails", [&]() -> long {
    const uint32_t site = kSite_child_a;
    for (unsigned i = 0; i < amount; ++i) {
      work(context, 6, &site, 1);
      char* const arguments[] = {const_cast<char*>("no"), nullptr};
      if (execv("/nowhere/no", arguments) != -1 || errno != ENOENT) return 97;
      if (execve("/dev/null", arguments, environ) != -1 || errno != EACCES) return 96;
    }
    return 33;
  });
}

// The kernel says EFAULT; nobody before it may read there.
namespace {
KEEP_FRAME long exec_badly_after_vfork(char** environment) {
  char* const arguments[] = {const_cast<char*>("true"), nullptr};
  const pid_t child = vfork();
  if (child == 0) {
    execve("/bin/true", arguments, environment);
    _exit(errno == EFAULT ? 34 : 35);
  }
  return child < 0 ? -1 : wait_for(child);
}
KEEP_FRAME long exec_badly(Context& context, char** environment) {
  return in_child("exec_bad_environment", [&] {
    const uint32_t site = kSite_child_b;
    char* const arguments[] = {const_cast<char*>("true"), nullptr};
    work(context, 10, &site, 1);
    execve("/bin/true", arguments, environment);
    return errno == EFAULT ? 34L : 35L;
  });
}
}  // namespace
long act_exec_bad_environment(Context& context, unsigned amount) {
  const bool by_vfork = context.random.below(2) != 0;
  long sum = 0;
  for (unsigned i = 0; i < amount; ++i) {
    char** const bad = reinterpret_cast<char**>(i % 2 != 0 ? 8 : kEndOfUserSpace);
    char* bad_entry[] = {const_cast<char*>("A=1"), reinterpret_cast<char*>(16), nullptr};
    char** const environment = context.random.below(2) != 0 ? bad : bad_entry;
    sum += by_vfork ? exec_badly_after_vfork(environment) : exec_badly(context, environment);
  }
  return sum;
}

long act_spawn(Context& context, unsigned amount) {
  const Command command(claim_book("spawn"), amount, 36);
  work_heap(context, 10);
  pid_t child = 0;
  if (posix_spawn(&child, g_start.self, nullptr, nullptr, command.arguments, environ) != 0) return -1;
  return wait_for(child);
}

long act_end_exec(Context& context, unsigned amount) {
  work_heap(context, 5);
  const Command command(claim_book("end_exec"), amount, 37);
  execv(g_start.self, command.arguments);
  return -1;
}

}  // namespace attack
