// tests/targets/cuda/cuda_kernels.cc: launches kernels on the fake driver, by every way and in scopes, in numbers that
// tests/integration/cuda/cuda_kernels.sh knows.
//
// arguments: scopes | listed | graph | many NUMBER (so many shapes) | names NUMBER (so many kernels) | threads NUMBER |
// fork | tight NUMBER (launches, and nothing else)
#include "heapprof/heapprof.h"
#include "tests/fake_cuda/fake_cuda.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {

void* module = nullptr;
CUcontext context = nullptr;

void* find(const char* name) {
  void* function = nullptr;
  if (cuModuleGetFunction(&function, module, name) != kSuccess) std::exit(3);
  return function;
}

void launch(void* function, unsigned grid, unsigned block, unsigned shared = 0, void* stream = nullptr) {
  if (cuLaunchKernel(function, grid, 1, 1, block, 1, 1, shared, stream, nullptr, nullptr) != kSuccess) std::exit(4);
}

// Each entry point once, with a shape of its own.
void launch_by_all_ways(void* f) {
  const CudaLaunchConfiguration as{{5, 6, 7}, {8, 4, 2}, 1024, nullptr, nullptr, 0};
  cuLaunchKernel(f, 1, 2, 3, 32, 2, 1, 100, nullptr, nullptr, nullptr);
  cuLaunchKernel_ptsz(f, 2, 2, 3, 32, 2, 1, 100, nullptr, nullptr, nullptr);
  cuLaunchKernelEx(&as, f, nullptr, nullptr);
  cuLaunchKernelEx_ptsz(&as, f, nullptr, nullptr);
  cuLaunchCooperativeKernel(f, 0x7fffffff, 65535, 65535, 1024, 1, 64, 232448, nullptr, nullptr);
  cuLaunchCooperativeKernel_ptsz(f, 3, 2, 3, 32, 2, 1, 100, nullptr, nullptr);
}

void run_scopes() {
  void* const gemm = find("_ZN3app4gemmIfEEvPT_i");
  void* const softmax = find("softmax");
  launch(gemm, 1, 1);  // outside
  for (int i = 0; i < 10; ++i) {
    HEAPPROF_SCOPE("step");
    launch(gemm, 256, 128);
    {
      HEAPPROF_SCOPE_IN("attention", "scores");
      launch(gemm, 256, 128);
      launch(gemm, 64, 128, 4096);
      launch(softmax, 64, 32);
      launch(softmax, 64, 32);
    }
    launch(softmax, 1, 32);
  }
  {
    HEAPPROF_SCOPE("ways");
    launch_by_all_ways(find("all_ways"));
  }
  {
    HEAPPROF_SCOPE("handles");
    void* library = nullptr;
    void* kernel = nullptr;
    void* function = nullptr;
    cuLibraryLoadData(&library, nullptr, nullptr, nullptr, 0, nullptr, nullptr, 0);
    cuLibraryGetKernel(&kernel, library, "of_library");
    launch(kernel, 2, 2);
    cuKernelGetFunction(&function, kernel);
    launch(function, 2, 2);
    int nobodys = 0;
    launch(&nobodys, 3, 3);
    fake_cuda_fail_next("cuLaunchKernel", 1);
    cuLaunchKernel(gemm, 9, 9, 9, 9, 9, 9, 9, nullptr, nullptr, nullptr);
    const std::string name(3000, 'n');  // longer than what is kept of it
    launch(find(name.c_str()), 4, 4);
  }
  {
    HEAPPROF_SCOPE("kinds");
    for (int i = 0; i < 9; ++i) launch(find(("kind_" + std::to_string(i)).c_str()), 1, 1);
  }
}

// Kernels of which no name was asked for, but all that a library has: fewer are there than there is room for.
void run_listed() {
  HEAPPROF_SCOPE("listed");
  void* library = nullptr;
  void* of_module[9];
  void* of_library[9];
  for (void*& handle : of_module) handle = &handle;
  for (void*& handle : of_library) handle = &handle;
  cuLibraryLoadData(&library, nullptr, nullptr, nullptr, 0, nullptr, nullptr, 0);
  if (cuModuleEnumerateFunctions(of_module, 9, module) != kSuccess) std::exit(5);
  if (cuLibraryEnumerateKernels(of_library, 9, library) != kSuccess) std::exit(6);
  launch(of_module[0], 1, 1);
  launch(of_library[1], 2, 1);
  launch(of_library[2], 3, 1);  // no handle
}

void run_graph() {
  HEAPPROF_SCOPE("graphs");
  void* const kernel = find("node");
  CUstream stream = nullptr;
  cuStreamCreate(&stream, 0);
  void* graph = nullptr;
  void* executable = nullptr;
  cuStreamBeginCapture_v2(stream, 0);
  for (int i = 0; i < 200; ++i) launch(kernel, 1, 1, 0, stream);
  cuStreamEndCapture(stream, &graph);
  cuGraphInstantiateWithFlags(&executable, graph, 0);
  for (int i = 0; i < 5; ++i) cuGraphLaunch(executable, stream);
  cuGraphLaunch(&graph, stream);  // nobody saw it being made
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const std::string what = argv[1];
  const unsigned number = argc > 2 ? static_cast<unsigned>(std::atoi(argv[2])) : 0;
  cuCtxCreate_v2(&context, 0, 0);
  cuModuleLoadData(&module, nullptr);
  if (what == "scopes") run_scopes();
  if (what == "listed") run_listed();
  if (what == "graph") run_graph();
  if (what == "many") {
    HEAPPROF_SCOPE("many");
    for (unsigned i = 1; i <= number; ++i) launch(find("kernel"), i, 1);
  }
  if (what == "names") {
    HEAPPROF_SCOPE("names");
    for (unsigned i = 0; i < 2 * number; ++i) launch(find(("k" + std::to_string(i % number)).c_str()), 1, 1);
  }
  if (what == "threads") {
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < number; ++i) {
      threads.emplace_back([i] {
        for (int j = 0; j < 1000; ++j) {
          HEAPPROF_SCOPE("thread");
          launch(find(("t" + std::to_string((i + static_cast<unsigned>(j)) % 10)).c_str()), 1, 1);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  if (what == "fork") {
    void* const kernel = find("shared");
    launch(kernel, 1, 1);
    if (const pid_t child = fork(); child == 0) {
      void* volatile block = std::malloc(number + 1);
      std::free(block);  // of a child that allocates nothing there is no profile
      HEAPPROF_SCOPE("child");
      launch(kernel, 2, 1);
      _exit(0);
    } else {
      waitpid(child, nullptr, 0);
    }
  }
  if (what == "tight") {
    void* const kernel = find("tight");
    for (unsigned i = 0; i < number; ++i) launch(kernel, 1, 1);
  }
}
