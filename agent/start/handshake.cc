// agent/start/handshake.cc: one packet to the collector, one back, by raw system calls.
//
// libc's socket functions are cancellation points, set errno and can be interposed. The path is first tried as the name
// of an abstract socket: this works after chroot and a change of user. Then it is tried as a file: this works in a
// network namespace of the program's own. A collector that is stopped (SIGSTOP) looks like one that is busy, so /proc
// is asked after each second of silence.
#include "agent/start/handshake.h"

#include "agent/libc/raw.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/un.h>

namespace heapprof::agent {

namespace {

constexpr long kPatienceSeconds = 1;
constexpr int kMostWaits = 10;      // of one second each, for a collector that runs and does nothing
constexpr int kMostBusyWaits = 60;  // for one that works: a thousand processes may have asked at once

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

bool find_peer(int fd, ucred* peer) {
  socklen_t size = sizeof *peer;
  return !is_error(raw_syscall(SYS_getsockopt, fd, SOL_SOCKET, SO_PEERCRED, reinterpret_cast<long>(peer),
                               reinterpret_cast<long>(&size)));
}

// Reads a small file of /proc, and adds a zero byte. Returns the bytes read; 0: it cannot be read.
size_t read_proc(const char* path, char* text, size_t size) {
  const long fd = raw_syscall(SYS_openat, AT_FDCWD, reinterpret_cast<long>(path), O_RDONLY | O_CLOEXEC);
  if (is_error(fd)) return 0;
  const long got = raw_syscall(SYS_read, fd, reinterpret_cast<long>(text), static_cast<long>(size - 1));
  sys_close(static_cast<int>(fd));
  const size_t bytes = is_error(got) ? 0 : static_cast<size_t>(got);
  text[bytes] = 0;
  return bytes;
}

struct Peer {
  bool is_running = false;  // as /proc says; one that was stopped will not answer
  uint64_t used_ticks = 0;  // of a processor
};

// If /proc gives no answer, the result says that the peer is not running.
Peer look_at_peer(int fd) {
  ucred peer{};
  if (!find_peer(fd, &peer)) return {};
  char path[32] = "/proc/";
  char* at = path + strlen(path);
  for (int digit = 1'000'000'000; digit != 0; digit /= 10) {
    if (peer.pid >= digit) *at++ = static_cast<char>('0' + peer.pid / digit % 10);
  }
  strcpy(at, "/stat");
  char stat[512];
  const char* name_end = nullptr;
  if (peer.pid <= 0 || read_proc(path, stat, sizeof stat) == 0) return {};
  for (const char* c = stat; *c != 0; ++c) {
    if (*c == ')') name_end = c;  // the name in brackets may hold anything
  }
  if (name_end == nullptr || name_end[1] != ' ' || name_end[2] == 0 || strchr("RSD", name_end[2]) == nullptr) return {};
  constexpr int kState = 3, kUserTicks = 14, kSystemTicks = 15;  // fields of proc_pid_stat(5)
  Peer found{true, 0};
  uint64_t number = 0;
  int field = kState;
  for (const char* c = name_end + 2; *c != 0 && field <= kSystemTicks; ++c) {
    if (*c >= '0' && *c <= '9') number = number * 10 + static_cast<uint64_t>(*c - '0');
    if (*c != ' ') continue;
    if (field == kUserTicks || field == kSystemTicks) found.used_ticks += number;
    number = 0;
    ++field;
  }
  return found;
}

// True if the listener is a process of root or of this process's user. Others are not trusted: any user can read the
// socket's name in /proc/net/unix and, once the collector is gone, listen there. In a user namespace that does not map
// all users, an unmapped user is trusted, too.
bool is_peer_trusted(int fd) {
  constexpr uid_t kUnmapped = 65534;
  constexpr char kAll[] = " 4294967295\n";
  ucred peer{};
  if (!find_peer(fd, &peer)) return false;
  if (peer.uid == 0 || peer.uid == static_cast<uid_t>(raw_syscall(SYS_geteuid)) ||
      peer.uid == static_cast<uid_t>(raw_syscall(SYS_getuid)))
    return true;
  char map[512];
  const size_t bytes = peer.uid == kUnmapped ? read_proc("/proc/thread-self/uid_map", map, sizeof map) : 0;
  return bytes != 0 && memmem(map, bytes, kAll, sizeof kAll - 1) == nullptr;
}

// Receives the answer, and the descriptor that may come with it; *arena_fd is -1 if none came.
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
  int waits = 0;
  int busy_waits = 0;
  uint64_t used_ticks = 0;
  do {
    received = raw_syscall(SYS_recvmsg, fd, reinterpret_cast<long>(&message), MSG_CMSG_CLOEXEC);
    if (received != -EAGAIN) continue;
    const Peer peer = look_at_peer(fd);
    ++(peer.used_ticks != used_ticks ? busy_waits : waits);
    used_ticks = peer.used_ticks;
    if (peer.is_running && waits < kMostWaits && busy_waits < kMostBusyWaits) received = -EINTR;
  } while (received == -EINTR);  // interrupted by a debugger, or by SIGSTOP and SIGCONT
  if (received != static_cast<long>(sizeof *welcome)) return false;
  const cmsghdr* header = CMSG_FIRSTHDR(&message);
  if (header != nullptr && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS) {
    memcpy(arena_fd, CMSG_DATA(header), sizeof *arena_fd);
  }
  return true;
}

// What /proc says of filters. is_read: the line was found, or the whole file lacks it.
struct FilterLine {
  bool is_read = false;
  uint32_t count = 0;
};

// The line follows that of the supplementary groups, of which a process may have 65,536. So the file is read in pieces,
// and a line may lie in two.
FilterLine find_filter_line() {
  constexpr char kName[] = "\nSeccomp_filters:\t";  // since Linux 5.10
  constexpr size_t kNameLength = sizeof kName - 1;
  FilterLine found;
  const long fd =
      raw_syscall(SYS_openat, AT_FDCWD, reinterpret_cast<long>("/proc/thread-self/status"), O_RDONLY | O_CLOEXEC);
  if (is_error(fd)) return found;
  char piece[1024];
  long got;
  bool is_over = false;
  bool has_text = false;
  size_t matched = 0;  // characters of the name
  while (!is_over && (got = raw_syscall(SYS_read, fd, reinterpret_cast<long>(piece), sizeof piece)) > 0) {
    has_text = true;
    for (long i = 0; i < got && !is_over; ++i) {
      const char c = piece[i];
      if (matched == kNameLength) {
        is_over = c < '0' || c > '9';
        if (!is_over) found.count = found.count * 10 + static_cast<uint32_t>(c - '0');
      } else if (c == kName[matched]) {
        ++matched;
      } else {
        matched = c == kName[0] ? 1 : 0;  // the name has no second newline
      }
    }
  }
  sys_close(static_cast<int>(fd));
  found.is_read = is_over || (got == 0 && has_text);
  return found;
}

}  // namespace

