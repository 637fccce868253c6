// tests/targets/start/early/resolver.cc: a library whose indirect function is resolved while libraries are relocated,
// before anything that is preloaded is: the resolver does what EARLY_… names, and chooses by whether that came out as
// it should.
#include <errno.h>
#include <limits.h>
#include <malloc.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <new>

extern "C" char** environ;

static int right() { return 41; }
static int wrong() { return 42; }

[[maybe_unused]] static bool ends_well(pid_t child) {
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}
[[maybe_unused]] static bool is_block(void* block, size_t alignment) {
  if (block == nullptr || reinterpret_cast<size_t>(block) % alignment != 0) return false;
  memset(block, 1, 1235);
  free(block);
  return true;
}

static bool works() {
  char path[] = "/bin/true";
  [[maybe_unused]] char* arguments[] = {path, nullptr};
#if defined(EARLY_MALLOC)
  void* block = nullptr;
  char* text = static_cast<char*>(malloc(1235));
  strcpy(text, "kept");
  text = static_cast<char*>(realloc(text, 123456));
  const bool is_kept = strcmp(text, "kept") == 0 && malloc_usable_size(text) >= 123456;
  return is_kept && is_block(text, 16) && is_block(calloc(5, 247), 16) && is_block(memalign(64, 1235), 64) &&
         is_block(aligned_alloc(64, 1280), 64) && posix_memalign(&block, 128, 1235) == 0 && is_block(block, 128) &&
         is_block(valloc(1235), 4096) && is_block(pvalloc(1235), 4096) && is_block(reallocarray(nullptr, 5, 247), 16) &&
         posix_memalign(&block, 3, 1235) == EINVAL && malloc(LONG_MAX) == nullptr && errno == ENOMEM;
#elif defined(EARLY_NEW)
  int* const one = new int(1);
  int* const many = new int[309];
  void* const aligned = operator new (1235, std::align_val_t{64});
  const bool is_right = *one == 1 && reinterpret_cast<size_t>(aligned) % 64 == 0;
  delete one;
  delete[] many;
  operator delete (aligned, std::align_val_t{64});
  return is_right;
#elif defined(EARLY_GETENV)
  const char* const value = getenv("EARLY");  // glibc may not know the environment yet
  return (value == nullptr || strcmp(value, "set") == 0) && getenv("NEVER_SET") == nullptr;
#elif defined(EARLY_MAPPING)
  char* pages = static_cast<char*>(mmap(nullptr, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  if (pages == MAP_FAILED || mprotect(pages, 8192, PROT_READ | PROT_WRITE) != 0) return false;
  pages[4096] = 1;
  pages = static_cast<char*>(mremap(pages, 8192, 16384, MREMAP_MAYMOVE));
  const bool is_moved = pages != MAP_FAILED && pages[4096] == 1 && munmap(pages, 16384) == 0;
  if (sbrk(4096) != reinterpret_cast<void*>(-1)) brk(static_cast<char*>(sbrk(0)) - 4096);  // glibc may refuse it yet
  return is_moved && munmap(reinterpret_cast<void*>(1), 1) == -1 && errno == EINVAL;
#elif defined(EARLY_CALLS)
  stack_t stack{};
  return syscall(SYS_getpid) == getpid() && prctl(PR_GET_DUMPABLE) >= 0 && sigaltstack(nullptr, &stack) == 0 &&
         syscall(-1) == -1 && errno == ENOSYS;
#elif defined(EARLY_FORK)
  const pid_t child = fork();
  if (child == 0) {
    free(malloc(1235));
    _exit(0);
  }
  return ends_well(child);
#elif defined(EARLY_EXEC)
  const pid_t child = fork();
  if (child == 0) {
    execl("/nowhere", "nowhere", "a", nullptr);
    execv("/nowhere", arguments);
    execve(path, arguments, environ);
    _exit(1);
  }
  return ends_well(child);
#elif defined(EARLY_SPAWN)
  pid_t child = 0;
  return posix_spawn(&child, path, nullptr, nullptr, arguments, environ) == 0 && ends_well(child) &&
         posix_spawnp(&child, "true", nullptr, nullptr, arguments, environ) == 0 && ends_well(child);
#endif
}

extern "C" int (*resolve())() { return works() ? right : wrong; }
extern "C" __attribute__((ifunc("resolve"))) int chosen();
