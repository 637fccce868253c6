// tests/targets/attack/attack.cc: does by seed, from several threads, handlers and processes, what is known to break
// preloaded profilers (tests/HAZARDS.md), and keeps its own books of every block by site.
//
// usage: attack generate SEED [STEPS [WITHOUT,…]]    prints a list of steps: THREAD ACTION AMOUNT SEED, one a line
//        attack run STEPS BOOKS                      does them; prints what each came to; the books are in BOOKS
//        attack sites | actions                      their names
// The threads run at once, each its own steps in their order; thread 0 is the first one. tests/stress/attack.py runs it
// natively and under heapprof, compares, and shrinks what fails. attack_own is the same program with an allocator that
// may be interrupted anywhere (parts/async_malloc.cc).
#include "parts/action.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

namespace attack {

Start g_start;
void prepare_signals();
int live_as_image(uint32_t index, unsigned amount, int status);

#define ACTION(name, weight, least, most, flags) long act_##name(Context& context, unsigned amount);
#include "parts/actions.def"
#undef ACTION
const Action kActions[] = {
#define ACTION(name, weight, least, most, flags) {#name, act_##name, weight, least, most, flags},
#include "parts/actions.def"
#undef ACTION
};
const unsigned kActionCount = sizeof(kActions) / sizeof(kActions[0]);
const Action* find_action(const char* name) {
  for (const Action& action : kActions)
    if (strcmp(action.name, name) == 0) return &action;
  return nullptr;
}

namespace {

constexpr unsigned kMostThreads = 8;
struct Step {
  unsigned thread;
  const Action* action;
  unsigned amount;
  uint64_t seed;
};
Step g_steps[kMostSteps];
unsigned g_step_count = 0;
Context g_contexts[kMostThreads];

bool has_word(const char* list, const char* word) {
  const size_t length = strlen(word);
  for (const char* at = strstr(list, word); at != nullptr; at = strstr(at + 1, word))
    if ((at == list || at[-1] == ',') && (at[length] == 0 || at[length] == ',')) return true;
  return false;
}

const Action& draw(Random& random, const char* without, bool at_end) {
  unsigned sum = 0;
  const auto is_wanted = [&](const Action& action) {
    return ((action.flags & kAtEnd) != 0) == at_end && !has_word(without, action.name) &&
           (g_start.has_own_malloc || (action.flags & kOwnMalloc) == 0);
  };
  for (const Action& action : kActions) sum += is_wanted(action) ? action.weight : 0;
  uint32_t place = sum == 0 ? 0 : random.below(sum);
  for (const Action& action : kActions) {
    if (!is_wanted(action)) continue;
    if (place < action.weight) return action;
    place -= action.weight;
  }
  return *find_action(at_end ? "end_return" : "heap");
}

int generate(uint64_t seed, unsigned steps, const char* without) {
  Random random = {seed};
  const unsigned threads = 1 + random.below(4);
  if (steps == 0) steps = 6 + random.below(30);
  for (unsigned i = 0; i <= steps; ++i) {
    const bool is_last = i == steps;
    const unsigned thread = is_last ? 0 : random.below(threads);
    const Action& action = draw(random, without, is_last);
    printf("%u %s %u %lu\n", thread, action.name, action.least + random.below(action.most - action.least + 1),
           random.next() % 1000000);
  }
  return 0;
}

bool read_steps(const char* path) {
  FILE* file = fopen(path, "re");
  if (file == nullptr) return false;
  char line[200], name[64];
  while (fgets(line, sizeof(line), file) != nullptr) {
    if (line[0] == '#' || line[0] == '\n') continue;
    Step& step = g_steps[g_step_count];
    if (g_step_count == kMostSteps || sscanf(line, "%u %63s %u %lu", &step.thread, name, &step.amount, &step.seed) != 4)
      return false;
    step.action = find_action(name);
    if (step.action == nullptr || step.thread >= kMostThreads) return false;
    ++g_step_count;
  }
  return fclose(file) == 0;
}

// Results go to the shared file as they come: what was done before a crash is known after it.
void do_step(unsigned number) {
  const Step& step = g_steps[number];
  if ((step.action->flags & kOwnMalloc) != 0 && !g_start.has_own_malloc) return;
  Context& context = g_contexts[step.thread];
  context.random.state = step.seed;
  head()->results[number] = INT64_MIN + 1;  // begun
  t_step = number + 1;
  head()->results[number] = step.action->act(context, step.amount);
}

void* run_thread(void* argument) {
  const auto thread = static_cast<unsigned>(reinterpret_cast<uintptr_t>(argument));
  for (unsigned i = 0; i < g_step_count; ++i)
    if (g_steps[i].thread == thread && (g_steps[i].action->flags & kAtEnd) == 0) do_step(i);
  // Some of what is left goes, and the rest is live at the end.
  for (unsigned i = 0; i < kPool; i += 2) {
    release(g_contexts[thread].pool[i]);
    g_contexts[thread].pool[i] = nullptr;
  }
  return nullptr;
}

int run() {
  prepare_signals();
  pthread_t threads[kMostThreads];
  bool is_started[kMostThreads] = {};
  for (unsigned i = 0; i < g_step_count; ++i) {
    const unsigned thread = g_steps[i].thread;
    if (thread == 0 || is_started[thread]) continue;
    if (pthread_create(&threads[thread], nullptr, run_thread, reinterpret_cast<void*>(uintptr_t{thread})) != 0)
      return 97;
    is_started[thread] = true;
  }
  run_thread(nullptr);
  for (unsigned thread = 1; thread < kMostThreads; ++thread)
    if (is_started[thread]) pthread_join(threads[thread], nullptr);
  for (unsigned i = 0; i < g_step_count; ++i)
    if ((g_steps[i].action->flags & kAtEnd) != 0) do_step(i);
  return 40;
}

}  // namespace
}  // namespace attack

#ifdef ATTACK_OWN_MALLOC
extern "C" __attribute__((visibility("default"))) int attack_malloc_is_async;  // of its library
#else
constexpr int attack_malloc_is_async = 0;
#endif

int main(int argc, char** argv) {
  using namespace attack;
  const char* command = argc > 1 ? argv[1] : "";
  g_start.self = "/proc/self/exe";
  g_start.has_own_malloc = attack_malloc_is_async != 0;
  if (strcmp(command, "generate") == 0 && argc > 2)
    return generate(strtoull(argv[2], nullptr, 10), argc > 3 ? static_cast<unsigned>(atoi(argv[3])) : 0,
                    argc > 4 ? argv[4] : "");
  if (strcmp(command, "sites") == 0) {
    for (const Site& site : kTable) puts(site.name);
    return 0;
  }
  if (strcmp(command, "actions") == 0) {
    for (unsigned i = 0; i < kActionCount; ++i) printf("%s %u\n", kActions[i].name, kActions[i].flags);
    return 0;
  }
  static char self[512];
  const ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
  if (length <= 0) return 97;
  g_start.self = self;
  memcpy(g_start.folder, self, static_cast<size_t>(strrchr(self, '/') - self));
  if (strcmp(command, "image") == 0 && argc == 6) {
    g_start.books = argv[2];
    if (!open_books(argv[2], false)) return 96;
    return live_as_image(static_cast<uint32_t>(atoi(argv[3])), static_cast<unsigned>(atoi(argv[4])), atoi(argv[5]));
  }
  if (strcmp(command, "run") != 0 || argc != 4 || !read_steps(argv[2])) return 2;
  g_start.books = argv[3];
  if (!open_books(argv[3], true)) return 96;
  enter_book(claim_book("root"));
  kMine->pid = getpid();
  return run();
}
