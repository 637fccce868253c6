// tests/targets/cuda/cuda_gpu_time.cc: scopes with kernels on the fake driver, whose times are known to the nanosecond.
//
// arguments: scopes RUNS | capture | threads NUMBER | unread | end | ends_context | full NUMBER (of streams)
#include "heapprof/heapprof.h"
#include "tests/fake_cuda/fake_cuda.h"

#include <errno.h>
#include <stdio.h>

#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

namespace {

void* kernel = nullptr;
int failures = 0;

void expect(bool holds, const char* what) {
  if (holds) return;
  fprintf(stderr, "%s\n", what);
  ++failures;
}
#define EXPECT(condition) expect(condition, #condition)

void launch(CUstream stream, uint64_t duration_ns) {
  fake_cuda_kernel_ns(duration_ns);
  errno = 4242;
  EXPECT(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, nullptr, nullptr) == kSuccess);
  EXPECT(errno == 4242);
}

CUstream new_stream() {
  CUstream stream = nullptr;
  EXPECT(cuStreamCreate(&stream, 0) == kSuccess);
  return stream;
}

// Of its own 7 µs in two intervals of 6 and 1, and 15 µs in the scope inside of it.
void run_step(CUstream one, CUstream other) {
  HEAPPROF_SCOPE("step");
  for (int i = 0; i < 3; ++i) launch(one, 2000);
  {
    HEAPPROF_SCOPE("inner");
    for (int i = 0; i < 2; ++i) launch(one, 5000);
    launch(other, 5000);
    fake_cuda_fail_next("cuLaunchKernel", 700);
    EXPECT(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, one, nullptr, nullptr) == 700);
  }
  launch(one, 1000);
  fake_cuda_pass_ns(1'000'000'000);  // the host does something else, and the device nothing
}

void run_scopes(int runs) {
  const CUstream one = new_stream();
  const CUstream other = new_stream();
  launch(nullptr, 4000);
  for (int i = 0; i < runs; ++i) {
    run_step(one, other);
    fake_cuda_pass_ns(1'000'000'000);
    if (i % 3 == 0) EXPECT(cuCtxSynchronize() == kSuccess);
  }
  EXPECT(cuCtxSynchronize() == kSuccess);
}

void run_capture(CUcontext context) {
  HEAPPROF_SCOPE("captured");
  const CUstream stream = new_stream();
  const CUstream other = new_stream();
  launch(other, 3000);
  void* graph = nullptr;
  EXPECT(cuStreamBeginCapture_v2(stream, 0) == kSuccess);
  for (int i = 0; i < 5; ++i) launch(stream, 1000);
  std::thread([other, context] {
    cuCtxSetCurrent(context);
    launch(other, 3000);
    cuStreamSynchronize(other);
  }).join();
  EXPECT(cuStreamEndCapture(stream, &graph) == kSuccess);  // nobody has broken it
  size_t nodes = 0;
  EXPECT(cuGraphGetNodes(graph, nullptr, &nodes) == kSuccess && nodes == 5);
}

void run_thread() {
  const CUstream stream = new_stream();
  for (int i = 0; i < 1000; ++i) {
    HEAPPROF_SCOPE("thread");
    for (int j = 0; j < 2; ++j)
      EXPECT(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, nullptr, nullptr) == kSuccess);
    EXPECT(cuStreamSynchronize(stream) == kSuccess);
  }
}

void run_threads(unsigned number, CUcontext context) {
  fake_cuda_kernel_ns(1000);
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < number; ++i) {
    threads.emplace_back([context] {
      cuCtxSetCurrent(context);
      run_thread();
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// More intervals at once than there is room for.
void run_full(unsigned number) {
  for (unsigned i = 0; i < number; ++i) {
    HEAPPROF_SCOPE("full");
    launch(nullptr, 1000);
  }
  cuCtxSynchronize();
  HEAPPROF_SCOPE("after");
  launch(nullptr, 1000);
  cuCtxSynchronize();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const std::string what = argv[1];
  const int number = argc > 2 ? std::atoi(argv[2]) : 0;
  CUcontext context = nullptr;
  void* module = nullptr;
  cuCtxCreate_v2(&context, 0, 0);
  cuModuleLoadData(&module, nullptr);
  cuModuleGetFunction(&kernel, module, "kernel");
  if (what == "scopes") run_scopes(number);
  if (what == "capture") run_capture(context);
  if (what == "threads") run_threads(static_cast<unsigned>(number), context);
  if (what == "full") run_full(static_cast<unsigned>(number));
  if (what == "unread" || what == "end" || what == "ends_context") {
    HEAPPROF_SCOPE("last");
    launch(nullptr, 9000);
  }
  if (what == "end" || what == "ends_context") fake_cuda_finish();
  if (what == "ends_context") cuCtxDestroy_v2(context);
  return failures == 0 ? 0 : 1;
}
