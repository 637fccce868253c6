// tests/targets/inside/scopes.cc: a program in scopes with its own books of them.
//
//   scopes random SEED THREADS OPERATIONS BOOKS   random work: nested scopes, scopes that are left and entered again by
//                                                 other threads, ends that are missing, blocks that are freed elsewhere
//   scopes HOW                                    one hazard; the script says what has to be in the profile
#include <heapprof/heapprof.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>

namespace {

void keep(void* block) { asm volatile("" : : "r"(block) : "memory"); }
// A block of that size that nobody frees.
void* leak(size_t size_bytes) {
  void* block = std::malloc(size_bytes);
  keep(block);
  return block;
}

// ---- The books: in static memory, and nothing here allocates ----

constexpr uint32_t kNames = 4;
constexpr uint32_t kMostPaths = 8192;
constexpr uint32_t kMostDepth = 5;  // of a path
constexpr uint32_t kMostFrames = 12;
constexpr size_t kHeld = 48;

heapprof_name g_names[kNames] = {{"io", "read", 0}, {"io", "parse", 0}, {nullptr, "build", 0}, {"", "ende ä", 0}};
const char* const kShown[kNames] = {"io:read", "io:parse", "build", "ende ä"};

struct Tally {
  std::atomic<uint64_t> begun, ended, left_open, items, bytes, blocks, freed_bytes, freed_blocks, peak;
  std::atomic<uint64_t> mapped_bytes, unmapped_bytes, mapped_peak;
};
struct Path {
  uint32_t parent, name, depth;
};
Path g_paths[kMostPaths];
Tally g_tallies[kMostPaths];
uint32_t g_path_count = 1;  // [0]: outside of all
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

void raise_to(std::atomic<uint64_t>* highest, int64_t level) {
  uint64_t was = *highest;
  while (level > static_cast<int64_t>(was) && !highest->compare_exchange_weak(was, static_cast<uint64_t>(level))) {
  }
}

struct Level {
  int64_t growth, peak;
  void change(int64_t bytes) {
    growth += bytes;
    if (growth > peak) peak = growth;
  }
};
struct Frame {
  heapprof_scope scope;
  uint32_t path;
  Level heap, mapped;
};
// Scopes that were left, with the work in them.
struct Task {
  Frame frames[kMostFrames];
  uint32_t count;
};
constexpr size_t kMostTasks = 16;
Task g_tasks[kMostTasks];
size_t g_task_count = 0;

struct Block {
  void* address;
  size_t size_bytes;
};
Block g_given[kHeld];  // from thread to thread

struct Worker {
  uint64_t random = 0;
  uint64_t operations = 0;
  Frame frames[2 * kMostFrames] = {};
  uint32_t depth = 0;
  Block held[kHeld] = {};

  uint64_t next(uint64_t below) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    return (random >> 33) % below;
  }
  uint32_t path() const { return depth == 0 ? 0 : frames[depth - 1].path; }
  void change_heap(int64_t bytes) {
    for (uint32_t i = 0; i < depth; ++i) frames[i].heap.change(bytes);
  }
  void change_mapped(int64_t bytes) {
    for (uint32_t i = 0; i < depth; ++i) frames[i].mapped.change(bytes);
  }
  void count_begin_of(size_t size_bytes) {
    g_tallies[path()].bytes += size_bytes;
    ++g_tallies[path()].blocks;
    change_heap(static_cast<int64_t>(size_bytes));
  }
  void count_end_of(size_t size_bytes) {
    g_tallies[path()].freed_bytes += size_bytes;
    ++g_tallies[path()].freed_blocks;
    change_heap(-static_cast<int64_t>(size_bytes));
  }

