// tests/targets/cuda_unloading.cc: threads that call the CUDA driver and allocate while libraries that were loaded before it are closed.
//
// usage: cuda_unloading PLUGIN...      exit status 0: every call succeeded
#include "keep.h"
#include "tests/fake_cuda/fake_cuda.h"

#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

namespace {

std::atomic<bool> stop{false};
std::atomic<int> failures{0};

template <typename Function>
void call_until_stopped(Function copy, decltype(&::cuLaunchKernel) launch) {
  char byte = 0;
  while (!stop.load(std::memory_order_relaxed)) {
    void* block = keep(malloc(100));
    if (copy(8, &byte, 1) != kSuccess) ++failures;
    if (launch(nullptr, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr) != kSuccess) ++failures;
    free(block);
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<void*> plugins;
  for (int i = 1; i < argc; ++i) {
    plugins.push_back(dlopen(argv[i], RTLD_NOW | RTLD_LOCAL));
    if (plugins.back() == nullptr) return 89;
  }
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return 90;
  auto* copy = reinterpret_cast<decltype(&::cuMemcpyHtoD_v2)>(dlsym(library, "cuMemcpyHtoD_v2"));
  auto* launch = reinterpret_cast<decltype(&::cuLaunchKernel)>(dlsym(library, "cuLaunchKernel"));
  if (copy == nullptr || launch == nullptr) return 91;
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) threads.emplace_back([&] { call_until_stopped(copy, launch); });
  usleep(5000);
  for (void* plugin : plugins) dlclose(plugin);
  usleep(1000);
  stop = true;
  for (std::thread& thread : threads) thread.join();
  return failures == 0 ? 0 : 1;
}
