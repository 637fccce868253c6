// agent/handshake.cc: see handshake.h.
#include "agent/handshake.h"

#include "agent/raw.h"
#include "shared/env.h"

#include <errno.h>
#include <string.h>
#include <sys/time.h>
#include <sys/un.h>

extern "C" {
extern char** environ;
extern void* __libc_stack_end;  // where the kernel put argc: before libc has set environ
}

namespace heapprof::agent {

namespace {

constexpr long kPatienceSeconds = 1;

char g_socket_path[sizeof(sockaddr_un::sun_path)];
bool g_follow = true;

char** environment() {
  if (environ != nullptr) return environ;
  long* stack = static_cast<long*>(__libc_stack_end);
  if (stack == nullptr || stack[0] < 0) return nullptr;
  return reinterpret_cast<char**>(stack + 1 + stack[0] + 1);  // argc, argv…, 0
}

// The value of `name`, or nullptr; *slot is its place.
char* find_variable(const char* name, char*** slot) {
  char** variables = environment();
  const size_t length = strlen(name);
  for (; variables != nullptr && *variables != nullptr; ++variables) {
    if (strncmp(*variables, name, length) == 0 && (*variables)[length] == '=') {
      *slot = variables;
      return *variables + length + 1;
    }
  }
  return nullptr;
}

void remove_variable(char** slot) {
  for (; *slot != nullptr; ++slot) slot[0] = slot[1];
}

int open_socket() {
  const long fd = raw_syscall(SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (is_error(fd)) return -1;
  const timeval patience{kPatienceSeconds, 0};
  for (const int option : {SO_RCVTIMEO, SO_SNDTIMEO}) {
    raw_syscall(SYS_setsockopt, fd, SOL_SOCKET, option, reinterpret_cast<long>(&patience), sizeof patience);
  }
  return static_cast<int>(fd);
}

bool connect_to(int fd, const char* path, bool is_abstract) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const size_t length = strlen(path);
  memcpy(address.sun_path + (is_abstract ? 1 : 0), path, length);
  const size_t size = offsetof(sockaddr_un, sun_path) + length + 1;  // the leading, or the closing zero byte
  return !is_error(raw_syscall(SYS_connect, fd, reinterpret_cast<long>(&address), static_cast<long>(size)));
}

// Receives the answer and the descriptor that may come with it (-1).
bool receive(int fd, wire::Welcome* welcome, int* arena_fd) {
  *arena_fd = -1;
  iovec part{welcome, sizeof *welcome};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))];
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  long received;
  do {
    received = raw_syscall(SYS_recvmsg, fd, reinterpret_cast<long>(&message), MSG_CMSG_CLOEXEC);
  } while (received == -EINTR);  // a debugger, SIGSTOP and SIGCONT
  if (received != static_cast<long>(sizeof *welcome)) return false;
  const cmsghdr* header = CMSG_FIRSTHDR(&message);
  if (header != nullptr && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS) {
    memcpy(arena_fd, CMSG_DATA(header), sizeof *arena_fd);
  }
  return true;
}

}  // namespace

Invitation find_invitation() {
  if (g_socket_path[0] == 0) {
    char** slot;
    const char* value = find_variable(wire::kSocketVariable, &slot);
    if (value == nullptr || (value[0] != wire::kFollow && value[0] != wire::kNoFollow)) return {};
    if (strlen(value) >= sizeof g_socket_path - 2) return {};
    g_follow = value[0] == wire::kFollow;
    strcpy(g_socket_path, value + 1);
  }
  return {g_socket_path, g_follow};
}

int ask_collector(const char* socket_path, const wire::Hello& hello, wire::Verdict* verdict) {
  *verdict = wire::Verdict::kStayOut;
  int fd = open_socket();
  if (fd < 0) return -1;
  if (!connect_to(fd, socket_path, true)) {
    sys_close(fd);
    fd = open_socket();
    if (fd < 0) return -1;
    if (!connect_to(fd, socket_path, false)) {
      sys_close(fd);
      return -1;
    }
  }
  int arena_fd = -1;
  wire::Welcome welcome{};
  const long sent = raw_syscall(SYS_sendto, fd, reinterpret_cast<long>(&hello), sizeof hello, MSG_NOSIGNAL, 0, 0);
  const bool answered = sent == static_cast<long>(sizeof hello) && receive(fd, &welcome, &arena_fd);
  sys_close(fd);
  if (answered && welcome.magic == wire::kMagic) *verdict = welcome.verdict;
  if (*verdict == wire::Verdict::kRecord && welcome.arena_bytes == wire::kArenaBytes) return arena_fd;
  if (arena_fd >= 0) sys_close(arena_fd);
  return -1;
}

void clean_environment() {
  char** slot;
  if (find_variable(wire::kSocketVariable, &slot) != nullptr) remove_variable(slot);
  char* preload = find_variable(wire::kPreloadVariable, &slot);
  if (preload == nullptr) return;
  // The launcher put the agent first (and the reference unwinder second); what the user had comes after.
  for (;;) {
    const size_t length = strcspn(preload, ": ");
    constexpr char kOurs[] = "libheapprof";
    const char* found = static_cast<const char*>(memmem(preload, length, kOurs, sizeof kOurs - 1));
    if (found == nullptr || length == 0) break;
    const size_t skip = length + (preload[length] != 0 ? 1 : 0);
    memmove(preload, preload + skip, strlen(preload + skip) + 1);
  }
  if (*preload == 0) remove_variable(slot);
}

}  // namespace heapprof::agent
