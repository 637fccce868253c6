// tests/targets/malloc/oracle.cc: a program that does random work with memory and keeps its own books, to the byte.
//
// usage: oracle SEED THREADS OPERATIONS MODE BOOKS [STACKS [FLAGS]]
//   MODE   free      the threads run as they like; the peak is bounded by the times of the calls
//          barrier   in rounds, and between two rounds one thread alone makes a peak that nothing before it can reach
//   BOOKS  file for the books, JSON (oracle/books.h)
//   FLAGS  letters: h with blocks beyond 4 GiB (untouched; mode free only: no cap could top them), v only what
//          Valgrind's DHAT counts as we do, a only what is the same on every allocator (no pvalloc, which jemalloc
//          lacks, and nothing that must fail)
// tests/support/compare_oracle.py compares the books with a profile. What the program allocates besides (libstdc++'s
// pool, the threads' control blocks) happens before the work begins and lives until it is over; a run with 0 operations
// shows it.
#include "oracle/books.h"
#include "oracle/raw.h"
#include "oracle/sites.h"
#include "oracle/worker.h"

#include <pthread.h>
#include <stdlib.h>

namespace {

constexpr uint32_t kMaxThreads = 64;
constexpr uint32_t kRounds = 6;

struct Shared {
  pthread_barrier_t barrier;
  oracle::Worker* workers;
  uint32_t threads;
  uint64_t operations_each;
  bool in_rounds;
};

struct Start {
  Shared* shared;
  uint32_t thread;
};

// Time stamps of one thread's events before it are smaller than those of every thread's events after it.
void meet(Shared* shared) {
  oracle::fenced_time();
  pthread_barrier_wait(&shared->barrier);
  oracle::fenced_time();
}

void* run_thread(void* argument) {
  const Start* start = static_cast<Start*>(argument);
  Shared* shared = start->shared;
  oracle::Worker& worker = shared->workers[start->thread];
  meet(shared);
  for (uint32_t round = 0; round < kRounds; ++round) {
    worker.work(shared->operations_each / kRounds);
    if (!shared->in_rounds) continue;
    worker.log.mark();
    meet(shared);
    if (start->thread == 0) {
      uint64_t all_bytes = 0, all_blocks = 0;
      for (uint32_t t = 0; t < shared->threads; ++t) {
        uint64_t bytes, blocks;
        shared->workers[t].take_ended(&bytes, &blocks);
        all_bytes += bytes;
        all_blocks += blocks;
      }
      worker.make_cap(all_bytes, all_blocks);
      worker.log.mark();
    }
    meet(shared);
  }
  worker.finish();
  meet(shared);
  return nullptr;
}

uint64_t number(const char* text) {
  char* end;
  uint64_t value = strtoull(text, &end, 10);
  if (*text == 0 || *end != 0) oracle::die("an argument is not a number");
  return value;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 6) oracle::die("usage: oracle SEED THREADS OPERATIONS free|barrier BOOKS [STACKS [FLAGS]]");
  const char* flags = argc > 7 ? argv[7] : "";
  uint64_t operations = number(argv[3]);
  Shared shared = {};
  shared.threads = static_cast<uint32_t>(number(argv[2]));
  shared.in_rounds = strcmp(argv[4], "barrier") == 0;
  oracle::Settings settings = {!shared.in_rounds, argc > 6 ? static_cast<uint32_t>(number(argv[6])) : 256,
                               strchr(flags, 'h') != nullptr && !shared.in_rounds, strchr(flags, 'v') != nullptr,
                               strchr(flags, 'a') != nullptr};
  if (shared.threads < 1 || shared.threads > kMaxThreads) oracle::die("THREADS is 1 … 64");
  if (settings.stacks < 1 || settings.stacks > 8192) oracle::die("STACKS is 1 … 8192");
  if (!shared.in_rounds && strcmp(argv[4], "free") != 0) oracle::die("MODE is free or barrier");
  shared.operations_each = operations / shared.threads;

  // At most two entries an operation; caps of one thread add two for each block that ended anywhere.
  uint64_t seed = number(argv[1]);
  size_t log_room = 2 * shared.operations_each + (shared.in_rounds ? 8 * operations : 0) + 4096;
  oracle::Box* boxes = oracle::map_array<oracle::Box>(oracle::kBoxes);
  shared.workers = oracle::map_array<oracle::Worker>(shared.threads);
  for (uint32_t t = 0; t < shared.threads; ++t) shared.workers[t].start(t, seed, settings, boxes, log_room);

  pthread_barrier_init(&shared.barrier, nullptr, shared.threads);
  Start starts[kMaxThreads];
  pthread_t ids[kMaxThreads];
  for (uint32_t t = 1; t < shared.threads; ++t) {
    starts[t] = {&shared, t};
    if (pthread_create(&ids[t], nullptr, run_thread, &starts[t]) != 0) oracle::die("pthread_create refused");
  }
  starts[0] = {&shared, 0};
  run_thread(&starts[0]);
  for (uint32_t t = 1; t < shared.threads; ++t) pthread_join(ids[t], nullptr);

  oracle::Log* logs = oracle::map_array<oracle::Log>(shared.threads);
  for (uint32_t t = 0; t < shared.threads; ++t) logs[t] = shared.workers[t].log;
  oracle::Order order = shared.threads == 1 ? oracle::Order::kOneThread
                        : shared.in_rounds  ? oracle::Order::kBarriers
                                            : oracle::Order::kFree;
  oracle::write_books(argv[5], {seed, shared.threads, operations, argv[4], settings.stacks}, logs, order);
  return 0;
}
