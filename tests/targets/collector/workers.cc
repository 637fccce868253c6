// tests/targets/collector/workers.cc: a tree of processes whose threads allocate as fast as they can, and count in a
// shared file what they did.
//
// usage: workers COUNTERS PROCESSES THREADS END [COUNT]
//   END  forever                          until somebody kills it
//        done                             each thread does COUNT rounds, everybody is waited for, exit status 0
//        exit _exit quick_exit abort      a thread of the first process does that after COUNT rounds, while the others
//                                         allocate
//        return                           the main thread returns from main meanwhile
// Process i is forked by process (i − 1) / 2, in the midst of its threads' work. Blocks have 1235 bytes. A count is
// raised when the call has returned: of a killed thread, the profile has as many or one more. See
// tests/support/counters.py.
#include "../keep.h"

#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>

struct alignas(64) Slot {
  std::atomic<uint64_t> pid, thread_id, allocations, frees;
};

static Slot* g_slots;
static unsigned g_processes, g_threads, g_process;
static const char* g_end;
static uint64_t g_rounds;
static std::atomic<bool> g_may_end{false};

KEEP_FRAME void* allocate_one() { return keep(malloc(1235)); }

static void count(std::atomic<uint64_t>& counter) {
  counter.store(counter.load(std::memory_order_relaxed) + 1, std::memory_order_release);
}

static void end_process() {
  if (strcmp(g_end, "exit") == 0) exit(41);
  if (strcmp(g_end, "_exit") == 0) _exit(42);
  if (strcmp(g_end, "quick_exit") == 0) quick_exit(43);
  if (strcmp(g_end, "abort") == 0) abort();
  if (strcmp(g_end, "return") == 0) g_may_end.store(true, std::memory_order_release);
}

static void* work(void* argument) {
  Slot& slot = *static_cast<Slot*>(argument);
  const bool is_done = strcmp(g_end, "done") == 0;
  const bool ends_process = g_process == 0 && &slot == &g_slots[g_threads - 1];
  slot.pid.store(static_cast<uint64_t>(getpid()), std::memory_order_relaxed);
  slot.thread_id.store(static_cast<uint64_t>(syscall(SYS_gettid)), std::memory_order_release);
  void* held[16] = {};
  for (uint64_t round = 0;; ++round) {
    if (round == g_rounds && is_done) break;
    if (round == g_rounds && ends_process) end_process();
    void*& place = held[round * 7 % 16];
    void* old = place;
    place = allocate_one();
    count(slot.allocations);
    if (old == nullptr) continue;
    free(old);
    count(slot.frees);
  }
  return nullptr;
}

static void live(unsigned process) {
  g_process = process;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 64 << 10);
  pthread_t threads[256];
  for (unsigned i = 0; i < g_threads; ++i) {
    if (pthread_create(&threads[i], &attributes, work, &g_slots[process * g_threads + i]) != 0) _exit(95);
  }
  while (g_slots[process * g_threads].allocations.load(std::memory_order_acquire) < 100) usleep(100);
  unsigned children = 0;
  for (unsigned child = 2 * process + 1; child <= 2 * process + 2 && child < g_processes; ++child, ++children) {
    const pid_t pid = fork();
    if (pid < 0) _exit(94);
    if (pid == 0) return live(child);
  }
  if (strcmp(g_end, "return") == 0 && process == 0) {
    while (!g_may_end.load(std::memory_order_acquire)) usleep(100);
    return;
  }
  for (unsigned i = 0; i < g_threads; ++i) pthread_join(threads[i], nullptr);
  for (int status; children > 0; --children) {
    if (wait(&status) < 0 || status != 0) _exit(93);
  }
}

int main(int argc, char** argv) {
  if (argc < 5) return 98;
  g_processes = static_cast<unsigned>(atoi(argv[2]));
  g_threads = static_cast<unsigned>(atoi(argv[3]));
  g_end = argv[4];
  g_rounds = argc > 5 ? strtoull(argv[5], nullptr, 10) : 0;
  if (g_threads == 0 || g_threads > 256) return 98;
  const size_t size = g_processes * g_threads * sizeof(Slot);
  const int fd = open(argv[1], O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0 || ftruncate(fd, static_cast<off_t>(size)) != 0) return 97;
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED) return 96;
  close(fd);
  g_slots = static_cast<Slot*>(memory);
  live(0);
  return strcmp(g_end, "return") == 0 && g_process == 0 ? 44 : 0;
}
