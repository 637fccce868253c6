// tests/bench/tight.cc: what one malloc and free pair costs at a given stack depth.
// usage: tight DEPTH [PAIRS] [--threaded | --threads N]     prints nanoseconds per pair, the median of 15 slices
// --threaded keeps a second, sleeping thread, so that the process is not single-threaded and every event is stamped.
// --threads has N threads at it at once, PAIRS in all, and prints the time for all of them over their number.
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

constexpr int kSlices = 15;
void* volatile g_sink;
int g_gate[2];

[[gnu::noinline]] double slice_ns_per_pair(long pairs) {
  const auto start = std::chrono::steady_clock::now();
  for (long i = 0; i < pairs; ++i) {
    void* block = std::malloc(static_cast<size_t>(100 + (i & 7)));
    g_sink = block;
    std::free(block);
  }
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
  if (depth < 1 || pairs < kSlices) {
    std::fprintf(stderr, "usage: tight DEPTH [PAIRS] [--threaded | --threads N]\n");
    return 2;
  }
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
