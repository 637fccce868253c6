// tests/targets/nvtx/nvtx_ranges.cc: a program with ranges of NVTX and its own books of them.
//
//   nvtx_ranges random SEED THREADS OPERATIONS BOOKS   random work: pushes and pops in domains that overlap, ranges
//                                                      that end in other threads, ends of what is not open
//   nvtx_ranges HOW                                    one case; the script says what has to be in the profile
#include "tests/targets/nvtx/parts/own_nvtx.h"

#include <heapprof/heapprof.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

namespace {

using namespace own_nvtx;

void keep(void* block) { asm volatile("" : : "r"(block) : "memory"); }
void* leak(size_t size_bytes) {
  void* block = std::malloc(size_bytes);
  keep(block);
  return block;
}
void expect(bool is_so, const char* what) {
  if (is_so) return;
  std::fprintf(stderr, "not so: %s\n", what);
  std::_Exit(3);
}

// ---- Random work: books in static memory, and nothing here allocates ----

constexpr uint32_t kNames = 5;
constexpr uint32_t kDomains = 3;  // [0]: the default one
constexpr uint32_t kMostPaths = 16384;
constexpr uint32_t kMostDepth = 4;  // of a path
constexpr uint32_t kMostFrames = 10;
constexpr size_t kHeld = 48;
constexpr size_t kMostApart = 64;

const char* const kTexts[kNames] = {"read", "parse", "ende ä", "", "step"};
const wchar_t* const kWide[kNames] = {L"read", L"parse", L"ende \u00e4", L"", L"step"};
const char* const kDomainNames[kDomains] = {"", "io", "net ü"};
void* g_domains[kDomains];
void* g_strings[kDomains][kNames];

struct Tally {
  std::atomic<uint64_t> begun, ended, items, bytes, blocks, freed_bytes, freed_blocks, peak;
};
struct Path {
  uint32_t parent, name, depth;  // name: domain * kNames + text
};
Path g_paths[kMostPaths];
Tally g_tallies[kMostPaths];
uint32_t g_path_count = 1;  // [0]: outside of all
std::atomic<uint64_t> g_unmatched;
pthread_mutex_t g_lock = PTHREAD_MUTEX_INITIALIZER;

uint32_t path_to(uint32_t parent, uint32_t name) {
  pthread_mutex_lock(&g_lock);
  uint32_t path = 1;
  while (path < g_path_count && (g_paths[path].parent != parent || g_paths[path].name != name)) ++path;
  if (path == g_path_count) {
    if (path == kMostPaths) std::abort();
    g_paths[g_path_count++] = {parent, name, g_paths[parent].depth + 1};
  }
  pthread_mutex_unlock(&g_lock);
  return path;
}

struct Frame {
  uint32_t path, domain;
  int64_t growth, peak;
};
struct Block {
  void* address;
  size_t size_bytes;
};
struct Apart {
  uint64_t range;
  uint32_t path, domain;
};
Apart g_apart[kMostApart];
size_t g_apart_count = 0;

struct Worker {
  uint64_t random = 0;
  uint64_t operations = 0;
  Frame frames[kMostFrames] = {};
  uint32_t depth = 0;
  Block held[kHeld] = {};

  uint64_t next(uint64_t below) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    return (random >> 33) % below;
  }
  uint32_t path() const { return depth == 0 ? 0 : frames[depth - 1].path; }
  void change(int64_t bytes) {
    for (uint32_t i = 0; i < depth; ++i) {
      frames[i].growth += bytes;
      if (frames[i].growth > frames[i].peak) frames[i].peak = frames[i].growth;
    }
  }

