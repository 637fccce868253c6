// tests/targets/end/leak_kinds.cc: plants blocks that can be reached at the end in every way,
// or in none, each way in a function of its own, and writes down what each function's blocks are: a line "FUNCTION KIND
// BLOCKS BYTES". No address is kept but where the plant says so: what is below main is wiped, and only then the program
// ends.
// usage: leak_kinds BOOKS END [alone] [other] [many]
//   END    exit, return, thread (one of its threads calls exit), leaderless (so
//          does one when the first thread has ended), _exit, abort, kill, quick_exit, churn (a thread goes
//          on allocating, which no book has), fork (a child plants and exits, its parent does nothing), held (writes
//          "go", waits for a line, and returns 7), closed (all descriptors are closed, then as exit)
//   alone  without other threads
//   many   a list of 500,000 blocks that a global leads to, and as many that are lost, one by one
//   other  malloc is not glibc's: what only pages lead to that nobody knows of is lost
#include "../keep.h"
#include "../raw_call.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <initializer_list>

// Not static: nothing may be left out because nobody reads it.
void* g_global;
void* g_inner;
void* g_array;
void* g_sized;
void* g_string;
void* g_base;
void* g_resized;
void* g_aligned;
void* g_large;
void* g_static_data[3] = {nullptr, nullptr, reinterpret_cast<void*>(1)};
void* g_freed_later;
void* g_list;
uintptr_t g_hidden;
volatile char g_looked_at;
thread_local void* t_held;

