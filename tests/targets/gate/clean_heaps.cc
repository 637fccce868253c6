// tests/targets/gate/clean_heaps.cc: programs in good order that resemble those in disorder: none of them may have
// findings.
#include "../keep.h"
#include "paced.h"

#include <string.h>

#include <fstream>
#include <list>
#include <string>
#include <vector>

// Grown, but its size was told first.
KEEP_FRAME int reserved() {
  std::vector<long> numbers;
  numbers.reserve(1'000'003);
  for (long i = 0; i < 1'000'003; ++i) numbers.push_back(i);
  numbers.resize(900'000);
  std::vector<char> resized;
  resized.resize(9'000'000);
  return numbers.size() + resized.size() == 9'900'000 ? 0 : 97;
}

// Fills up over a third of the run, then drops the oldest for every new one.
KEEP_FRAME int cache() {
  std::list<void*> entries;
  const Pace pace(1.5);
  int count = 0;
  for (double passed = 0; passed < 1;) {
    passed = pace.passed();
    for (; count < passed * 3000; ++count) {
      entries.push_back(keep(malloc(1237)));
      if (entries.size() <= 1000) continue;
      free(entries.front());
      entries.pop_front();
    }
  }
  return 0;
}

// The same with large blocks, kept until the end.
KEEP_FRAME int large_cache() {
  const Pace pace(0.4);
  int count = 0;
  for (double passed = 0; passed < 1;) {
    passed = pace.passed();
    for (; count < passed * 30 && count < 10; ++count) keep(malloc(400'003));
  }
  return 0;
}

// Everything at the start, and then work.
KEEP_FRAME int once() {
  for (int i = 0; i < 8; ++i) keep(malloc(1'000'003));
  const Pace pace(1.2);
  while (pace.passed() < 1) {
  }
  return 0;
}

// Loads for most of its run, then works with it.
KEEP_FRAME int loads() {
  const Pace pace(1.5);
  int count = 0;
  for (double passed = 0; passed < 1;) {
    passed = pace.passed();
    for (; count < passed * 4000 && count < 2800; ++count) keep(malloc(1237));
  }
  return 0;
}

// Ten thousand small blocks at the start, kept to the end; in a long run a few more at its end.
KEEP_FRAME void* add_entry() { return keep(malloc(2053)); }
KEEP_FRAME int table(double seconds, int more) {
  for (int i = 0; i < 10'000; ++i) add_entry();
  const Pace pace(seconds);
  while (pace.passed() < 1) {
  }
  for (int i = 0; i < more; ++i) add_entry();
  return 0;
}

// Many small blocks over the whole run, each with an owner.
KEEP_FRAME int owned() {
  std::vector<void*> entries;
  for (int i = 0; i < 10'000; ++i) entries.push_back(add_entry());
  for (void* const entry : entries) free(entry);
  return 0;
}

// A cache of two thousand small blocks, which the program leaves as it is when it ends. What it leaves came up in the
// last hundredth of the run, so that a machine that stands still then does not make a good part of the run of it.
KEEP_FRAME int small_cache() {
  std::list<void*> entries;
  for (int i = 0; i < 200'000; ++i) {
    entries.push_back(add_entry());
    if (entries.size() <= 2000) continue;
    free(entries.front());
    entries.pop_front();
  }
  return 0;
}

// One peak at its start, and as much again at its end.
KEEP_FRAME void* load_batch() { return keep(malloc(12'000'011)); }
KEEP_FRAME int batches() {
  free(keep(load_batch()));
  const Pace pace(1.2);
  while (pace.passed() < 1) {
  }
  free(keep(load_batch()));
  return 0;
}

// Of one shape, but none is the copy of another.
KEEP_FRAME double* matrix_a() { return static_cast<double*>(keep(calloc(500'000, 8))); }
KEEP_FRAME double* matrix_b() { return static_cast<double*>(keep(calloc(500'000, 8))); }
KEEP_FRAME double* matrix_c() { return static_cast<double*>(keep(calloc(500'000, 8))); }
KEEP_FRAME int matrices() {
  double* const a = matrix_a();
  double* const b = matrix_b();
  double* const c = matrix_c();
  for (int i = 0; i < 500'000; ++i) c[i] = a[i] * b[i];
  free(keep(a));
  free(keep(b));
  free(keep(c));
  return 0;
}

// By line, in one buffer.
KEEP_FRAME int lines(const char* path) {
  std::ifstream file(path);
  std::string line;
  int count = 0;
  while (std::getline(file, line)) ++count;
  return count > 0 ? 0 : 97;
}

// One workspace for all calls, which may grow.
KEEP_FRAME int workspace() {
  std::vector<char> room;
  for (int i = 0; i < 20'000; ++i) room.assign(4099, 'x');
  return room.size() == 4099 ? 0 : 97;
}

int main(int argc, char** argv) {
  const std::string kind = argc > 1 ? argv[1] : "";
  if (kind == "reserved") return reserved();
  if (kind == "cache") return cache();
  if (kind == "large-cache") return large_cache();
  if (kind == "once") return once();
  if (kind == "loads") return loads();
  if (kind == "table") return table(0.3, 0);
  if (kind == "late-table") return table(1.5, 10);
  if (kind == "owned") return owned();
  if (kind == "small-cache") return small_cache();
  if (kind == "batches") return batches();
  if (kind == "matrices") return matrices();
  if (kind == "lines") return lines(argv[2]);
  if (kind == "workspace") return workspace();
  return 96;
}
