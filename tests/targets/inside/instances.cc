// tests/targets/inside/instances.cc: threads in scopes, and a book of each single run: between which moments it began
// and ended, what it grew by, and how it ended.
//
//   instances SEED THREADS ROUNDS BOOKS [kill]
#include <heapprof/heapprof.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

namespace {

uint64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

heapprof_name g_round = {nullptr, "round", 0}, g_step = {nullptr, "step", 0}, g_task = {nullptr, "task", 0};
heapprof_name g_left = {nullptr, "left open", 0}, g_last = {nullptr, "last", 0};

// Moments are pairs: the clock before and after the call.
struct Run {
  const char* path;
  int thread;
  uint64_t begin[2];
  uint64_t end[2];  // 0, 0: nobody ended it
  int64_t growth;
  const char* flags;
};

struct Worker {
  std::mt19937 random;
  int rounds;
  bool stays_open;
  std::vector<Run> runs;
};

struct Open {
  heapprof_scope scope;
  Run run;
};

[[gnu::noinline]] void begin(Open* open, const char* path, heapprof_name* name) {
  open->run = {path, gettid(), {now_ns(), 0}, {0, 0}, 0, ""};
  heapprof_scope_begin(&open->scope, name);
  open->run.begin[1] = now_ns();
}

[[gnu::noinline]] void end(Open* open) {
  open->run.end[0] = now_ns();
  heapprof_scope_end(&open->scope);
  open->run.end[1] = now_ns();
}

// What it allocates and keeps, after something that it frees.
[[gnu::noinline]] int64_t allocate(Worker* worker) {
  int64_t growth = 0;
  for (uint32_t i = worker->random() % 4; i-- > 0;) {
    const size_t bytes = 16 + worker->random() % 5000;
    void* volatile const block = malloc(bytes);
    if (worker->random() % 2 == 0) {
      free(block);
    } else {
      growth += static_cast<int64_t>(bytes);
    }
  }
  return growth;
}

void* work(void* argument) {
  auto* const worker = static_cast<Worker*>(argument);
  Open round, step, task;
  for (int i = 0; i < worker->rounds; ++i) {
    begin(&round, "round", &g_round);
    round.run.growth += allocate(worker);
    for (uint32_t steps = worker->random() % 3; steps-- > 0;) {
      begin(&step, "round > step", &g_step);
      step.run.growth = allocate(worker);
      end(&step);
      round.run.growth += step.run.growth;
      worker->runs.push_back(step.run);
    }
    end(&round);
    worker->runs.push_back(round.run);
    if (i % 5 != 0) continue;
    begin(&task, "task", &g_task);
    task.run.growth = allocate(worker);
    heapprof_scope_leave(&task.scope);
    allocate(worker);  // not the task's
    heapprof_scope_enter(&task.scope);
    task.run.growth += allocate(worker);
    task.run.flags = "left";
    end(&task);
    worker->runs.push_back(task.run);
  }
  if (worker->stays_open) {
    begin(&task, "left open", &g_left);
    task.run.growth = allocate(worker);
    task.run.flags = "left_open";
    worker->runs.push_back(task.run);
  }
  return nullptr;
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 5) return 2;
  const auto seed = static_cast<uint32_t>(atoi(arguments[1]));
  std::vector<Worker> workers(static_cast<size_t>(atoi(arguments[2])));
  for (size_t i = 0; i < workers.size(); ++i) {
    workers[i].random.seed(seed + static_cast<uint32_t>(i));
    workers[i].rounds = atoi(arguments[3]);
    workers[i].stays_open = i == 0;
    workers[i].runs.reserve(static_cast<size_t>(4 * workers[i].rounds + 4));  // in none of its scopes
  }
  std::vector<pthread_t> threads(workers.size());
  for (size_t i = 0; i < workers.size(); ++i) pthread_create(&threads[i], nullptr, work, &workers[i]);
  for (const pthread_t thread : threads) pthread_join(thread, nullptr);
  FILE* const books = fopen(arguments[4], "w");
  setvbuf(books, nullptr, _IONBF, 0);
  static Open last;  // open at the end
  begin(&last, "last", &g_last);
  void* volatile const block = malloc(1235);
  (void)block;
  const auto print = [books](const Run& run) {
    fprintf(books, "%d %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRId64 " [%s] %s\n", run.thread, run.begin[0],
            run.begin[1], run.end[0], run.end[1], run.growth, run.flags, run.path);
  };
  last.run.growth = 1235;
  last.run.flags = "open";
  for (const Worker& worker : workers) {
    for (const Run& run : worker.runs) print(run);
  }
  print(last.run);
  if (count > 5 && std::string(arguments[5]) == "kill") raise(SIGKILL);
  _exit(0);
}
