// tests/targets/attach/attach_hazards.cc: programs that an attach could harm for good, or be harmed by.
//
// argument: which one (main). Each says "ready" and does its work until a line comes on stdin, or as long as its
// function says. It ends with 0 if nothing of what it relies on has changed; else it says what has.
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

namespace {

[[noreturn]] void fail(const std::string& what) {
  std::printf("%s\n", what.c_str());
  std::fflush(stdout);
  _exit(1);
}

void say(const char* what) {
  if (write(STDOUT_FILENO, what, std::strlen(what)) < 0) _exit(3);
}

bool has_word() {
  pollfd word{STDIN_FILENO, POLLIN, 0};
  return poll(&word, 1, 0) > 0;
}

void await_word() {
  char byte = 0;
  while (read(STDIN_FILENO, &byte, 1) == 1 && byte != '\n') {
  }
}

// ---- A child with the same memory ----

int await_in_child(void*) {
  say("ready\n");
  await_word();
  _exit(0);
}

// Afterwards the heap works, in a forked child too.
void share_memory(int flags) {
  static char stack[65536];
  const pid_t child = clone(await_in_child, stack + sizeof stack, CLONE_VM | SIGCHLD | flags, nullptr);
  if (child < 0 || waitpid(child, nullptr, 0) != child) fail("clone");
  for (int i = 0; i < 100'000; ++i) free(malloc(64));
  const pid_t forked = fork();
  if (forked == 0) {
    free(malloc(5));
    _exit(7);
  }
  int status = 0;
  waitpid(forked, &status, 0);
  if (WEXITSTATUS(status) != 7) fail("a forked child fails");
}

// ---- Signals with the numbers of faults ----

struct Handled {
  std::atomic<long> count, wrong;
  std::atomic<pid_t> sender;
};
Handled* g_handled;
constexpr int kValue = 4711;

void note_signal(int, siginfo_t* about, void*) {
  const bool is_killed = about->si_code == SI_USER;
  const bool is_queued = about->si_code == SI_QUEUE && about->si_value.sival_int == kValue;
  if ((!is_killed && !is_queued) || about->si_pid != g_handled->sender) ++g_handled->wrong;
  ++g_handled->count;
}

// A child sends one after the other, by kill and by sigqueue, each when the one before has arrived.
void take_signals() {
  constexpr int kSignals[] = {SIGSEGV, SIGTRAP, SIGBUS, SIGILL, SIGFPE, SIGSYS};
  g_handled = static_cast<Handled*>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  struct sigaction action {};
  action.sa_sigaction = note_signal;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  for (const int signal : kSignals) sigaction(signal, &action, nullptr);
  const pid_t me = getpid();
  const pid_t child = fork();
  if (child == 0) {
    g_handled->sender = getpid();
    long sent = 0;
    while (!has_word()) {
      const int signal = kSignals[sent % 6];
      sigval value{};
      value.sival_int = kValue;
      if ((sent % 4 < 2 ? kill(me, signal) : sigqueue(me, signal, value)) != 0) _exit(4);
      ++sent;
      for (int waits = 0; g_handled->count.load() != sent; ++waits) {
        if (waits == 200'000) _exit(1);  // 10 s and more
        usleep(50);
      }
      usleep(100);
    }
    usleep(50'000);
    _exit(g_handled->count.load() == sent ? 0 : 2);
  }
  say("ready\n");
  int status = 0;
  while (waitpid(child, &status, WNOHANG) == 0) {
    free(malloc(100));
    usleep(200);
  }
  if (WEXITSTATUS(status) == 1) fail("a signal was lost");
  if (WEXITSTATUS(status) == 2) fail("a signal came twice");
  if (status != 0) fail("the child failed");
  if (g_handled->wrong.load() != 0) fail("a signal came not as it was sent");
}

// ---- A handler, perhaps of what interrupted malloc ----

void await_in_handler(int) {
  say("ready\n");
  while (!has_word()) {
    usleep(1000);
  }
}

asm(R"(
.text
own_restorer:
  movl $15, %eax
  syscall
)");
extern "C" void own_restorer();

// is_own: it returns by code of the program's own.
void be_in_handler(bool is_own) {
  mallopt(M_ARENA_MAX, 1);
  if (is_own) {
    struct {
      void (*handler)(int);
      unsigned long flags;
      void (*restorer)();
      unsigned long mask;
    } action{await_in_handler, 0x04000000 /* SA_RESTORER */, own_restorer, 0};
    if (syscall(SYS_rt_sigaction, SIGUSR1, &action, nullptr, 8) != 0) fail("rt_sigaction");
  } else {
    struct sigaction action {};
    action.sa_handler = await_in_handler;
    sigaction(SIGUSR1, &action, nullptr);
  }
  raise(SIGUSR1);
}

// ---- Children that outlive the attach ----

// A line has it fork a child that allocates, and another has that child start a program, which says what it was given.
void fork_and_exec() {
  say("ready\n");
  await_word();
  const pid_t child = fork();
  if (child == 0) {
    void* volatile block = malloc(1235);
    free(block);
    say("forked\n");
    await_word();
    execl("/bin/sh", "sh", "-c", "echo \"given: $LD_PRELOAD$HEAPPROF\"", nullptr);
    _exit(1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (status != 0) fail("the child failed");
}

void fork_once() {
  const pid_t child = fork();
  if (child < 0) fail(std::string("fork: ") + std::strerror(errno));
  if (child == 0) _exit(7);
  int status = 0;
  if (waitpid(child, &status, 0) != child || WEXITSTATUS(status) != 7) fail("a forked child fails");
}

// A thread that waits for children of every kind sees its own one alone.
void wait_for_all() {
  const pid_t child = fork();
  if (child == 0) {
    await_word();
    _exit(0);
  }
  std::atomic<bool> is_over{false};
  std::thread waiter([&] {
    if (waitpid(-1, nullptr, __WALL) != child) fail("a child that is not its own has ended");
    is_over = true;
  });
  say("ready\n");
  while (!is_over) {
    free(malloc(20));
    usleep(1000);
  }
  waiter.join();
}

// ---- Files as data, sleeps, namespaces, what cannot be written ----

// libc's file as those map it that look for symbols in it: where the kernel likes, which is just below the libc that is
// loaded, and once more with memory of the program's own behind it, where the file's headers say that its .bss is.
void map_libc_as_data() {
  Dl_info libc{};
  struct stat facts {};
  dladdr(reinterpret_cast<void*>(malloc_usable_size), &libc);
  const int fd = open(libc.dli_fname, O_RDONLY);
  if (fd < 0 || fstat(fd, &facts) != 0) fail("libc's file is not there");
  constexpr size_t kPage = 4096, kBehindBytes = 64 * kPage;
  const auto file_bytes = static_cast<size_t>(facts.st_size);
  const size_t front_bytes = (file_bytes + kPage - 1) / kPage * kPage;
  if (mmap(nullptr, file_bytes, PROT_READ, MAP_PRIVATE, fd, 0) == MAP_FAILED) fail("mmap");
  void* const room =
      mmap(nullptr, front_bytes + kBehindBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED || mmap(room, file_bytes, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0) != room) fail("mmap");
  auto* const own = reinterpret_cast<std::atomic<uint64_t>*>(static_cast<char*>(room) + front_bytes);
  constexpr size_t kWords = kBehindBytes / sizeof(uint64_t);
  for (size_t i = 0; i < kWords; ++i) own[i] = i + 1;
  std::atomic<bool> is_over{false};
  std::thread watcher([&] {
    while (!is_over) {
      for (size_t i = 0; i < kWords; ++i) {
        if (own[i] != i + 1) fail("its memory was written");
      }
    }
  });
  say("ready\n");
  await_word();
  is_over = true;
  watcher.join();
}

// Its period stands in the variable that gets the rest of a sleep.
void sleep_by_one_variable() {
  constexpr long kPeriodNs = 200'000'000;
  timespec period{0, kPeriodNs};
  say("ready\n");
  while (!has_word()) {
    if (nanosleep(&period, &period) != 0) fail("a sleep ends too early");
    if (period.tv_nsec != kPeriodNs) fail("its period is another");
  }
}

void join_namespaces() {
  const int own = open("/proc/self/ns/mnt", O_RDONLY);
  const bool is_possible = own >= 0 && setns(own, CLONE_NEWNS) == 0;
  say(is_possible ? "ready\n" : "not possible\nready\n");
  while (!has_word()) {
    if (is_possible && setns(own, CLONE_NEWNS) != 0) fail("setns fails");
    usleep(1000);
  }
}

void allocate_now_and_then() {
  say("ready\n");
  while (!has_word()) {
    free(malloc(33));
    usleep(1000);
  }
}

// The table by which its own calls are made cannot be written any more (mseal(2), Linux 6.10).
void seal_itself() {
  constexpr long kSeal = 462;
  bool is_sealed = false;
  dl_iterate_phdr(
      [](dl_phdr_info* object, size_t, void* sealed) {
        for (int i = 0; i < object->dlpi_phnum; ++i) {
          const ElfW(Phdr)& part = object->dlpi_phdr[i];
          if (part.p_type != PT_GNU_RELRO) continue;
          const uint64_t start = (object->dlpi_addr + part.p_vaddr) & ~uint64_t{4095};
          const uint64_t end = (object->dlpi_addr + part.p_vaddr + part.p_memsz) & ~uint64_t{4095};
          *static_cast<bool*>(sealed) = syscall(kSeal, start, end - start, 0) == 0;
        }
        return 1;  // the first is the program
      },
      &is_sealed);
  if (!is_sealed) say("not possible\n");
  allocate_now_and_then();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "vfork")
    share_memory(CLONE_VFORK);
  else if (what == "beside")
    share_memory(0);
  else if (what == "signals")
    take_signals();
  else if (what == "handler")
    be_in_handler(false);
  else if (what == "own_restorer")
    be_in_handler(true);
  else if (what == "forker")
    fork_and_exec();
  else if (what == "fork")
    fork_once();
  else if (what == "waiter")
    wait_for_all();
  else if (what == "data_copy")
    map_libc_as_data();
  else if (what == "nap")
    sleep_by_one_variable();
  else if (what == "namespaces")
    join_namespaces();
  else if (what == "sealed")
    seal_itself();
  else if (what == "allocates")
    allocate_now_and_then();
  else
    return 2;
  return 0;
}