  // A message in one of its forms, and a payload, which may be no number of items.
  Event make_event(uint32_t domain, uint32_t text, uint64_t* items) {
    Event event;
    switch (next(3)) {
      case 0: event = text_event(kTexts[text]); break;
      case 1: event = wide_event(kWide[text]); break;
      default: event = registered_event(g_strings[domain][text]);
    }
    *items = 0;
    switch (next(12)) {
      case 0:
        event.payload_type = 1;
        *items = event.payload.u64 = next(1u << 20) << 12;
        break;
      case 1:
        event.payload_type = 2;
        event.payload.i64 = next(2) == 0 ? -5 : 5;
        *items = event.payload.i64 > 0 ? 5 : 0;
        break;
      case 2:
        event.payload_type = 4;
        event.payload.u64 = 0xdeadbeef00000007;
        *items = 7;
        break;
      case 3:
        event.payload_type = 5;
        event.payload.i64 = next(2) == 0 ? 9 : static_cast<uint32_t>(-9);
        *items = event.payload.i64 == 9 ? 9 : 0;
        break;
      case 4:
        event.payload_type = 3;
        event.payload.f64 = 2.5;
        break;
      default: break;
    }
    return event;
  }
  int level_of(uint32_t domain) const {
    int level = 0;
    for (uint32_t i = 0; i < depth; ++i) level += frames[i].domain == domain;
    return level;
  }

