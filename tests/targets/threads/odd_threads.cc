// tests/targets/threads/odd_threads.cc: threads as some programs have them.
//
// usage: odd_threads waves THREADS WAVES      all of a wave live at once; the next begins when the last has ended
//        odd_threads cancelled THREADS        each is cancelled while it waits, with clean-up handlers and destructors
//                                             that allocate
//        odd_threads small_stacks THREADS     16 KiB of stack, of which each may use what a hook leaves
//        odd_threads own_storage 1|0          of a raw clone that has storage of its own, not libc's, or none: it maps,
//                                             unmaps and sets an alternate stack
//        odd_threads grown_stack ROOM         on a stack whose pages a handler of SIGSEGV gives; ROOM bytes of the
//                                             last one are left where it allocates first
//        odd_threads served_stack ROOM        likewise, by userfaultfd, from a thread that allocates
//        odd_threads own_calls 1|2            that gets its system calls back as signals, but libc's; or those of
//                                             heapprof's library alone (syscall user dispatch)
//        odd_threads leader_ends 1 spawn|exec|fexec|fexec_path PROGRAM   the first one ends, another one starts a
//                                             program; fexec…: with files of its own (fexec_path: by O_PATH)
// 95: the kernel does not have what it takes.
// Each thread keeps one block of 1235 bytes and frees one of 1237; a clean-up frees one of 1239, a destructor makes one
// of 1241.
#include "../keep.h"

#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

KEEP_FRAME void* allocate_kept() { return keep(malloc(1235)); }
KEEP_FRAME void* allocate_freed() { return keep(malloc(1237)); }
KEEP_FRAME void* allocate_for_cleanup() { return keep(malloc(1239)); }
KEEP_FRAME void* allocate_in_destructor() { return keep(malloc(1241)); }

static pthread_barrier_t g_all_there;
static int g_words[2];
static bool g_waits_for_cancel;

struct AllocatesAtEnd {
  KEEP_FRAME ~AllocatesAtEnd() { free(allocate_in_destructor()); }
};

static void clean_up(void* block) { free(block); }

KEEP_FRAME static void wait_for_ever() {
  AllocatesAtEnd guard;
  keep(&guard);
  pthread_cleanup_push(clean_up, allocate_for_cleanup());
  (void)!write(g_words[1], "x", 1);
  for (;;) pause();
  pthread_cleanup_pop(0);
}

KEEP_FRAME static void use_stack(unsigned bytes) {  // goes as deep as the thread's stack allows beside a hook
  char space[256];
  memset(keep(space), 1, sizeof space);
  if (bytes > sizeof space) use_stack(bytes - static_cast<unsigned>(sizeof space));
  free(allocate_freed());
  keep(space);
}

static void* run_thread(void* argument) {
  allocate_kept();
  if (g_waits_for_cancel) wait_for_ever();
  if (argument != nullptr) {
    use_stack(1024);
  } else {
    free(allocate_freed());
  }
  pthread_barrier_wait(&g_all_there);
  return nullptr;
}

static bool run_wave(unsigned threads, size_t stack_bytes, void* argument) {
  pthread_t ids[1024];
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, stack_bytes);
  pthread_barrier_init(&g_all_there, nullptr, threads);
  for (unsigned i = 0; i < threads; ++i) {
    if (pthread_create(&ids[i], &attributes, run_thread, argument) != 0) return false;
  }
  if (g_waits_for_cancel) {
    char byte;
    for (unsigned i = 0; i < threads; ++i) (void)!read(g_words[0], &byte, 1);
    for (unsigned i = 0; i < threads; ++i) pthread_cancel(ids[i]);
  }
  for (unsigned i = 0; i < threads; ++i) {
    void* result;
    pthread_join(ids[i], &result);
    if ((result == PTHREAD_CANCELED) != g_waits_for_cancel) return false;
  }
  return pthread_barrier_destroy(&g_all_there) == 0;
}

// ---- Stacks whose pages come when they are used ----

constexpr size_t kPageBytes = 4096;
constexpr size_t kGrownBytes = 1 << 20;
static char* g_grown;
static size_t g_room;
static int g_faults;

static void give_page(int, siginfo_t* about, void*) {
  char* const at = static_cast<char*>(about->si_addr);
  if (at < g_grown || at >= g_grown + kGrownBytes) _exit(94);
  mprotect(g_grown + (at - g_grown) / kPageBytes * kPageBytes, kPageBytes, PROT_READ | PROT_WRITE);
}

