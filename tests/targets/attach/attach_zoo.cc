// tests/targets/attach/attach_zoo.cc: programs that stand where it is hard to load a library into them.
//
// argument: which one. Each says "ready", does its work until a line comes on stdin, and ends with 0 if nothing of what
// it relies on has changed; else it says what has, and ends with 1. One that blocks is woken by that line.
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include <xmmintrin.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace {

std::atomic<bool> g_is_over{false};

[[noreturn]] void fail(const std::string& what) {
  std::printf("%s\n", what.c_str());
  std::fflush(stdout);
  _exit(1);
}

void say_ready() {
  if (write(STDOUT_FILENO, "ready\n", 6) != 6) _exit(3);
}

bool has_word() {
  pollfd word{STDIN_FILENO, POLLIN, 0};
  return poll(&word, 1, 0) > 0;
}

void await_word() {
  char byte = 0;
  while (read(STDIN_FILENO, &byte, 1) < 0) {
    if (errno != EINTR) _exit(4);
    fail("read() of a pipe ended with EINTR");
  }
}

// Calls it again and again in some threads, the first of them here.
void repeat(int threads, const std::function<void(unsigned)>& step) {
  std::vector<std::thread> others;
  for (int i = 1; i < threads; ++i) {
    others.emplace_back([&step, i] {
      for (unsigned round = static_cast<unsigned>(i); !g_is_over; ++round) step(round);
    });
  }
  say_ready();
  // The word is asked for now and then: a thread that is in the kernel for more than ten times as long as outside of it
  // is not attached to, and one that asks after each block is, on a slow machine.
  using Clock = std::chrono::steady_clock;
  auto next_look = Clock::now();
  for (unsigned round = 0;; ++round) {
    if (const auto now = Clock::now(); now >= next_look) {
      if (has_word()) break;
      next_look = now + std::chrono::milliseconds(1);
    }
    step(round);
  }
  g_is_over = true;
  for (std::thread& other : others) other.join();
}

// Blocks of all sizes, with a byte at each end that is looked at again.
void churn(unsigned round) {
  thread_local std::map<unsigned, std::pair<unsigned char*, size_t>> kept;
  auto& [block, bytes] = kept[round * 2654435761u >> 25];
  if (block != nullptr && (block[0] != 0x5a || block[bytes - 1] != 0x5a)) fail("a block was written over");
  free(block);
  bytes = 1 + (round * 40503u & 0xfff) + ((round & 63) == 0 ? 200'000u : 0);
  void* fresh = nullptr;
  if ((round & 3) == 1) {
    if (posix_memalign(&fresh, size_t{64} << (round >> 2 & 6), bytes) != 0) fail("posix_memalign");
  } else if ((round & 3) == 2) {
    fresh = calloc(1, bytes);
  } else {
    fresh = realloc(malloc(8), bytes);
  }
  block = static_cast<unsigned char*>(fresh);
  if (block == nullptr) fail("no memory");
  block[0] = block[bytes - 1] = 0x5a;
}

// A fifth of its time it counts, for the same reason.
void load_and_unload(unsigned) {
  const auto start = std::chrono::steady_clock::now();
  void* const library = dlopen("libutil.so.1", RTLD_NOW);
  if (library == nullptr) fail(dlerror());
  dlclose(library);
  const auto end = std::chrono::steady_clock::now();
  for (const auto until = end + (end - start) / 4; std::chrono::steady_clock::now() < until;) continue;
}

void fork_and_look(unsigned) {
  const pid_t child = fork();
  if (child == 0) {
    int count = 0;
    dl_iterate_phdr([](dl_phdr_info*, size_t, void* to) { return ++*static_cast<int*>(to), 0; }, &count);
    void* const library = dlopen("libutil.so.1", RTLD_NOW);
    free(malloc(100'000));
    _exit(count > 2 && library != nullptr ? 0 : 1);
  }
  int status = 0;
  for (int waits = 0; waitpid(child, &status, WNOHANG) != child; ++waits) {
    if (waits == 5000) fail("a child hangs");
    usleep(waits < 20 ? 50 : 1000);
  }
  if (status != 0) fail("a child failed");
}

// A stack of 16 KiB between two pages of data: nothing below it is a guard.
void run_on_small_stack() {
  constexpr size_t kBytes = 16384;
  auto* const area = static_cast<unsigned char*>(
      mmap(nullptr, 3 * kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  std::memset(area, 0xa5, kBytes);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstack(&attributes, area + kBytes, kBytes);
  pthread_t thread;
  const auto work = [](void*) -> void* {
    while (!g_is_over) usleep(100);
    return nullptr;
  };
  if (pthread_create(&thread, &attributes, work, nullptr) != 0) fail("pthread_create");
  say_ready();
  // The other thread is the one that can lend calls: this one is in vfork.
  if (vfork() == 0) {
    char byte;
    while (read(STDIN_FILENO, &byte, 1) < 0) {
    }
    _exit(0);
  }
  g_is_over = true;
  pthread_join(thread, nullptr);
  for (size_t i = 0; i < kBytes; ++i) {
    if (area[i] != 0xa5) fail("data below a stack was written over");
  }
}

// A receive with a timeout never ends with EINTR where no handler runs.
void receive() {
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) != 0) fail("socketpair");
  const timeval timeout{0, 300'000};
  setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
  say_ready();
  while (!has_word()) {
    char byte;
    if (recv(pair[0], &byte, 1, 0) < 0 && errno != EAGAIN) fail(std::string("recv: ") + std::strerror(errno));
  }
}

// A child looks at this process every kLook, and counts how often it finds it asleep.
constexpr std::chrono::milliseconds kLook{5};
std::atomic<int>& count_sleeps() {
  void* const shared =
      mmap(nullptr, sizeof(std::atomic<int>), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) fail("mmap");
  auto& seen = *new (shared) std::atomic<int>(0);
  const pid_t parent = getpid();
  if (fork() == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const std::string path = "/proc/" + std::to_string(parent) + "/stat";
    while (getppid() == parent) {
      std::this_thread::sleep_for(kLook);
      std::ifstream file(path);
      std::string stat;
      std::getline(file, stat);
      if (stat.find(") S ") != std::string::npos) ++seen;
    }
    _exit(0);
  }
  return seen;
}

// Sleeps as long as it wants to, and no longer; `times` as long where a call that was begun anew is no fault. A stop,
// and a processor that is not free, make it late, but they are not sleep.
void nap(std::atomic<int>& seen, int times) {
  constexpr std::chrono::milliseconds kLength{400};
  constexpr auto kMostSeen = static_cast<int>(kLength / kLook);
  constexpr int kSlack = 10;
  seen = 0;
  const timespec time{0, std::chrono::nanoseconds(kLength).count()};
  timespec left{};
  if (nanosleep(&time, &left) != 0) fail("nanosleep was interrupted");
  if (seen > times * kMostSeen + kSlack) fail("a sleep took longer");
}

void keep_errno() {
  say_ready();
  errno = EXDEV;
  dlopen("/not/there.so", RTLD_NOW);
  errno = EXDEV;
  while (!has_word()) {
    if (errno != EXDEV) fail("errno is another");
  }
  const char* const said = dlerror();
  if (said == nullptr || std::strstr(said, "/not/there.so") == nullptr) fail("dlerror() says something else");
}

void compare_pointers() {
  void* (*volatile kept)(size_t) = valloc;  // a hooked function that this program does not call
  say_ready();
  while (!has_word()) {
    void* (*volatile now)(size_t) = valloc;
    if (kept != now) fail("&valloc is another");
    usleep(100);
  }
}

// Handlers at 10 kHz that allocate nothing, on an alternate stack.
void handle_signals() {
  static char stack[65536];
  const stack_t alternate{stack, 0, sizeof stack};
  sigaltstack(&alternate, nullptr);
  struct sigaction action {};
  action.sa_handler = [](int) {};
  action.sa_flags = SA_ONSTACK | SA_RESTART;
  sigaction(SIGALRM, &action, nullptr);
  const itimerval timer{{0, 100}, {0, 100}};
  setitimer(ITIMER_REAL, &timer, nullptr);
  repeat(1, churn);
}

void change_user(unsigned) {
  if (setresuid(static_cast<uid_t>(-1), geteuid(), static_cast<uid_t>(-1)) != 0) fail("setresuid");
}

void start_and_join(unsigned) {
  std::thread([] { free(malloc(1000)); }).join();
}

void run_on_own_stack() {
  static ucontext_t back, there;
  static char stack[32768];
  getcontext(&there);
  there.uc_stack.ss_sp = stack;
  there.uc_stack.ss_size = sizeof stack;
  there.uc_link = &back;
  makecontext(
      &there, [] { repeat(1, churn); }, 0);
  swapcontext(&back, &there);
}

void be_real_time() {
  const sched_param priority{1};
  sched_setscheduler(0, SCHED_FIFO, &priority);  // where it is allowed
  repeat(2, [](unsigned round) {
    churn(round);
    if (round % 64 == 0) usleep(200);
  });
}

// Alignment checks on, floating-point exceptions unmasked, rounding down: a thread that it makes has all that, too.
void compute_strictly() {
  constexpr uint16_t kControl = 0x720;
  const uint16_t usual = 0x37f;
  say_ready();
  while (!has_word()) {
    uint64_t flags = 0;
    const uint16_t control = kControl;
    _mm_setcsr(0x3d00);
    asm volatile("fldcw %0" : : "m"(control));
    asm volatile(
        "pushfq\n orq $0x40000, (%%rsp)\n popfq\n 1: dec %%rcx\n jnz 1b\n"
        "pushfq\n pop %0\n pushfq\n andq $~0x40000, (%%rsp)\n popfq"
        : "=r"(flags)
        : "c"(20'000'000L)
        : "cc", "memory");
    const unsigned vectors = _mm_getcsr();
    uint16_t now = 0;
    asm volatile("fnstcw %0" : "=m"(now));
    asm volatile("fldcw %0" : : "m"(usual));
    _mm_setcsr(0x1f80);
    if ((flags & 0x40000) == 0 || (vectors & ~0x3fu) != 0x3d00 || (now & 0xf3f) != (kControl & 0xf3f))
      fail("flags or control words are others");
  }
}

// Makes a call that returns only what it was done to the end for, while another thread of the program sleeps.
void call_once(const std::function<void()>& call) {
  std::thread other([] {
    while (!g_is_over) usleep(20'000);
  });
  say_ready();
  call();
  g_is_over = true;
  other.join();
  await_word();
}

// A child reads what is written, once the word has come: that word is left for the parent.
void write_whole() {
  constexpr size_t kBytes = 1 << 20;
  int ends[2];
  if (pipe(ends) != 0) fail("pipe");
  if (fork() == 0) {
    close(ends[1]);
    while (!has_word()) usleep(10'000);
    std::vector<char> bytes(65536);
    while (read(ends[0], bytes.data(), bytes.size()) > 0) {
    }
    _exit(0);
  }
  const std::vector<char> bytes(kBytes);
  const ssize_t written = write(ends[1], bytes.data(), bytes.size());
  if (written != static_cast<ssize_t>(kBytes)) fail("a write() of 1 MiB wrote " + std::to_string(written));
}

void receive_whole() {
  int pair[2];
  char bytes[10] = {};
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0 || write(pair[1], "abc", 3) != 3) fail("socketpair");
  if (fork() == 0) {
    while (!has_word()) usleep(10'000);
    _exit(write(pair[1], "defghi", 6) == 6 ? 0 : 1);
  }
  const ssize_t got = recv(pair[0], bytes, 9, MSG_WAITALL);
  if (got != 9) fail("recv() with MSG_WAITALL got " + std::to_string(got) + " of 9 bytes");
}

// No connection is accepted: the queue of the listener is full.
void connect_once() {
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t bytes = sizeof address;
  auto* const name = reinterpret_cast<sockaddr*>(&address);
  if (bind(listener, name, bytes) != 0 || listen(listener, 0) != 0 || getsockname(listener, name, &bytes) != 0)
    fail("listen");
  for (int i = 0; i < 3; ++i) connect(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), name, bytes);
  const int one = socket(AF_INET, SOCK_STREAM, 0);
  const timeval timeout{3, 0};
  setsockopt(one, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout);
  errno = 0;
  if (connect(one, name, bytes) == 0 || errno != EINPROGRESS)
    fail(std::string("connect() with a timeout ended with ") + std::strerror(errno));
}

void end_first_thread() {
  std::thread([] {
    usleep(100'000);
    say_ready();
    await_word();
    _exit(0);
  }).detach();
  pthread_exit(nullptr);
}

// A handler ends a call that has no end of its own, every time: a server that looks at its flag behind it would sleep
// on.
std::atomic<int> g_handlers{0};
void end_by_handlers() {
  const int poller = epoll_create1(0);
  epoll_event event{EPOLLIN, {}};
  if (poller < 0 || epoll_ctl(poller, EPOLL_CTL_ADD, STDIN_FILENO, &event) != 0) _exit(3);
  signal(SIGALRM, [](int) { ++g_handlers; });
  say_ready();
  constexpr itimerval kOften{{0, 7'000}, {0, 7'000}};
  setitimer(ITIMER_REAL, &kOften, nullptr);
  int ended = 0;
  for (int found = -1; found < 0; ended += found < 0 ? 1 : 0) found = epoll_wait(poller, &event, 1, -1);
  setitimer(ITIMER_REAL, nullptr, nullptr);
  await_word();
  constexpr int kMostMissed = 2;  // one may come between two calls
  if (ended + kMostMissed < g_handlers) fail(std::to_string(g_handlers - ended) + " handlers have ended no call");
}

const std::map<std::string, std::function<void()>> kKinds = {
    {"heap", [] { repeat(1, churn); }},
    {"heap_threads", [] { repeat(4, churn); }},
    {"loader", [] { repeat(1, load_and_unload); }},
    {"loader_threads", [] { repeat(3, load_and_unload); }},
    {"fork", [] { repeat(1, fork_and_look); }},
    {"fork_threads", [] { repeat(2, fork_and_look); }},
    {"join", [] { repeat(3, start_and_join); }},
    {"setuid", [] { repeat(3, change_user); }},
    {"small_stack", run_on_small_stack},
    {"own_stack", run_on_own_stack},
    {"receive", receive},
    {"sleep", [] { repeat(1, [&seen = count_sleeps()](unsigned) { nap(seen, 1); }); }},
    {"sleep_anew", [] { repeat(1, [&seen = count_sleeps()](unsigned) { nap(seen, 2); }); }},
    {"many_threads", [] { repeat(1200, [](unsigned) { free(malloc(100)), usleep(50'000); }); }},
    {"errno", keep_errno},
    {"pointers", compare_pointers},
    {"signals", handle_signals},
    {"handlers", end_by_handlers},
    {"real_time", be_real_time},
    {"strict_floats", compute_strictly},
    {"write", [] { call_once(write_whole); }},
    {"write_alone", [] { say_ready(), write_whole(), await_word(); }},
    {"waitall", [] { call_once(receive_whole); }},
    {"connect", [] { call_once(connect_once); }},
    {"first_ended", end_first_thread},
    {"pipe", [] { say_ready(), await_word(); }},
    // A constructor that runs on, and a walk of the list of libraries: both hold a lock of the loader's.
    {"walk",
     [] { dl_iterate_phdr([](dl_phdr_info*, size_t, void*) { return say_ready(), await_word(), 1; }, nullptr); }},
    {"strict",
     [] {
       say_ready();
       prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
       char byte;
       if (read(STDIN_FILENO, &byte, 1) < 0) syscall(SYS_exit, 1);
       syscall(SYS_exit, 0);
     }},
};

}  // namespace

int main(int count, char** arguments) {
  const auto kind = count < 2 ? kKinds.end() : kKinds.find(arguments[1]);
  if (kind == kKinds.end()) {
    for (const auto& [name, run] : kKinds) std::printf("%s\n", name.c_str());
    return 0;
  }
  kind->second();
  return 0;
}
