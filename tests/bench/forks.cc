// tests/bench/forks.cc: what a fork costs whose child allocates once.
// usage: forks COUNT [lives]     prints microseconds: the median of the child's first malloc and free in the last line
//
// Above it: the same of the slowest in fifty, and the median from before fork until the parent has waited for the
// child. With `lives` a child of the same kind lives until the end, so that two processes are there all the time.
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

double now_us() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) / 1e3;
}

[[gnu::noinline]] void* allocate_one(size_t size) { return std::malloc(size); }

double quantile(std::vector<double>& values, double part) {
  std::sort(values.begin(), values.end());
  return values[static_cast<size_t>(part * static_cast<double>(values.size() - 1))];
}

}  // namespace

int main(int argc, char** argv) {
  const int count = argc > 1 ? std::atoi(argv[1]) : 500;
  auto* first_us =
      static_cast<double*>(mmap(nullptr, sizeof(double), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  if (first_us == MAP_FAILED || count < 1) return 2;
  std::free(allocate_one(100));
  int ends[2];
  if (pipe(ends) != 0) return 2;
  if (argc > 2 && fork() == 0) {
    close(ends[1]);
    std::free(allocate_one(100));
    char byte;
    _exit(read(ends[0], &byte, 1) == 0 ? 0 : 1);
  }
  std::vector<double> first;
  std::vector<double> whole;
  for (int i = 0; i < count; ++i) {
    const double start = now_us();
    const pid_t child = fork();
    if (child == 0) {
      const double begin = now_us();
      std::free(allocate_one(100));
      *first_us = now_us() - begin;
      _exit(0);
    }
    if (child < 0 || waitpid(child, nullptr, 0) != child) return 2;
    whole.push_back(now_us() - start);
    first.push_back(*first_us);
  }
  std::printf("slowest in fifty: %.0f, fork to exit: %.0f\n", quantile(first, 0.98), quantile(whole, 0.5));
  std::printf("%.1f\n", quantile(first, 0.5));
  close(ends[1]);
}
