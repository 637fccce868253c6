// tests/targets/cuda/cuda_unloading.cc: threads that use the CUDA driver and allocate while libraries that were loaded
// before it are closed.
//
// usage: cuda_unloading calls|names PLUGIN...
//   calls    the same functions again and again      names    each function of the driver is looked up, for the first
//            time
// Exit status 0: all of it succeeded.
#include "../keep.h"
#include "tests/fake_cuda/fake_cuda.h"

#include <dlfcn.h>
#include <string.h>

#include <atomic>
#include <thread>
#include <vector>

namespace {

std::atomic<bool> stop{false};
std::atomic<int> rounds{0};
std::atomic<int> failures{0};

void call(decltype(&::cuMemcpyHtoD_v2) copy, decltype(&::cuLaunchKernel) launch) {
  char byte = 0;
  for (; !stop.load(std::memory_order_relaxed); ++rounds) {
    void* block = keep(malloc(100));
    if (copy(8, &byte, 1) != kSuccess) ++failures;
    if (launch(nullptr, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr) != kSuccess) ++failures;
    free(block);
  }
}

constexpr const char* kNames[] = {
#define X(symbol, base, version, per_thread, params) #base,
#include "agent/cuda/functions.def"
#undef X
};

void look_up(decltype(&::cuGetProcAddress_v2) get, size_t first) {
  ++rounds;
  while (rounds < 2) {
  }
  for (size_t i = first; i < sizeof kNames / sizeof *kNames; i += 2) {
    void* found = nullptr;
    get(kNames[i], &found, 13000, 0, nullptr);  // some are none of the fake driver's
  }
}

template <typename Function>
Function find(void* library, const char* name, Function) {
  return reinterpret_cast<Function>(dlsym(library, name));
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<void*> plugins;
  for (int i = 2; i < argc; ++i) {
    plugins.push_back(dlopen(argv[i], RTLD_NOW | RTLD_LOCAL));
    if (plugins.back() == nullptr) return 89;
  }
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return 90;
#define FIND(symbol) find(library, #symbol, &::symbol)
  auto* copy = FIND(cuMemcpyHtoD_v2);
  auto* launch = FIND(cuLaunchKernel);
  auto* get = FIND(cuGetProcAddress_v2);
  const bool looks_up = strcmp(argv[1], "names") == 0;
  std::vector<std::thread> threads;
  for (size_t i = 0; i < 2; ++i) threads.emplace_back([=] { looks_up ? look_up(get, i) : call(copy, launch); });
  while (rounds < (looks_up ? 2 : 2000)) std::this_thread::yield();
  for (void* plugin : plugins) dlclose(plugin);
  stop = true;
  for (std::thread& thread : threads) thread.join();
  return failures == 0 ? 0 : 1;
}