namespace {

FILE* g_books;
bool g_is_alone;
bool g_is_other;
bool g_has_many;

void book(const char* function, const char* kind, int blocks, size_t bytes) {
  fprintf(g_books, "%s %s %d %zu\n", function, kind, blocks, bytes);
}

// A block of that size without a pointer in it. None of its words is one of the patterns that count as a header.
void* block_of(size_t bytes) {
  void* block = malloc(bytes);
  memset(block, 0x81, bytes);
  return keep(block);
}

#define PLANT extern "C" KEEP_FRAME

PLANT void plant_lost() {
  for (int i = 0; i < 7; ++i) block_of(1235);
  book("plant_lost", "lost", 7, 7 * 1235);
}
PLANT void* chain_rest(void* next) {
  void** node = static_cast<void**>(block_of(72));
  node[3] = next;
  return node;
}
PLANT void plant_chain() {
  void** head = static_cast<void**>(block_of(104));
  head[1] = chain_rest(chain_rest(chain_rest(nullptr)));
  book("plant_chain", "lost", 1, 104);
  book("chain_rest", "indirectly_lost", 3, 3 * 72);
}
PLANT void plant_ring() {
  void** nodes[4];
  for (void**& node : nodes) node = static_cast<void**>(block_of(136));
  for (int i = 0; i < 4; ++i) nodes[i][2] = nodes[(i + 1) % 4];
  book("plant_ring", "lost", 1, 136);
  book("plant_ring", "indirectly_lost", 3, 3 * 136);
}
// A lost block that leads into the middle of another: that one is lost with it.
PLANT void* inner_of_lost() { return block_of(152); }
PLANT void plant_lost_to_inner() {
  void** head = static_cast<void**>(block_of(168));
  head[0] = static_cast<char*>(inner_of_lost()) + 40;
  book("plant_lost_to_inner", "lost", 1, 168);
  book("inner_of_lost", "indirectly_lost", 1, 152);
}
PLANT void* behind_inner() { return block_of(88); }
PLANT void plant_inner() {
  void** block = static_cast<void**>(block_of(264));
  block[7] = behind_inner();
  g_inner = reinterpret_cast<char*>(block) + 100;
  book("plant_inner", "possibly_lost", 1, 264);
  book("behind_inner", "possibly_lost", 1, 88);
}
PLANT void* behind_global() { return block_of(56); }
PLANT void plant_global() {
  void** block = static_cast<void**>(block_of(328));
  block[5] = behind_global();
  g_global = block;
  book("plant_global", "reachable", 1, 328);
  book("behind_global", "reachable", 1, 56);
}
// A global leads to its start, and another into its middle.
PLANT void plant_both() {
  char* block = static_cast<char*>(block_of(344));
  g_static_data[0] = block + 64;
  g_static_data[1] = block;
  book("plant_both", "reachable", 1, 344);
}

struct Counted {
  ~Counted() { asm volatile(""); }
  uint32_t words[5];
};
PLANT void plant_array() {
  g_array = keep(new Counted[7]());
  book("plant_array", "reachable", 1, 8 + 7 * sizeof(Counted));
}
PLANT void plant_sized() {
  uint64_t* block = static_cast<uint64_t*>(block_of(8 + 400));
  block[0] = 400;
  g_sized = block + 1;
  book("plant_sized", "reachable", 1, 408);
}
PLANT void plant_old_string() {
  uint64_t* rep = static_cast<uint64_t*>(block_of(24 + 40 + 1));
  rep[0] = 33;
  rep[1] = 40;
  rep[2] = 0;
  g_string = rep + 3;
  book("plant_old_string", "reachable", 1, 65);
}
struct First {
  virtual ~First() = default;
  virtual int first() { return 1; }
  uint64_t data[3] = {};
};
struct Second {
  virtual ~Second() = default;
  virtual int second() { return 2; }
  uint64_t data[3] = {};
};
struct Both : First, Second {};
PLANT void plant_base() {
  Both* both = new Both;
  g_base = static_cast<Second*>(static_cast<Both*>(keep(both)));
  book("plant_base", "reachable", 1, sizeof(Both));
}
PLANT void plant_resized() {
  void* block = block_of(40);
  g_resized = realloc(block, 5000);
  memset(g_resized, 0x81, 5000);
  book("plant_resized", "reachable", 1, 5000);
}
PLANT void plant_aligned() {
  g_aligned = keep(aligned_alloc(4096, 8192));
  memset(g_aligned, 0x81, 8192);
  book("plant_aligned", "reachable", 1, 8192);
}
PLANT void plant_lost_aligned() {
  void* block = keep(aligned_alloc(1024, 3072));
  memset(block, 0x81, 3072);
  book("plant_lost_aligned", "lost", 1, 3072);
}
PLANT void* behind_large() { return block_of(408); }
PLANT void plant_large() {
  constexpr size_t kBytes = (9 << 20) + 8;
  void** block = static_cast<void**>(malloc(kBytes));
  block[(kBytes / 8) - 1] = behind_large();  // its last word; most of its pages are never touched
  g_large = block;
  book("plant_large", "reachable", 1, kBytes);
  book("behind_large", "reachable", 1, 408);
}
PLANT void plant_lost_large() {
  keep(malloc(5 << 20));
  book("plant_lost_large", "lost", 1, 5 << 20);
}
PLANT void plant_nothing() {
  keep(malloc(0));
  book("plant_nothing", "lost", 1, 0);
}
PLANT void plant_tls() {
  t_held = block_of(424);
  book("plant_tls", "reachable", 1, 424);
}
PLANT void plant_pages() {
  void** page = static_cast<void**>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  page[17] = block_of(440);
  book("plant_pages", "reachable", 1, 440);
}
PLANT void plant_shared_pages() {
  void** page = static_cast<void**>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  page[17] = block_of(456);
  book("plant_shared_pages", "reachable", 1, 456);
}
// A view of it that can only be read.
PLANT void plant_shared_view() {
  const int file = memfd_create("view", 0);
  void* block = block_of(712);
  if (pwrite(file, &block, sizeof block, 64) != sizeof block) abort();
  block = nullptr;
  const char* view = static_cast<const char*>(mmap(nullptr, 4096, PROT_READ, MAP_SHARED, file, 0));
  g_looked_at = view[0];
  close(file);
  book("plant_shared_view", "reachable", 1, 712);
}
PLANT void plant_unseen_pages() {
  void** page = reinterpret_cast<void**>(
      raw_call(SYS_mmap, 0, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  page[17] = block_of(472);
  book("plant_unseen_pages", g_is_other ? "lost" : "reachable", 1, 472);
}
// Data that became read-only after it was written.
PLANT void plant_sealed_pages() {
  void** page = static_cast<void**>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  page[3] = block_of(488);
  mprotect(page, 4096, PROT_READ);
  book("plant_sealed_pages", "reachable", 1, 488);
}
PLANT void plant_break() {
  void** page = static_cast<void**>(sbrk(4096));
  page[17] = block_of(696);
  book("plant_break", "reachable", 1, 696);
}
PLANT void plant_hidden() {
  g_hidden = reinterpret_cast<uintptr_t>(block_of(504)) ^ 0x5555555555555555;
  book("plant_hidden", "lost", 1, 504);
}
// What a freed block holds keeps nothing alive: a small one in a cache, and a large one in a bin.
PLANT void plant_stale() {
  for (const size_t bytes : {size_t{320}, size_t{3000}}) {
    void** holder = static_cast<void**>(malloc(bytes));
    holder[20] = block_of(520);
    free(keep(holder));
  }
  book("plant_stale", "lost", 2, 2 * 520);
}
// malloc's bin has the address of the header of the free chunk, which begins with the last word of the block before it.
PLANT void plant_before_free() {
  for (int i = 0; i < 16; ++i) block_of(24);
  void* after = malloc(2200);
  void* guard = malloc(24);
  free(keep(after));
  free(keep(guard));
  book("plant_before_free", "lost", 16, 16 * 24);
}
PLANT void plant_freed_later() {
  g_freed_later = block_of(536);
  atexit([] { free(g_freed_later); });
  book("plant_freed_later", "freed", 0, 0);
}

struct FreedAtEnd {
  ~FreedAtEnd() { free(block); }
  void* block = nullptr;
};
FreedAtEnd g_freed_at_end;
PLANT void plant_freed_at_end() {
  g_freed_at_end.block = block_of(552);
  book("plant_freed_at_end", "freed", 0, 0);
}

constexpr int kMany = 500'000;
PLANT void* behind_list() {
  void** node = static_cast<void**>(malloc(48));
  node[5] = g_list;
  return g_list = node;
}
PLANT void plant_many() {
  for (int i = 0; i < kMany; ++i) {
    behind_list();
    keep(calloc(1, 40));
  }
  book("behind_list", "reachable", kMany, kMany * size_t{48});
  book("plant_many", "lost", kMany, kMany * size_t{40});
}

// On the stack of main, and below what is its stack by then.
PLANT void* plant_on_stack() {
  book("plant_on_stack", "reachable", 1, 568);
  return block_of(568);
}
PLANT void* plant_below_stack() {
  book("plant_below_stack", "lost", 1, 584);
  return block_of(584);
}
KEEP_FRAME void leave_below() {
  void* frame[40'000];
  memset(frame, 0, sizeof frame);
  frame[16] = plant_below_stack();
  asm volatile("" ::"r"(frame) : "memory");
}

// ---- Other threads ----

int g_ready[2];

void say_ready() {
  char byte = 1;
  if (write(g_ready[1], &byte, 1) != 1) _exit(90);
}
void await_ready() {
  char byte;
  if (read(g_ready[0], &byte, 1) != 1) _exit(91);
}
void sleep_for_ever() {
  for (;;) pause();
}

PLANT void* plant_on_other_stack() { return block_of(600); }
PLANT void* plant_in_other_tls() { return block_of(616); }
PLANT void plant_lost_by_other() {
  for (int i = 0; i < 3; ++i) block_of(632);
}
PLANT void* plant_in_register() { return block_of(648); }
PLANT void* plant_by_dead() { return block_of(664); }

KEEP_FRAME void wipe_below() {
  char frame[48'000];
  memset(frame, 0, sizeof frame);
  asm volatile("" ::"r"(frame) : "memory");
}

void* sleeper(void*) {
  void* volatile on_stack = plant_on_other_stack();
  t_held = plant_in_other_tls();
  plant_lost_by_other();
  wipe_below();
  say_ready();
  sleep_for_ever();
  return on_stack;
}

// Holds a block in a register, and nowhere else.
void* spinner(void*) {
  const uintptr_t hidden = reinterpret_cast<uintptr_t>(plant_in_register()) ^ 0x3333333333333333;
  wipe_below();
  say_ready();
  asm volatile(
      "movabsq $0x3333333333333333, %%r13\n"
      "xorq %0, %%r13\n"
      "1: pause\n"
      "jmp 1b\n" ::"r"(hidden)
      : "r13");
  return nullptr;
}

void* dying(void*) {
  void* volatile on_stack = plant_by_dead();
  asm volatile("" ::"r"(on_stack) : "memory");
  return nullptr;
}

void* churner(void*) {
  say_ready();
  for (;;) free(keep(malloc(77)));
}

void* ender(void*) {
  wipe_below();
  exit(0);
}

bool has_leader() {
  char stat[200] = "";
  FILE* const file = fopen("/proc/self/stat", "r");
  const bool is_read = file != nullptr && fgets(stat, sizeof stat, file) != nullptr;
  if (file != nullptr) fclose(file);
  return is_read && strstr(stat, ") Z ") == nullptr;
}
void* last_ender(void*) {
  while (has_leader()) usleep(1000);
  wipe_below();
  exit(0);
}

void start(void* (*function)(void*)) {
  pthread_t thread;
  if (pthread_create(&thread, nullptr, function, nullptr) != 0) _exit(93);
}

void plant_by_threads() {
  start(sleeper);
  await_ready();
  start(spinner);
  await_ready();
  pthread_t thread;
  if (pthread_create(&thread, nullptr, dying, nullptr) != 0 || pthread_join(thread, nullptr) != 0) _exit(94);
  book("plant_on_other_stack", "reachable", 1, 600);
  book("plant_in_other_tls", "reachable", 1, 616);
  book("plant_lost_by_other", "lost", 3, 3 * 632);
  book("plant_in_register", "reachable", 1, 648);
  book("plant_by_dead", "lost", 1, 664);
}

KEEP_FRAME void plant_all() {
  plant_lost();
  plant_chain();
  plant_ring();
  plant_lost_to_inner();
  plant_inner();
  plant_global();
  plant_both();
  plant_array();
  plant_sized();
  plant_old_string();
  plant_base();
  plant_resized();
  plant_aligned();
  plant_lost_aligned();
  plant_large();
  plant_lost_large();
  plant_nothing();
  plant_tls();
  plant_pages();
  plant_shared_pages();
  plant_shared_view();
  plant_unseen_pages();
  plant_sealed_pages();
  plant_break();
  plant_hidden();
  plant_stale();
  plant_before_free();
  plant_freed_later();
  plant_freed_at_end();
  if (g_has_many) plant_many();
}

PLANT void* plant_in_own_register() {
  book("plant_in_own_register", "reachable", 1, 680);
  return block_of(680);
}

// Calls exit() with a block in a register that the callee saves, and nowhere else.
[[noreturn]] KEEP_FRAME void exit_with_register(uintptr_t hidden) {
  asm volatile(
      "movabsq $0x3333333333333333, %%r12\n"
      "xorq %0, %%r12\n"
      "xorl %%edi, %%edi\n"
      "andq $-16, %%rsp\n"
      "call exit@PLT\n" ::"r"(hidden)
      : "r12", "rdi", "memory");
  __builtin_unreachable();
}

void open_books(const char* path) {
  g_books = fopen(path, "w");
  static char buffer[4096];
  if (g_books == nullptr || setvbuf(g_books, buffer, _IOFBF, sizeof buffer) != 0) _exit(95);
}

void end(const char* how) {
  if (strcmp(how, "_exit") == 0) _exit(0);
  if (strcmp(how, "abort") == 0) abort();
  if (strcmp(how, "kill") == 0) kill(getpid(), SIGKILL);
  if (strcmp(how, "quick_exit") == 0) quick_exit(0);
  if (strcmp(how, "closed") == 0) {
    for (int fd = 0; fd < 1024; ++fd) close(fd);
  }
  if (strcmp(how, "leaderless") == 0) {
    start(last_ender);
    pthread_exit(nullptr);
  }
  if (strcmp(how, "thread") != 0) return;
  start(ender);
  sleep_for_ever();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 98;
  for (int i = 3; i < argc; ++i) {
    g_is_alone = g_is_alone || strcmp(argv[i], "alone") == 0;
    g_is_other = g_is_other || strcmp(argv[i], "other") == 0;
    g_has_many = g_has_many || strcmp(argv[i], "many") == 0;
  }
  if (pipe(g_ready) != 0) return 97;
  const char* how = argv[2];
  if (strcmp(how, "fork") == 0) {
    const pid_t child = fork();
    if (child > 0) {
      int status = 0;
      return waitpid(child, &status, 0) == child && status == 0 ? 0 : 96;
    }
  }
  open_books(argv[1]);
  if (!g_is_alone) plant_by_threads();
  plant_all();
  if (strcmp(how, "churn") == 0) {
    start(churner);
    await_ready();
    // It has the arena of the thread that died: at work in malloc it may hold the address of what lies behind the last
    // block there, which glibc's header shares 8 bytes with.
    fprintf(g_books, "plant_by_dead any\n");
  }
  void* volatile on_stack = plant_on_stack();
  const uintptr_t hidden = reinterpret_cast<uintptr_t>(plant_in_own_register()) ^ 0x3333333333333333;
  leave_below();
  if (strcmp(how, "leaderless") == 0)  // its stack is searched whole, and its TLS is gone
    fprintf(g_books, "plant_on_stack any\nplant_in_own_register any\nplant_below_stack any\nplant_tls any\n");
  fflush(g_books);
  wipe_below();
  end(how);
  const bool is_held = strcmp(how, "held") == 0;
  if (strcmp(how, "return") == 0 || is_held) {
    fprintf(g_books, "plant_on_stack any\nplant_in_own_register any\n");  // main's stack is gone: nobody knows
    on_stack = nullptr;
    if (!is_held) return on_stack == nullptr ? 0 : 1;
    if (write(1, "go\n", 3) != 3) return 97;
    char byte;
    return read(0, &byte, 1) == 1 ? 7 : 97;
  }
  asm volatile("" ::"r"(on_stack));
  exit_with_register(hidden);
}
