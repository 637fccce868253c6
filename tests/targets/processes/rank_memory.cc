// tests/targets/processes/rank_memory.cc: a rank whose memory depends on its number, as its launcher's variable says:
//   rank_memory VARIABLE HIGH EXITS KILLED
// Every rank keeps (rank + 1) * 1235 bytes, and has 1236 more in every second one. Rank HIGH has a hundred times as
// much for a moment, EXITS ends with status 3, KILLED by SIGKILL. Each starts a child that fails, which is no failure
// of the rank.
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

namespace {

void* volatile g_kept;

__attribute__((noinline)) void keep(size_t size) {
  g_kept = std::malloc(size);
  std::memset(g_kept, 1, size);
}

__attribute__((noinline)) void use_in_some(size_t size) {
  void* block = std::malloc(size);
  std::memset(block, 1, size);
  g_kept = block;
}

__attribute__((noinline)) void use_much(size_t size) {
  void* block = std::malloc(size);
  std::memset(block, 1, size);
  std::free(block);
}

int fail_as_child() {
  void* block = std::malloc(1237);
  std::free(block);
  return 5;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "child") == 0) return fail_as_child();
  const char* const text = argc > 4 ? std::getenv(argv[1]) : nullptr;
  if (text == nullptr) return 2;
  const long rank = std::atol(text);
  keep(static_cast<size_t>(rank + 1) * 1235);
  if (rank % 2 == 0) use_in_some(1236);
  if (rank == std::atol(argv[2])) use_much(static_cast<size_t>(rank + 1) * 123500);
  char word[] = "child";
  char* child_argv[] = {argv[0], word, nullptr};
  pid_t child = 0;
  if (posix_spawn(&child, argv[0], nullptr, nullptr, child_argv, environ) == 0) waitpid(child, nullptr, 0);
  if (rank == std::atol(argv[3])) return 3;
  if (rank == std::atol(argv[4])) kill(getpid(), SIGKILL);
  return 0;
}