  void begin() {
    if (depth >= kMostFrames || g_paths[path()].depth >= kMostDepth) return;
    const auto domain = static_cast<uint32_t>(next(kDomains));
    const auto text = static_cast<uint32_t>(next(kNames));
    Frame& frame = frames[depth];
    frame = {path_to(path(), domain * kNames + text), domain, 0, 0};
    ++g_tallies[frame.path].begun;
    uint64_t items = 0;
    int got;
    if (domain == 0 && next(2) == 0) {
      got = next(2) == 0 ? push(kTexts[text]) : push_wide(kWide[text]);
    } else {
      const Event event = make_event(domain, text, &items);
      got = domain == 0 ? push_event(&event) : push_in(g_domains[domain], &event);
    }
    if (got != level_of(domain)) g_levels_differ = true;
    g_tallies[frame.path].items += items;
    ++depth;
  }
  void end(uint32_t domain) {
    const int got = domain == 0 ? pop() : pop_in(g_domains[domain]);
    uint32_t at = depth;
    while (at > 0 && frames[at - 1].domain != domain) --at;
    if (at == 0) {
      ++g_unmatched;
      if (got >= 0) g_levels_differ = true;
      return;
    }
    const Frame frame = frames[at - 1];
    for (uint32_t i = at; i < depth; ++i) frames[i - 1] = frames[i];
    --depth;
    if (got != level_of(domain)) g_levels_differ = true;
    Tally& tally = g_tallies[frame.path];
    ++tally.ended;
    uint64_t was = tally.peak;
    while (frame.peak > static_cast<int64_t>(was) &&
           !tally.peak.compare_exchange_weak(was, static_cast<uint64_t>(frame.peak))) {
    }
  }
  void start_apart() {
    const auto domain = static_cast<uint32_t>(next(kDomains));
    const auto text = static_cast<uint32_t>(next(kNames));
    uint64_t items = 0;
    const Event event = make_event(domain, text, &items);
    const uint32_t of = path_to(0, domain * kNames + text);
    pthread_mutex_lock(&g_lock);
    if (g_apart_count < kMostApart) {
      Apart& apart = g_apart[g_apart_count++];
      apart = {0, of, domain};
      if (domain != 0) {
        apart.range = start_in(g_domains[domain], &event);
      } else if (items != 0 || next(2) == 0) {
        apart.range = start_event(&event);
      } else {
        apart.range = next(2) == 0 ? start_range(kTexts[text]) : start_wide(kWide[text]);
      }
      ++g_tallies[of].begun;
      g_tallies[of].items += items;
    }
    pthread_mutex_unlock(&g_lock);
  }
  void end_apart() {
    pthread_mutex_lock(&g_lock);
    if (g_apart_count != 0) {
      Apart& apart = g_apart[next(g_apart_count)];
      const auto finish = [&apart] {
        if (apart.domain == 0) return end_range(apart.range);
        end_in(g_domains[apart.domain], apart.range);
      };
      finish();
      ++g_tallies[apart.path].ended;
      if (next(10) == 0) {  // it has ended already
        finish();
        ++g_unmatched;
      }
      apart = g_apart[--g_apart_count];
    }
    pthread_mutex_unlock(&g_lock);
  }
  void allocate_or_free() {
    Block& block = held[next(kHeld)];
    Tally& tally = g_tallies[path()];
    if (block.address != nullptr) {
      tally.freed_bytes += block.size_bytes;
      ++tally.freed_blocks;
      change(-static_cast<int64_t>(block.size_bytes));
      std::free(block.address);
      block.address = nullptr;
      return;
    }
    block.size_bytes = 1 + next(next(20) == 0 ? 60'000 : 900);
    block.address = leak(block.size_bytes);
    tally.bytes += block.size_bytes;
    ++tally.blocks;
    change(static_cast<int64_t>(block.size_bytes));
  }

  void step() {
    const uint64_t choice = next(100);
    if (choice < 18) return begin();
    if (choice < 37) return depth == 0 ? begin() : end(frames[next(depth)].domain);
    if (choice < 38) return end(static_cast<uint32_t>(next(kDomains)));
    if (choice < 42) return start_apart();
    if (choice < 47) return end_apart();
    allocate_or_free();
  }
  static void* run(void* self) {
    Worker& worker = *static_cast<Worker*>(self);
    for (uint64_t i = 0; i < worker.operations; ++i) worker.step();
    while (worker.depth != 0) worker.end(worker.frames[0].domain);
    return nullptr;
  }
  static std::atomic<bool> g_levels_differ;
};
std::atomic<bool> Worker::g_levels_differ;

constexpr size_t kMostThreads = 64;
Worker g_workers[kMostThreads];

void print_path(FILE* file, uint32_t path) {
  if (g_paths[path].parent != 0) {
    print_path(file, g_paths[path].parent);
    std::fputs(" > ", file);
  }
  const uint32_t name = g_paths[path].name;
  if (name / kNames != 0) std::fprintf(file, "%s:", kDomainNames[name / kNames]);
  std::fputs(kTexts[name % kNames], file);
}

void register_names() {
  for (uint32_t domain = 0; domain < kDomains; ++domain) {
    if (domain == 1) g_domains[domain] = create_domain(kDomainNames[domain]);
    if (domain == 2) g_domains[domain] = create_domain_wide(L"net \u00fc");
    for (uint32_t text = 0; text < kNames; ++text) {
      g_strings[domain][text] = text % 2 == 0 ? register_string(g_domains[domain], kTexts[text])
                                              : register_wide(g_domains[domain], kWide[text]);
    }
  }
}

int random_work(char** words) {
  const size_t threads = std::strtoul(words[1], nullptr, 10);
  if (threads == 0 || threads > kMostThreads) return 2;
  FILE* const file = std::fopen(words[3], "w");
  static char buffer[1 << 16];
  std::setvbuf(file, buffer, _IOFBF, sizeof buffer);
  push("all");  // the first call; what it allocates is the loader's
  pop();
  register_names();
  heapprof_stats before{};
  heapprof_get_stats("host", &before);
  push("all");
  pthread_t ids[kMostThreads];
  for (size_t i = 0; i < threads; ++i) {
    g_workers[i].random = std::strtoull(words[0], nullptr, 10) * 1000 + i;
    g_workers[i].operations = std::strtoull(words[2], nullptr, 10) / threads;
    if (i != 0) pthread_create(&ids[i], nullptr, Worker::run, &g_workers[i]);
  }
  for (size_t i = 1; i < threads; ++i) pthread_join(ids[i], nullptr);
  pop();
  Worker::run(&g_workers[0]);
  while (g_apart_count != 0) g_workers[0].end_apart();
  heapprof_stats after{};
  heapprof_get_stats("host", &after);
  const auto number = [](const std::atomic<uint64_t>& value) { return static_cast<unsigned long long>(value); };
  std::fprintf(file, "TOTAL %llu %llu\n", static_cast<unsigned long long>(after.total_bytes - before.total_bytes),
               static_cast<unsigned long long>(after.total_blocks - before.total_blocks));
  for (uint32_t path = 0; path < g_path_count; ++path) {
    const Tally& t = g_tallies[path];
    if (path == 0) std::fprintf(file, "OUTSIDE %llu %llu\n", number(t.bytes), number(t.blocks));
    if (path == 0) continue;
    print_path(file, path);
    std::fprintf(file, ": %llu %llu 0 %llu | %llu %llu %llu %llu %llu | 0 0 0\n", number(t.begun), number(t.ended),
                 number(t.items), number(t.bytes), number(t.blocks), number(t.freed_bytes), number(t.freed_blocks),
                 number(t.peak));
  }
  std::fclose(file);
  std::printf("%llu\n", number(g_unmatched));
  if (g_own.result == 1) expect(!Worker::g_levels_differ, "levels are as NVTX has them");
  return 0;
}

// ---- One case each ----

int messages() {
  const Event none{};
  push_event(&none);
  pop();
  push(nullptr);
  pop();
  push_event(nullptr);
  pop();
  Event small = text_event("not read");
  small.size = 40;
  push_event(&small);
  pop();
  push_wide(L"\u20ac\U0001f600\xd800");
  pop();
  static std::wstring long_wide(200, L'\u00e4');
  push_wide(long_wide.c_str());
  pop();
  Event unknown = registered_event(reinterpret_cast<void*>(0x10));
  push_event(&unknown);
  pop();
  name_category(7, "seven");
  name_category_wide(8, L"eight \u00e4");
  name_category(7, "renamed");
  for (uint32_t category = 6; category <= 8; ++category) {
    Event event = text_event("in a category");
    event.category = category;
    push_event(&event);
    pop();
  }
  void* const domain = create_domain("a domain");
  expect(domain == create_domain("a domain"), "a domain of one name is one");
  Event in_domain = text_event("in a domain");
  in_domain.category = 7;
  push_in(domain, &in_domain);
  pop_in(domain);
  char reused[] = "registered";
  void* const registered = register_string(domain, reused);
  std::memcpy(reused, "overwrites", sizeof reused);
  Event event = registered_event(registered);
  push_in(domain, &event);
  pop_in(domain);
  push_event(&event);  // in another domain than its own
  pop();
  return 0;
}

int levels() {
  expect(push("a") == 0 && push("b") == 1 && push("c") == 2, "levels from 0 on");
  void* const domain = create_domain("d");
  const Event event = text_event("x");
  expect(push_in(domain, &event) == 0 && push_in(domain, &event) == 1, "levels of a domain");
  expect(pop() == 2 && pop_in(domain) == 1 && pop() == 1 && pop_in(domain) == 0 && pop() == 0, "levels of pops");
  expect(pop() < 0 && pop_in(domain) < 0, "pops of nothing");
  end_range(0);
  for (int i = 0; i < 1500; ++i) push("deep");
  for (int i = 0; i < 1500; ++i) expect(pop() == 1499 - i, "levels of deep pops");
  expect(pop() < 0, "a pop of nothing");
  return 0;
}

int overlaps() {  // a domain's pop ends nothing of the other's
  void* const domain = create_domain("other");
  const Event event = text_event("b");
  push("a");
  leak(100);
  push_in(domain, &event);
  leak(1000);
  pop();
  leak(10000);
  pop_in(domain);
  leak(5);
  return 0;
}

void* end_elsewhere(void* range) {
  end_range(*static_cast<uint64_t*>(range));
  leak(3);
  return nullptr;
}
int elsewhere() {
  push("around");
  uint64_t first = start_range("request");
  leak(100);
  const uint64_t second = start_range("request");
  pthread_t thread;
  pthread_create(&thread, nullptr, end_elsewhere, &first);
  pthread_join(thread, nullptr);
  end_range(second);
  end_range(second);
  start_range("never ended");
  pop();
  return 0;
}

void* in_thread(void*) {
  push("thread");
  push("never popped");
  leak(1235);
  return nullptr;
}
int threads() {
  pthread_t ids[64];
  for (pthread_t& id : ids) pthread_create(&id, nullptr, in_thread, nullptr);
  for (pthread_t& id : ids) pthread_join(id, nullptr);
  // A thread that comes after them has none of their levels.
  pthread_t late;
  pthread_create(
      &late, nullptr,
      [](void*) -> void* {
        expect(push("late") == 0 && pop() == 0, "a new thread's levels");
        return nullptr;
      },
      nullptr);
  pthread_join(late, nullptr);
  return 0;
}

int forks() {
  void* const domain = create_domain("family");
  const Event event = registered_event(register_string(domain, "parent"));
  push_in(domain, &event);
  uint64_t range = start_range("request");
  leak(111);
  const pid_t child = fork();
  if (child == 0) {
    end_range(range);  // its parent's
    expect(push_in(domain, &event) == 0, "a child's levels");
    leak(2470);
    expect(pop_in(domain) == 0 && pop_in(domain) < 0, "a child's levels");
    std::_Exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  expect(status == 0, "the child ended well");
  pop_in(domain);
  end_range(range);
  return 0;
}

int execs(char* self) {
  push("before");
  leak(5);
  char* const words[] = {self, const_cast<char*>("overlaps"), nullptr};
  char* const nothing[] = {nullptr};
  execve(self, words, nothing);  // the variable comes from the agent
  return 4;
}

int second(char* library, int level) {
  void* const handle = dlopen(library, RTLD_NOW);
  const auto second_push = reinterpret_cast<int (*)(const char*)>(dlsym(handle, "second_push"));
  const auto second_pop = reinterpret_cast<int (*)()>(dlsym(handle, "second_pop"));
  expect(second_push != nullptr && second_pop != nullptr, "the library is there");
  push("outer");
  leak(10);
  expect(second_push("inner") == (g_own.result == 1 ? level : -2), "the level goes on");
  leak(200);
  second_pop();
  leak(3);
  pop();
  return 0;
}

// The program gives NVTX another tool in its midst: what uses it first from then on has that tool alone.
int other_tool_later(char* library, char* tool) {
  push("outer");
  leak(10);
  setenv("NVTX_INJECTION64_PATH", tool, 1);
  second(library, 100);  // the other tool's
  pop();
  return 0;
}

// What a library may do with the handle of the tool that the variable names, besides starting it: ask for a function
// that no tool has (as NVTX's extensions do), for one that all have, and close it.
int other_questions() {
  const char* const path = getenv("NVTX_INJECTION64_PATH");
  void* const handle = path == nullptr ? nullptr : dlopen(path, RTLD_LAZY);
  expect(handle != nullptr, "the tool is there");
  expect(dlsym(handle, "InitializeInjectionNvtxExtension") == nullptr, "the tool has no extensions");
  expect(dlerror() != nullptr, "why not");
  expect(dlsym(handle, "no such function") == nullptr, "a function that nobody has");
  dlerror();
  expect(dlsym(handle, "strlen") == reinterpret_cast<void*>(&strlen), "a function that libc has");
  link_map* object = nullptr;
  expect(dlinfo(handle, RTLD_DI_LINKMAP, &object) == 0 && object != nullptr, "the loader knows the handle");
  expect(dlclose(handle) == 0, "the tool is closed");
  push("after");
  leak(10);
  pop();
  return 0;
}

int marks() {
  mark("start");
  leak(1 << 20);
  mark_wide(L"l\u00e4uft");
  void* const domain = create_domain("d");
  const Event event = text_event("in it");
  mark_in(domain, &event);
  mark_event(&event);
  return 0;
}

// With a tool of its own, which is asked what it heard.
int with_tool(char* tool) {
  name_category(1, "one");
  void* const domain = create_domain("theirs");
  void* const text = register_string(domain, "registered");
  const Event event = registered_event(text);
  const int first = push("a");
  leak(100);
  const int inner = push_in(domain, &event);
  leak(1000);
  const uint64_t range = start_in(domain, &event);
  const uint64_t other = start_range("b");
  Event in_default = text_event("c");  // the tool does not hear of these
  push_event(&in_default);
  leak(7);
  pop();
  end_in(domain, range);
  end_range(other);
  pop_in(domain);
  mark("m");
  std::printf("levels %d %d, result %d\n", first, inner, g_own.result);
  void* const handle = dlopen(tool, RTLD_NOW | RTLD_NOLOAD);
  if (handle != nullptr) reinterpret_cast<void (*)()>(dlsym(handle, "tool_print"))();
  return 0;
}

std::atomic<uint64_t> g_handled;
void handle(int) {
  const int saved = errno;
  push("handler");
  pop();
  ++g_handled;
  errno = saved;
}
// A handler's first record in a process that has had one thread may come before that of what it interrupted: here there
// has been another thread.
int timer() {
  pthread_t other;
  pthread_create(
      &other, nullptr, [](void*) -> void* { return nullptr; }, nullptr);
  pthread_join(other, nullptr);
  push("first");  // a handler that interrupts NVTX's own start would wait for it for ever
  pop();
  struct sigaction action {};
  action.sa_handler = handle;
  sigaction(SIGALRM, &action, nullptr);
  const itimerval often = {{0, 200}, {0, 200}};
  setitimer(ITIMER_REAL, &often, nullptr);
  uint64_t rounds = 0;
  for (; g_handled < 2000; ++rounds) {
    errno = 77;
    const Event event = text_event("work");
    push_event(&event);
    std::free(leak(100));
    pop();
    expect(errno == 77, "errno is as before");
  }
  const itimerval never = {};
  setitimer(ITIMER_REAL, &never, nullptr);
  std::printf("%llu %llu\n", static_cast<unsigned long long>(rounds), static_cast<unsigned long long>(g_handled));
  return 0;
}

int names(char* count) {
  char text[32];
  for (unsigned i = 0; i < std::strtoul(count, nullptr, 10); ++i) {
    std::snprintf(text, sizeof text, "step %u", i);
    push(text);
    leak(16);
    pop();
  }
  return 0;
}

// What a pair costs: nanoseconds, with what the message is as text and as a registered string.
int cost() {
  const auto now_ns = [] {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
  };
  const Event registered = registered_event(register_string(nullptr, "a registered string"));
  constexpr int kPairs = 300'000;
  double best[2] = {1e18, 1e18};
  for (int round = 0; round < 14; ++round) {
    const double start = now_ns();
    for (int i = 0; i < kPairs; ++i) {
      if (round % 2 == 0) {
        push("forward pass");
      } else {
        push_event(&registered);
      }
      pop();
    }
    const double each = (now_ns() - start) / kPairs;
    if (each < best[round % 2]) best[round % 2] = each;
  }
  std::printf("%.1f ns with a text, %.1f ns with a registered string\n", best[0], best[1]);
  return 0;
}

// The first call of NVTX in a handler that interrupts malloc, in one process after the other.
int first_in_handler() {
  for (int i = 0; i < 40; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      struct sigaction action {};
      action.sa_handler = [](int) {
        push("in a handler");
        pop();
        g_handled = g_handled + 1;
      };
      sigaction(SIGALRM, &action, nullptr);
      const itimerval often = {{0, 100}, {0, static_cast<suseconds_t>(100 + i)}};
      setitimer(ITIMER_REAL, &often, nullptr);
      void* blocks[200];
      while (g_handled < 5) {
        for (size_t block = 0; block < 200; ++block) keep(blocks[block] = std::malloc(20 + block * 37));
        for (void* const block : blocks) std::free(block);
      }
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child ends as it means to");
  }
  return 0;
}

// The same where no system call but read, write and exit is left.
int first_behind_filter() {
  prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
  push("behind a filter");
  pop();
  static const char kAlive[] = "alive\n";
  const ssize_t written = write(STDOUT_FILENO, kAlive, sizeof kAlive - 1);
  syscall(SYS_exit, written < 0);
  return 0;
}

// Whether blocks lie where they lie without a profiler.
int addresses() {
  char* const first = static_cast<char*>(leak(24));
  push("between");
  char* const second = static_cast<char*>(leak(24));
  pop();
  std::printf("%td\n", second - first);
  return 0;
}

int old_name() {
  g_initialize_name = "InitializeInjectionNvtx";
  return overlaps();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string how = argc > 1 ? argv[1] : "";
  if (how == "random" && argc == 6) return random_work(argv + 2);
  if (how == "messages") return messages();
  if (how == "levels") return levels();
  if (how == "overlaps") return overlaps();
  if (how == "old_name") return old_name();
  if (how == "elsewhere") return elsewhere();
  if (how == "threads") return threads();
  if (how == "forks") return forks();
  if (how == "execs") return execs(argv[0]);
  if (how == "second" && argc == 3) return second(argv[2], 1);
  if (how == "other_tool_later" && argc == 4) return other_tool_later(argv[2], argv[3]);
  if (how == "other_questions") return other_questions();
  if (how == "marks") return marks();
  if (how == "tool" && argc == 3) return with_tool(argv[2]);
  if (how == "timer") return timer();
  if (how == "names" && argc == 3) return names(argv[2]);
  if (how == "cost") return cost();
  if (how == "first_in_handler") return first_in_handler();
  if (how == "first_behind_filter") return first_behind_filter();
  if (how == "addresses") return addresses();
  std::fprintf(stderr, "usage: nvtx_ranges HOW\n");
  return 2;
}