  void begin() {
    if (depth >= kMostFrames || g_paths[path()].depth >= kMostDepth) return;
    const auto name = static_cast<uint32_t>(next(kNames));
    Frame& frame = frames[depth];
    frame = {};
    frame.path = path_to(path(), name);
    heapprof_scope_begin(&frame.scope, &g_names[name]);
    ++g_tallies[frame.path].begun;
    ++depth;
  }
  static void close(const Frame& frame, std::atomic<uint64_t> Tally::*count) {
    Tally& tally = g_tallies[frame.path];
    ++(tally.*count);
    raise_to(&tally.peak, frame.heap.peak);
    raise_to(&tally.mapped_peak, frame.mapped.peak);
  }
  // Ends the scope at that depth, and with it those inside of it.
  void end(uint32_t at) {
    if (at >= depth) return;
    Frame& frame = frames[at];
    if (next(3) == 0) frame.scope.items = 1 + next(1000);
    g_tallies[frame.path].items += frame.scope.items;
    heapprof_scope copy = frame.scope;
    heapprof_scope_end(&frame.scope);
    if (frame.scope.id != 0) std::abort();
    heapprof_scope_end(&frame.scope);             // ended already
    if (next(8) == 0) heapprof_scope_end(&copy);  // likewise, and its items
    while (depth > at + 1) close(frames[--depth], &Tally::left_open);
    close(frames[--depth], &Tally::ended);
  }
  void leave(uint32_t at) {
    if (at >= depth) return;
    pthread_mutex_lock(&g_lock);
    if (g_task_count < kMostTasks) {
      Task& task = g_tasks[g_task_count++];
      heapprof_scope_leave(&frames[at].scope);
      task.count = depth - at;
      for (uint32_t i = 0; i < task.count; ++i) task.frames[i] = frames[at + i];
      depth = at;
    }
    pthread_mutex_unlock(&g_lock);
  }
  void enter() {
    pthread_mutex_lock(&g_lock);
    if (g_task_count != 0 && depth + kMostFrames <= 2 * kMostFrames) {
      const size_t at = next(g_task_count);
      Task& task = g_tasks[at];
      if (depth + task.count <= kMostFrames) {
        heapprof_scope_enter(&task.frames[0].scope);
        if (next(4) == 0) heapprof_scope_enter(&task.frames[0].scope);  // it is entered already
        for (uint32_t i = 0; i < task.count; ++i) frames[depth++] = task.frames[i];
        task = g_tasks[--g_task_count];
      }
    }
    pthread_mutex_unlock(&g_lock);
  }
  // A task that is given up while nobody is in it.
  void give_up_task() {
    pthread_mutex_lock(&g_lock);
    if (g_task_count != 0) {
      Task& task = g_tasks[next(g_task_count)];
      heapprof_scope_end(&task.frames[0].scope);
      while (task.count > 1) close(task.frames[--task.count], &Tally::left_open);
      close(task.frames[0], &Tally::ended);
      task = g_tasks[--g_task_count];
    }
    pthread_mutex_unlock(&g_lock);
  }