uint32_t count_own_filters() {
  const FilterLine line = find_filter_line();
  // If /proc cannot be read, filters cannot be counted. If there is any, assume more than the collector has.
  if (!line.is_read) return raw_syscall(SYS_prctl, PR_GET_SECCOMP) == 0 ? 0 : UINT32_MAX;
  return line.count;
}

bool has_descriptors() {
  int pair[2];
  const long result =
      raw_syscall(SYS_socketpair, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, reinterpret_cast<long>(pair));
  if (is_error(result)) return result != -EMFILE;
  for (const int fd : pair) sys_close(fd);
  return true;
}

int ask_collector(const char* socket_path, const wire::Hello& hello, wire::Answer* answer) {
  *answer = kNoAnswer;
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
  if (!is_peer_trusted(fd)) {
    sys_close(fd);
    return -1;
  }
  int arena_fd = -1;
  wire::Welcome welcome{};
  const long sent = raw_syscall(SYS_sendto, fd, reinterpret_cast<long>(&hello), sizeof hello, MSG_NOSIGNAL, 0, 0);
  const bool answered = sent == static_cast<long>(sizeof hello) && receive(fd, &welcome, &arena_fd);
  sys_close(fd);
  if (answered && welcome.magic == wire::kMagic) *answer = welcome.answer;
  if (*answer == wire::Answer::kRecord && welcome.arena_bytes == wire::kArenaBytes) return arena_fd;
  if (arena_fd >= 0) sys_close(arena_fd);
  return -1;
}

}  // namespace heapprof::agent
