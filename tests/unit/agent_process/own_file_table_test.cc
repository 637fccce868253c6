// tests/unit/agent_process/own_file_table_test.cc: what is opened unseen, by both ways to a table of one's own. The
// source is included, because the way for older kernels is otherwise not taken here.
#include "agent/libc/own_file_table.cc"

#include <catch2/catch.hpp>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <thread>

using namespace heapprof::agent;

namespace {

// The lowest number that the program would get.
int next_number() {
  const int fd = dup(0);
  close(fd);
  return fd;
}

bool is_open(int fd) { return fcntl(fd, F_GETFD) != -1; }

}  // namespace

TEST_CASE("what is opened unseen is in no table of the program, and what it does stays") {
  const int kept = open("/proc/self", O_PATH | O_DIRECTORY);
  const int before = next_number();
  for (const uint32_t copies : {0u, 1u}) {
    g_copies_table = copies;
    for (const FileTable table : {FileTable::kUnseen, FileTable::kOwn}) {
      for (const int kept_fd : {-1, kept}) {
        char text[16] = "";
        void* mapped = nullptr;
        long through_kept = -1;
        REQUIRE(run_unseen(table, kept_fd, [&] {
          const long fd = raw_syscall(SYS_openat, AT_FDCWD, reinterpret_cast<long>("/proc/self/exe"), O_RDONLY);
          raw_syscall(SYS_read, fd, reinterpret_cast<long>(text), 4);
          mapped = sys_mmap(4096, PROT_READ, MAP_PRIVATE, static_cast<int>(fd));
          if (kept_fd >= 0) through_kept = raw_syscall(SYS_openat, kept_fd, reinterpret_cast<long>("exe"), O_RDONLY);
          if (table == FileTable::kUnseen) {  // this process has one thread: what is opened is to be closed
            sys_close(static_cast<int>(fd));
            if (kept_fd >= 0) sys_close(static_cast<int>(through_kept));
          }
          return true;
        }));
        CHECK(std::memcmp(text,
                          "\x7f"
                          "ELF",
                          4) == 0);
        CHECK(std::memcmp(mapped, text, 4) == 0);
        CHECK((kept_fd < 0 || through_kept >= 0));
        munmap(mapped, 4096);
        CHECK(next_number() == before);
        for (const int fd : {0, 1, 2, kept}) CHECK(is_open(fd));
      }
    }
  }
  g_copies_table = 0;
  close(kept);
}

#ifndef __SANITIZE_THREAD__  // whose runtime has a thread of its own, so that the program's table is never used
TEST_CASE("a full table has room elsewhere") {
  for (const uint32_t copies : {0u, 1u}) {
    const pid_t child = fork();
    if (child == 0) {
      g_copies_table = copies;
      closefrom(3);
      const rlimit limit{3, 3};
      setrlimit(RLIMIT_NOFILE, &limit);
      int runs = 0;
      bool is_opened = false;
      const bool is_done = run_unseen(FileTable::kUnseen, -1, [&] {
        ++runs;
        is_opened = !is_error(raw_syscall(SYS_openat, AT_FDCWD, reinterpret_cast<long>("/"), O_RDONLY));
        return is_opened;
      });
      _exit(is_done && is_opened && runs == 2 && is_open(0) && is_open(1) && is_open(2) ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    CHECK(status == 0);
  }
}
#endif

TEST_CASE("with other threads the program's table is left alone") {
  std::atomic<bool> stop{false};
  std::thread other([&] {
    while (!stop) std::this_thread::yield();
  });
  long number = -1;
  const int before = next_number();
  CHECK(run_unseen(FileTable::kUnseen, -1, [&] {
    number = raw_syscall(SYS_openat, AT_FDCWD, reinterpret_cast<long>("/"), O_RDONLY);
    return true;
  }));
  CHECK(number == 0);
  CHECK(next_number() == before);
  stop = true;
  other.join();
}
