// tests/targets/malloc/errno_kept.cc: sets errno to a number of its own before each call that allocates or frees, also
// where a profiler has more to do than usual: in a new thread, in a forked child, after an unload, in a flood that
// fills what it has, in a signal handler. Prints how often errno was another one after a call that succeeded.
//
// usage: errno_kept LIBRARY
#include "../keep.h"

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <new>
#include <thread>

namespace {

constexpr int kOwn = 4242;
std::atomic<long> g_calls{0};
std::atomic<long> g_changed{0};

template <typename Call>
auto with_own_errno(Call call) {
  errno = kOwn;
  auto result = call();
  ++g_calls;
  if (errno != kOwn) ++g_changed;
  return result;
}
template <typename Call>
void without_result(Call call) {
  with_own_errno([&] {
    call();
    return 0;
  });
}

KEEP_FRAME void call_each() {
  void* block = with_own_errno([] { return keep(malloc(100)); });
  block = with_own_errno([&] { return keep(realloc(block, 300)); });
  without_result([&] { free(block); });
  block = with_own_errno([] { return keep(calloc(3, 50)); });
  without_result([&] { free(block); });
  block = with_own_errno([] { return keep(aligned_alloc(64, 128)); });
  without_result([&] { free(block); });
  block = with_own_errno([] { return keep(memalign(64, 128)); });
  without_result([&] { free(block); });
  without_result([&] {
    if (posix_memalign(&block, 64, 128) != 0) abort();
  });
  without_result([&] { free(block); });
  block = with_own_errno([] { return keep(operator new(77)); });
  without_result([&] { operator delete(block); });
  without_result([] { free(nullptr); });
  void* pages = with_own_errno([] { return mmap(nullptr, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); });
  without_result([&] { mprotect(pages, 4096, PROT_NONE); });
  without_result([&] { munmap(pages, 8192); });
}

void flood() {
  for (int i = 0; i < 40'000; ++i) {
    void* block = with_own_errno([i] { return keep(malloc(static_cast<size_t>(16 + i % 300))); });
    without_result([&] { free(block); });
  }
}

void handle(int) {
  const int before = errno;
  call_each();
  errno = before;
}

// Ends with the number of changes, as far as a status can say.
void in_child() {
  const pid_t child = with_own_errno(fork);
  if (child == 0) {
    g_changed = 0;
    call_each();
    _exit(g_changed > 100 ? 100 : static_cast<int>(g_changed));
  }
  int status = 0;
  waitpid(child, &status, 0);
  g_changed += WIFEXITED(status) ? WEXITSTATUS(status) : 1000;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 98;
  call_each();
  signal(SIGUSR1, handle);
  for (int i = 0; i < 50; ++i) {
    std::thread([] { call_each(); }).join();
    in_child();
    void* library = dlopen(argv[1], RTLD_NOW);
    call_each();
    if (library != nullptr) dlclose(library);
    call_each();
    raise(SIGUSR1);
  }
  std::thread others[3];
  for (std::thread& thread : others) thread = std::thread(flood);
  flood();
  for (std::thread& thread : others) thread.join();
  printf("changed %ld\n", g_changed.load());
  return g_calls < 300'000;
}