  void allocate_or_free() {
    Block& block = held[next(kHeld)];
    if (block.address != nullptr) {
      count_end_of(block.size_bytes);
      std::free(block.address);
      block.address = nullptr;
      return;
    }
    block.size_bytes = 1 + next(next(20) == 0 ? 60'000 : 900);
    block.address = next(4) == 0 ? std::calloc(1, block.size_bytes) : std::malloc(block.size_bytes);
    keep(block.address);
    count_begin_of(block.size_bytes);
  }
  void reallocate() {
    Block& block = held[next(kHeld)];
    if (block.address == nullptr) return;
    count_end_of(block.size_bytes);
    block.size_bytes = 1 + next(4000);
    block.address = std::realloc(block.address, block.size_bytes);
    keep(block.address);
    count_begin_of(block.size_bytes);
  }
  void exchange() {
    pthread_mutex_lock(&g_lock);
    std::swap(held[next(kHeld)], g_given[next(kHeld)]);
    pthread_mutex_unlock(&g_lock);
  }
  void map() {
    const size_t size_bytes = 4096 * (1 + next(20));
    void* pages = mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    g_tallies[path()].mapped_bytes += size_bytes;
    change_mapped(static_cast<int64_t>(size_bytes));
    if (next(3) == 0) begin();
    munmap(pages, size_bytes);
    g_tallies[path()].unmapped_bytes += size_bytes;
    change_mapped(-static_cast<int64_t>(size_bytes));
  }

  void step() {
    const uint64_t choice = next(100);
    if (choice < 15) return begin();
    if (choice < 27) return depth == 0 ? begin() : end(depth - 1);
    if (choice < 29 && depth != 0) return end(static_cast<uint32_t>(next(depth)));
    if (choice < 33 && depth != 0) return leave(static_cast<uint32_t>(next(depth)));
    if (choice < 38) return enter();
    if (choice < 39) return give_up_task();
    if (choice < 50) return reallocate();
    if (choice < 54) return exchange();
    if (choice < 57) return map();
    allocate_or_free();
  }
  static void* run(void* self) {
    Worker& worker = *static_cast<Worker*>(self);
    for (uint64_t i = 0; i < worker.operations; ++i) worker.step();
    while (worker.depth != 0) worker.end(worker.depth - 1);
    return nullptr;
  }
};

constexpr size_t kMostThreads = 64;
Worker g_workers[kMostThreads];

void print_path(FILE* file, uint32_t path) {
  if (g_paths[path].parent != 0) {
    print_path(file, g_paths[path].parent);
    std::fputs(" > ", file);
  }
  std::fputs(kShown[g_paths[path].name], file);
}

int random_work(char** words) {
  const size_t threads = std::strtoul(words[1], nullptr, 10);
  if (threads == 0 || threads > kMostThreads) return 2;
  FILE* const file = std::fopen(words[3], "w");
  static char buffer[1 << 16];
  std::setvbuf(file, buffer, _IOFBF, sizeof buffer);
  heapprof_stats before{};
  heapprof_get_stats("host", &before);
  {
    HEAPPROF_SCOPE("all");
    pthread_t ids[kMostThreads];
    for (size_t i = 0; i < threads; ++i) {
      g_workers[i].random = std::strtoull(words[0], nullptr, 10) * 1000 + i;
      g_workers[i].operations = std::strtoull(words[2], nullptr, 10) / threads;
      if (i != 0) pthread_create(&ids[i], nullptr, Worker::run, &g_workers[i]);
    }
    for (size_t i = 1; i < threads; ++i) pthread_join(ids[i], nullptr);
  }
  Worker::run(&g_workers[0]);
  g_workers[0].depth = 0;
  while (g_task_count != 0) g_workers[0].give_up_task();
  heapprof_stats after{};
  heapprof_get_stats("host", &after);
  std::fprintf(file, "TOTAL %llu %llu\n", static_cast<unsigned long long>(after.total_bytes - before.total_bytes),
               static_cast<unsigned long long>(after.total_blocks - before.total_blocks));
  const auto number = [](const std::atomic<uint64_t>& value) { return static_cast<unsigned long long>(value); };
  for (uint32_t path = 0; path < g_path_count; ++path) {
    const Tally& t = g_tallies[path];
    if (path == 0) std::fprintf(file, "OUTSIDE %llu %llu\n", number(t.bytes), number(t.blocks));
    if (path == 0) continue;
    print_path(file, path);
    std::fprintf(file, ": %llu %llu %llu %llu | %llu %llu %llu %llu %llu | %llu %llu %llu\n", number(t.begun),
                 number(t.ended), number(t.left_open), number(t.items), number(t.bytes), number(t.blocks),
                 number(t.freed_bytes), number(t.freed_blocks), number(t.peak), number(t.mapped_bytes),
                 number(t.unmapped_bytes), number(t.mapped_peak));
  }
  std::fclose(file);
  return 0;
}

// ---- One hazard each ----

[[gnu::noinline]] void recurse(int depth) {
  HEAPPROF_SCOPE("recurse");
  leak(1235);
  if (depth > 1) recurse(depth - 1);
  leak(1);
}

[[gnu::noinline]] void throws(int depth) {
  HEAPPROF_SCOPE("throws");
  leak(10);
  if (depth == 0) throw std::runtime_error("x");
  throws(depth - 1);
}

int exceptions() {
  for (int i = 0; i < 100; ++i) {
    HEAPPROF_SCOPE("around");
    try {
      throws(3);
    } catch (const std::runtime_error&) {
    }
    leak(1235);
  }
  return 0;
}

jmp_buf g_back;
int jumps() {
  static heapprof_name outer = {nullptr, "outer", 0}, inner = {nullptr, "inner", 0};
  for (int i = 0; i < 100; ++i) {
    heapprof_scope around;
    heapprof_scope_begin(&around, &outer);
    if (setjmp(g_back) == 0) {
      heapprof_scope inside[2];
      heapprof_scope_begin(&inside[0], &inner);
      heapprof_scope_begin(&inside[1], &inner);
      leak(10);
      longjmp(g_back, 1);
    }
    leak(1235);  // still inside of the inner ones, for all that anybody knows
    heapprof_scope_end(&around);
    leak(7);  // outside
  }
  return 0;
}

void* exits_inside(void*) {
  HEAPPROF_SCOPE("outer");
  static heapprof_name name = {nullptr, "never ended", 0};
  heapprof_scope scope;
  heapprof_scope_begin(&scope, &name);
  leak(1235);
  return nullptr;  // the outer one's end ends it
}
void* exits_in_both(void*) {
  static heapprof_name name = {nullptr, "thread", 0};
  heapprof_scope scope;
  heapprof_scope_begin(&scope, &name);
  leak(1235);
  return nullptr;
}
int exits() {
  for (int i = 0; i < 50; ++i) {
    pthread_t thread;
    pthread_create(&thread, nullptr, i % 2 == 0 ? exits_inside : exits_in_both, nullptr);
    pthread_join(thread, nullptr);
    leak(3);  // not in any scope
  }
  return 0;
}

int forks(bool with_exec) {
  static heapprof_name name = {nullptr, "parent", 0}, of_child = {nullptr, "child", 0};
  heapprof_scope scope;
  heapprof_scope_begin(&scope, &name);
  leak(100);
  const pid_t child = fork();
  if (child == 0) {
    leak(20);                      // outside of all
    heapprof_scope_enter(&scope);  // not the child's
    leak(20);
    heapprof_scope_leave(&scope);
    heapprof_scope own;
    heapprof_scope_begin(&own, &of_child);
    leak(1235);
    scope.items = 9;
    heapprof_scope_end(&scope);  // likewise
    leak(1235);
    heapprof_scope parent_name;
    heapprof_scope_begin(&parent_name, &name);  // the name is known, the scope is another
    leak(5);
    heapprof_scope_end(&parent_name);
    if (with_exec) {
      execl("/proc/self/exe", "scopes", "recursion", "3", nullptr);
      _exit(9);
    }
    heapprof_scope_end(&own);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  leak(11);
  heapprof_scope_end(&scope);
  leak(13);
  return status;
}

int killed() {
  static heapprof_name name = {nullptr, "half way", 0}, done = {nullptr, "done", 0};
  for (int i = 0; i < 1000; ++i) {
    heapprof_scope scope;
    heapprof_scope_begin(&scope, &done);
    leak(16);
    heapprof_scope_end(&scope);
  }
  heapprof_scope scope;
  heapprof_scope_begin(&scope, &name);
  leak(1235);
  std::free(leak(10'000));
  kill(getpid(), SIGKILL);
  return 0;
}

int many_names(int count) {
  static char texts[10'000][16];
  static heapprof_name names[10'000];
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < count; ++i) {
      std::snprintf(texts[i], sizeof texts[i], "n%d", i);
      names[i].text = texts[i];
      heapprof_scope scope;
      heapprof_scope_begin(&scope, &names[i]);
      leak(16);
      heapprof_scope_end(&scope);
    }
  }
  return 0;
}

int long_names() {
  static char texts[16][400];
  static heapprof_name names[16];
  int count = 0;
  const auto add = [&](const std::string& category, const std::string& text) {
    char* const at = texts[count];
    std::memcpy(at, category.c_str(), category.size() + 1);
    std::memcpy(at + category.size() + 1, text.c_str(), text.size() + 1);
    names[count] = {category.empty() ? nullptr : at, at + category.size() + 1, 0};
    heapprof_scope scope;
    heapprof_scope_begin(&scope, &names[count++]);
    heapprof_scope_end(&scope);
  };
  for (const size_t bytes : {0, 119, 120, 121, 300}) add("", std::string(bytes, 'a'));
  add("", std::string(119, 'b') + "ä");                 // cut in the middle of a character
  add("", std::string(118, 'c') + "\xf0\x9f\x98\x80");  // likewise, of one of four bytes
  add(std::string(300, 'd'), std::string(300, 'e'));    // half of the room each
  add(std::string(300, 'd'), "f");
  add("", std::string(300, '\x80'));  // no characters at all
  add("", "line\nfeed\x1b[31m");
  names[15] = {nullptr, nullptr, 0};
  heapprof_scope scope;
  heapprof_scope_begin(&scope, &names[15]);
  heapprof_scope_end(&scope);
  return 0;
}

volatile sig_atomic_t g_handled = 0;
void handler(int) {
  HEAPPROF_SCOPE("handler");
  keep(std::malloc(0x1234));  // leaked: what a handler interrupts may be malloc, but here it is not
  g_handled = g_handled + 1;
}
// Handlers come at any moment, but for those in which libc's allocator works.
int handlers() {
  struct sigaction action {};
  action.sa_handler = handler;
  sigaction(SIGUSR1, &action, nullptr);
  for (int i = 0; i < 500; ++i) {
    HEAPPROF_SCOPE("work");
    leak(100);
    raise(SIGUSR1);
    leak(100);
  }
  return g_handled == 500 ? 0 : 1;
}
void timed_handler(int) {
  HEAPPROF_SCOPE("handler");
  g_handled = g_handled + 1;
}
// By a timer, in the middle of the agent's own work too; these do not allocate, as a handler must not.
int timer() {
  struct sigaction action {};
  action.sa_handler = timed_handler;
  action.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &action, nullptr);
  const itimerval often = {{0, 50}, {0, 50}};
  setitimer(ITIMER_REAL, &often, nullptr);
  int rounds = 0;
  while (g_handled < 2000 || rounds < 20'000) {
    HEAPPROF_SCOPE("work");
    std::free(leak(100));
    ++rounds;
  }
  const itimerval never{};
  setitimer(ITIMER_REAL, &never, nullptr);
  std::printf("%d %d\n", rounds, static_cast<int>(g_handled));
  return 0;
}

// realloc frees the old block where it is called.
int reallocs() {
  void* block = nullptr;
  {
    HEAPPROF_SCOPE("first");
    block = std::malloc(1000);
  }
  {
    HEAPPROF_SCOPE("second");
    block = std::realloc(block, 3000);
    block = std::realloc(block, 500);
  }
  HEAPPROF_SCOPE("third");
  std::free(block);
  block = std::realloc(nullptr, 77);
  keep(block);
  std::free(block);
  return 0;
}

int marks() {
  HEAPPROF_MARK("start");
  HEAPPROF_SCOPE_IN("io", "load");
  void* block = leak(1 << 20);
  HEAPPROF_MARK("loaded");
  std::free(block);
  HEAPPROF_MARK("loaded");
  return 0;
}

// A coroutine that is destroyed while it is suspended: its inner scopes end first.
int destroyed() {
  static heapprof_name outer = {nullptr, "outer", 0}, inner = {nullptr, "inner", 0};
  heapprof_scope a, b;
  heapprof_scope_begin(&a, &outer);
  heapprof_scope_begin(&b, &inner);
  leak(1235);
  heapprof_scope_leave(&a);
  leak(7);
  b.items = 5;
  heapprof_scope_end(&b);
  heapprof_scope_end(&a);
  return 0;
}

// More scopes than anybody keeps open, each inside of the one before; those that are not kept end first.
int too_many(size_t count) {
  static heapprof_name name = {nullptr, "open", 0};
  const size_t bytes = count * sizeof(heapprof_scope);
  auto* scopes =
      static_cast<heapprof_scope*>(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  for (size_t i = 0; i < count; ++i) heapprof_scope_begin(&scopes[i], &name);
  leak(1235);
  for (size_t i = count; i-- > 0;) heapprof_scope_end(&scopes[i]);
  return 0;
}

}  // namespace

int main(int count, char** words) {
  const std::string how = count > 1 ? words[1] : "";
  const int number = count > 2 ? std::atoi(words[2]) : 0;
  if (how == "random" && count == 6) return random_work(words + 2);
  if (how == "recursion") return recurse(number), 0;
  if (how == "exceptions") return exceptions();
  if (how == "jumps") return jumps();
  if (how == "exits") return exits();
  if (how == "forks") return forks(false);
  if (how == "execs") return forks(true);
  if (how == "killed") return killed();
  if (how == "names") return many_names(number);
  if (how == "long") return long_names();
  if (how == "handlers") return handlers();
  if (how == "timer") return timer();
  if (how == "reallocs") return reallocs();
  if (how == "marks") return marks();
  if (how == "destroyed") return destroyed();
  if (how == "too_many") return too_many(static_cast<size_t>(number));
  return 2;
}