static void* serve_pages(void*) {
  alignas(kPageBytes) static char zeros[kPageBytes];
  for (uffd_msg message; read(g_faults, &message, sizeof message) == sizeof message;) {
    void* const block = allocate_freed();
    uffdio_copy copy{};
    copy.dst = message.arg.pagefault.address / kPageBytes * kPageBytes;
    copy.src = reinterpret_cast<uint64_t>(zeros);
    copy.len = kPageBytes;
    ioctl(g_faults, UFFDIO_COPY, &copy);
    free(block);
  }
  return nullptr;
}

static void allocate_near_page_end() {
  const size_t room = reinterpret_cast<size_t>(__builtin_frame_address(0)) % kPageBytes;
  volatile char* const space = static_cast<volatile char*>(__builtin_alloca(room > g_room ? room - g_room : 16));
  space[0] = 1;
  free(allocate_freed());
}

static void* run_on_grown_stack(void*) {
  static char alternate[65536];
  static ucontext_t here;
  static ucontext_t there;
  const stack_t stack{alternate, 0, sizeof alternate};
  sigaltstack(&stack, nullptr);
  getcontext(&there);
  there.uc_stack.ss_sp = g_grown;
  there.uc_stack.ss_size = kGrownBytes;
  there.uc_link = &here;
  makecontext(&there, allocate_near_page_end, 0);
  swapcontext(&here, &there);
  return nullptr;
}

static bool run_thread_to_end(void* (*function)(void*), void* argument = nullptr) {
  pthread_t id;
  return pthread_create(&id, nullptr, function, argument) == 0 && pthread_join(id, nullptr) == 0;
}

static int grow_stack(bool is_served) {
  const int protection = is_served ? PROT_READ | PROT_WRITE : PROT_NONE;
  g_grown = static_cast<char*>(mmap(nullptr, kGrownBytes, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  if (g_grown == MAP_FAILED) return 96;
  if (is_served) {
    uffdio_api api{};
    api.api = UFFD_API;
    uffdio_register range{};
    range.range = {reinterpret_cast<uint64_t>(g_grown), kGrownBytes - kPageBytes};
    range.mode = UFFDIO_REGISTER_MODE_MISSING;
    g_faults = static_cast<int>(syscall(SYS_userfaultfd, O_CLOEXEC));
    if (g_faults < 0 || ioctl(g_faults, UFFDIO_API, &api) != 0 || ioctl(g_faults, UFFDIO_REGISTER, &range) != 0)
      return 95;
    pthread_t server;
    if (pthread_create(&server, nullptr, serve_pages, nullptr) != 0) return 96;
  } else {
    struct sigaction action {};
    action.sa_sigaction = give_page;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigaction(SIGSEGV, &action, nullptr);
    mprotect(g_grown + kGrownBytes - kPageBytes, kPageBytes, PROT_READ | PROT_WRITE);
  }
  return run_thread_to_end(run_on_grown_stack) ? 0 : 96;
}

// ---- System calls that come back ----

static volatile char g_is_dispatching;
static volatile int g_calls_from_elsewhere;

static void note_call(int, siginfo_t*, void*) {
  g_is_dispatching = SYSCALL_DISPATCH_FILTER_ALLOW;
  g_calls_from_elsewhere = g_calls_from_elsewhere + 1;
}

static dl_phdr_info find_library(const char* name) {
  struct Search {
    const char* name;
    dl_phdr_info found;
  } search{name, {}};
  dl_iterate_phdr(
      [](dl_phdr_info* object, size_t, void* data) {
        auto* const one = static_cast<Search*>(data);
        if (strstr(object->dlpi_name, one->name) != nullptr) one->found = *object;
        return 0;
      },
      &search);
  return search.found;
}

// mode: 1: all but libc's come back, 2: heapprof's do.
static void* allocate_while_dispatching(void* mode) {
  const bool is_inclusive = *static_cast<const char*>(mode) == '2';  // since Linux 6.17
  const dl_phdr_info library = find_library(is_inclusive ? "libheapprof.so" : "libc.so.6");
  for (int i = 0; i < library.dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = library.dlpi_phdr[i];
    if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0) continue;
    if (prctl(PR_SET_SYSCALL_USER_DISPATCH, is_inclusive ? 2 : 1, library.dlpi_addr + part.p_vaddr, part.p_memsz,
              &g_is_dispatching) != 0)
      _exit(95);
  }
  g_is_dispatching = SYSCALL_DISPATCH_FILTER_BLOCK;
  for (int i = 0; i < 100; ++i) free(allocate_freed());
  g_is_dispatching = SYSCALL_DISPATCH_FILTER_ALLOW;
  return nullptr;
}

static int dispatch_calls(char* mode) {
  struct sigaction action {};
  action.sa_sigaction = note_call;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSYS, &action, nullptr);
  if (!run_thread_to_end(allocate_while_dispatching, mode)) return 96;
  printf("calls from elsewhere: %d\n", g_calls_from_elsewhere);
  return 0;
}

