// tests/targets/malloc/allocators/inner.cc: a program with an allocator inside, whose functions have the prefix PREFIX
// (or none), and known numbers of blocks by each way.
//
// arguments: (none) | fork | exec | kill | threads | throw
// It is linked with an allocator's archive by tests/integration/malloc/inner_allocators.sh.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <new>
#include <thread>
#include <vector>

#ifndef PREFIX
#define PREFIX
#endif
#define JOINED2(a, b) a##b
#define JOINED(a, b) JOINED2(a, b)
#define INNER(name) JOINED(PREFIX, name)

extern "C" {
void* INNER(malloc)(size_t) noexcept;
void* INNER(calloc)(size_t, size_t) noexcept;
void* INNER(realloc)(void*, size_t) noexcept;
void INNER(free)(void*) noexcept;
int INNER(posix_memalign)(void**, size_t, size_t) noexcept;
}

namespace {

constexpr size_t kBlocks = 10;

[[gnu::noinline]] void use_inner() {  // 10 of 1235, 5 of them stay
  for (size_t i = 0; i < kBlocks; ++i) {
    void* volatile block = INNER(malloc)(1235);
    if (i % 2 != 0) INNER(free)(block);
  }
}

[[gnu::noinline]] void use_growing() {  // 1 of 100, moved ten times, the last of 5 MiB; then it goes
  void* volatile block = INNER(calloc)(4, 25);
  for (size_t bytes = 200; bytes <= 5 << 20; bytes *= 3) block = INNER(realloc)(block, bytes);
  INNER(free)(block);
}

[[gnu::noinline]] void use_aligned() {  // 10 of 1239, 5 stay
  for (size_t i = 0; i < kBlocks; ++i) {
    void* block = nullptr;
    if (INNER(posix_memalign)(&block, 256, 1239) != 0) _exit(3);
    if (i % 2 != 0) INNER(free)(block);
  }
}

[[gnu::noinline]] void use_new() {  // 10 of 1237, 5 stay
  for (size_t i = 0; i < kBlocks; ++i) {
    void* volatile block = ::operator new(1237);
    if (i % 2 != 0) ::operator delete(block);
  }
}

[[gnu::noinline]] void use_outer() {  // by libc's own function, which asks malloc: 10 of 6, 5 stay
  for (size_t i = 0; i < kBlocks; ++i) {
    char* volatile text = strdup("12345");
    if (i % 2 != 0) free(text);
  }
}

void* g_reserve = nullptr;
bool g_is_tried = false;
void give_reserve() {
  if (g_is_tried) throw std::bad_alloc();
  g_is_tried = true;
  ::operator delete(g_reserve);
  g_reserve = nullptr;
  ::operator delete(::operator new(1241));
}

// A new_handler frees, allocates and throws, inside of operator new: 1 of 1243, which goes, and 1 of 1241; then as
// ever.
[[gnu::noinline]] void use_throw() {
  for (int i = 0; i < 3; ++i) {
    g_is_tried = false;
    g_reserve = ::operator new(1243);
    std::set_new_handler(give_reserve);
    try {
      void* volatile block = ::operator new(SIZE_MAX / 4);
      ::operator delete(block);
    } catch (const std::bad_alloc&) {
    }
    if (g_reserve != nullptr) _exit(4);
  }
}

void use_all() {
  use_inner();
  use_growing();
  use_aligned();
  use_new();
  use_outer();
}

}  // namespace

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "";
  if (strcmp(how, "throw") == 0) {
    use_throw();
    use_inner();
    return 0;
  }
  if (strcmp(how, "threads") == 0) {
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i)
      threads.emplace_back([] {
        for (int round = 0; round < 100; ++round) use_all();
      });
    for (std::thread& thread : threads) thread.join();
    return 0;
  }
  use_all();
  if (strcmp(how, "fork") == 0) {
    const pid_t child = fork();
    if (child == 0) {
      use_all();
      _exit(5);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WEXITSTATUS(status) - 5;
  }
  if (strcmp(how, "exec") == 0) {
    execl("/proc/self/exe", argv[0], "", nullptr);
    return 6;
  }
  if (strcmp(how, "kill") == 0) kill(getpid(), SIGKILL);
  return 0;
}
