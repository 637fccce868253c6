// tests/bench/tight.cc: what one malloc and free pair costs at a given stack depth.
// usage: tight DEPTH [PAIRS] [--threaded | --threads N | --shape NAME]
// It prints nanoseconds per pair, the median of 15 slices.
// --threaded keeps a second, sleeping thread, so that the process is not single-threaded and every event is stamped.
// --threads has N threads at it at once, PAIRS in all, and prints the time for all of them over their number.
// --shape has another kind of pair than malloc and free at one place; kShapes says which there are.
#include <heapprof/heapprof.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <new>
#include <vector>

namespace {

constexpr int kSlices = 15;
void* volatile g_sink;
int g_gate[2];

size_t size_of(long i) { return static_cast<size_t>(100 + (i & 7)); }

void free_pair(void* block) {
  g_sink = block;
  std::free(block);
}

[[gnu::noinline]] void pair(long pairs) {
  for (long i = 0; i < pairs; ++i) free_pair(std::malloc(size_of(i)));
}

// Two lines of one function in turn: the innermost return address changes, and nothing else.
[[gnu::noinline]] void two_sites(long pairs) {
  for (long i = 0; i < pairs; i += 2) {
    free_pair(std::malloc(size_of(i)));
    free_pair(std::malloc(size_of(i)));
  }
}

// Two functions in turn, with frames of different sizes.
template <int kWords>
[[gnu::noinline]] void* allocate_in(long i) {
  volatile long words[kWords];
  words[kWords - 1] = i;
  void* block = std::malloc(size_of(words[kWords - 1]));
  words[0] = i;
  return words[0] == i ? block : nullptr;
}
[[gnu::noinline]] void two_callees(long pairs) {
  for (long i = 0; i < pairs; i += 2) {
    free_pair(allocate_in<4>(i));
    free_pair(allocate_in<40>(i));
  }
}

// One function, called from two lines in turn: all is as before but the return address next to the innermost.
[[gnu::noinline]] void two_callers(long pairs) {
  for (long i = 0; i < pairs; i += 2) {
    free_pair(allocate_in<4>(i));
    free_pair(allocate_in<4>(i));
  }
}

[[gnu::noinline]] void zeroed(long pairs) {
  for (long i = 0; i < pairs; ++i) free_pair(std::calloc(1, size_of(i)));
}

[[gnu::noinline]] void resized(long pairs) {
  void* block = std::malloc(100);
  for (long i = 0; i < pairs; ++i) g_sink = block = std::realloc(block, size_of(i));
  std::free(block);
}

[[gnu::noinline]] void aligned(long pairs) {
  for (long i = 0; i < pairs; ++i) free_pair(std::aligned_alloc(16, size_of(i) & ~size_t{15}));
}

[[gnu::noinline]] void newed(long pairs) {
  for (long i = 0; i < pairs; ++i) {
    void* block = ::operator new(size_of(i));
    g_sink = block;
    ::operator delete(block);
  }
}

// The begin and the end of a scope: no block at all.
[[gnu::noinline]] void scoped(long pairs) {
  for (long i = 0; i < pairs; ++i) {
    HEAPPROF_SCOPE("pair");
  }
}

struct Shape {
  const char* name;
  void (*run)(long pairs);
};
constexpr Shape kShapes[] = {
    {"pair", pair},       {"sites", two_sites}, {"callees", two_callees}, {"callers", two_callers}, {"calloc", zeroed},
    {"realloc", resized}, {"aligned", aligned}, {"new", newed},           {"scope", scoped},
};
void (*g_run)(long pairs) = pair;

[[gnu::noinline]] double slice_ns_per_pair(long pairs) {
  const auto start = std::chrono::steady_clock::now();
  g_run(pairs);
  const std::chrono::duration<double, std::nano> elapsed = std::chrono::steady_clock::now() - start;
  return elapsed.count() / static_cast<double>(pairs);
}

// The result is used after the call, so that no frame is left out by a tail call.
[[gnu::noinline]] double descend(int depth, long pairs) {
  volatile int level = depth;
  const double result = depth <= 1 ? slice_ns_per_pair(pairs) : descend(depth - 1, pairs);
  return level > 0 ? result : 0;
}

void* wait_at_gate(void*) {
  char byte;
  return read(g_gate[0], &byte, 1) == 1 ? nullptr : &g_gate;
}

struct Producer {
  int depth;
  long pairs;
};
void* produce(void* argument) {
  const auto* producer = static_cast<const Producer*>(argument);
  descend(producer->depth, producer->pairs);
  return nullptr;
}

int run_threads(int depth, long pairs, int threads) {
  const Producer producer{depth, pairs / threads};
  std::vector<pthread_t> ids(static_cast<size_t>(threads));
  const auto start = std::chrono::steady_clock::now();
  for (pthread_t& id : ids) {
    if (pthread_create(&id, nullptr, produce, const_cast<Producer*>(&producer)) != 0) return 1;
  }
  for (const pthread_t id : ids) pthread_join(id, nullptr);
  const std::chrono::duration<double, std::nano> elapsed = std::chrono::steady_clock::now() - start;
  std::printf("%.2f\n", elapsed.count() / static_cast<double>(producer.pairs * threads));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const int depth = argc > 1 ? std::atoi(argv[1]) : 30;
  const long pairs = argc > 2 ? std::atol(argv[2]) : 1'000'000;
  const bool threaded = argc > 3 && std::strcmp(argv[3], "--threaded") == 0;
  const char* wanted = argc > 4 && std::strcmp(argv[3], "--shape") == 0 ? argv[4] : "pair";
  const Shape* const shape = std::find_if(kShapes, std::end(kShapes),
                                          [&](const Shape& known) { return std::strcmp(known.name, wanted) == 0; });
  if (depth < 1 || pairs < kSlices || shape == std::end(kShapes)) {
    std::fprintf(stderr, "usage: tight DEPTH [PAIRS] [--threaded | --threads N | --shape NAME]\n");
    return 2;
  }
  g_run = shape->run;
  if (argc > 4 && std::strcmp(argv[3], "--threads") == 0) return run_threads(depth, pairs, std::atoi(argv[4]));
  pthread_t sleeper;
  if (threaded && (pipe(g_gate) != 0 || pthread_create(&sleeper, nullptr, wait_at_gate, nullptr) != 0)) return 1;
  double slices[kSlices];
  for (double& slice : slices) slice = descend(depth, pairs / kSlices);
  if (threaded) {
    if (write(g_gate[1], "x", 1) != 1) return 1;
    pthread_join(sleeper, nullptr);
  }
  std::sort(slices, slices + kSlices);
  std::printf("%.2f\n", slices[kSlices / 2]);
  return 0;
}