// ---- A process without its first thread ----

static void* start_program(void* words) {
  char** const how = static_cast<char**>(words);  // "spawn", …, and the program
  usleep(200'000);                                // until the first thread has ended
  int status = 96;
  if (strcmp(how[0], "exec") == 0) {
    execve(how[1], how + 1, environ);
  } else if (strncmp(how[0], "fexec", 5) == 0) {
    constexpr int kUnusual = 99;  // the process's first files have no such number
    if (unshare(CLONE_FILES) != 0) _exit(95);
    const int flags = strcmp(how[0], "fexec_path") == 0 ? O_PATH : O_RDONLY;
    fexecve(dup3(open(how[1], flags | O_CLOEXEC), kUnusual, O_CLOEXEC), how + 1, environ);
  } else if (pid_t child; posix_spawn(&child, how[1], nullptr, nullptr, how + 1, environ) == 0) {
    waitpid(child, &status, 0);
  }
  _exit(status == 0 ? 0 : 96);
}

static volatile int g_has_mapped;

// Called by pointers: the loader binds a call of a thread with storage alone.
static int map_and_end(void*) {
  static auto* volatile map = mmap;
  static auto* volatile unmap = munmap;
  static auto* volatile set_stack = sigaltstack;
  static char handlers_stack[64 << 10];
  stack_t stack{};
  stack.ss_sp = handlers_stack;
  stack.ss_size = sizeof handlers_stack;
  void* pages = map(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages != MAP_FAILED && unmap(pages, 8192) == 0 && set_stack(&stack, nullptr) == 0) g_has_mapped = 1;
  for (;;) asm volatile("syscall" : : "a"(SYS_exit), "D"(0) : "rcx", "r11", "memory");
}

// What lies below the block of storage cannot be read; `has_any`: else there is none.
static bool run_with_own_storage(bool has_any) {
  constexpr int kThread =
      CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_SETTLS;
  const auto map = [](size_t bytes, int protection) {
    return static_cast<char*>(mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  };
  char* stack = map(64 << 10, PROT_READ | PROT_WRITE);
  char* storage = map(2 * 4096, PROT_NONE) + 4096;
  if (mprotect(storage, 4096, PROT_READ | PROT_WRITE) != 0) return false;
  void** words = reinterpret_cast<void**>(storage);
  words[0] = words[2] = storage;
  if (clone(map_and_end, stack + (64 << 10), kThread, nullptr, nullptr, has_any ? storage : nullptr) < 0) return false;
  for (int i = 0; i < 10000 && !g_has_mapped; ++i) usleep(1000);
  return g_has_mapped != 0;
}

int main(int argc, char** argv) {
  if (argc < 3) return 98;
  if (strcmp(argv[1], "own_storage") == 0) return run_with_own_storage(argv[2][0] != '0') ? 0 : 96;
  g_room = static_cast<size_t>(atoi(argv[2]));
  if (strcmp(argv[1], "grown_stack") == 0) return grow_stack(false);
  if (strcmp(argv[1], "served_stack") == 0) return grow_stack(true);
  if (strcmp(argv[1], "own_calls") == 0) return dispatch_calls(argv[2]);
  if (strcmp(argv[1], "leader_ends") == 0 && argc > 4) {
    pthread_t id;
    if (pthread_create(&id, nullptr, start_program, argv + 3) != 0) return 96;
    pthread_exit(nullptr);
  }
  const auto threads = static_cast<unsigned>(atoi(argv[2]));
  if (threads == 0 || threads > 1024) return 98;
  if (strcmp(argv[1], "cancelled") == 0) {
    g_waits_for_cancel = true;
    if (pipe(g_words) != 0) return 97;
    return run_wave(threads, 256 << 10, nullptr) ? 0 : 96;
  }
  if (strcmp(argv[1], "small_stacks") == 0) return run_wave(threads, PTHREAD_STACK_MIN, argv) ? 0 : 96;
  for (int wave = 0; wave < atoi(argv[3]); ++wave) {
    if (!run_wave(threads, 64 << 10, nullptr)) return 96;
  }
  return 0;
}
