// tests/fake_cuda/fake_kernels.cc: see fake_kernels.h. A handle is the address of what it stands for, so a wrong one is
// found out.
//
// FAKE_CUDA_NAMELESS=1: nobody can be asked for a kernel's name, as before CUDA 12.3.
//
// FAKE_CUDA_EVENTLESS=1: there are no events to be had.
#include "tests/fake_cuda/fake_kernels.h"

#include "tests/fake_cuda/fake_pools.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace {

constexpr int kNotReady = 600;
constexpr const char* kListed[] = {"listed_first", "listed_second"};
constexpr int kCaptureUnsupported = 900;

struct Function {
  std::string name;
};
struct Kernel {
  std::string name;
  Function* function;
};
struct Event {
  bool has_timing;
  bool is_complete;
  uint64_t at_ns;
  void* stream;
};

struct Gpu {
  std::map<std::pair<void*, std::string>, Function*> functions;
  std::map<std::pair<void*, std::string>, Kernel*> kernels;
  std::set<const void*> all_functions;
  std::set<const void*> all_kernels;
  std::set<Event*> events;
  std::map<void*, uint64_t> busy_until_ns;
  uint64_t now_ns = 0;
  uint64_t kernel_ns = 1000;
};
Gpu& gpu() {
  static Gpu* const instance = new Gpu;
  return *instance;
}

Function* function_of(void* module, const std::string& name) {
  Function*& function = gpu().functions[{module, name}];
  if (function == nullptr) function = new Function{name};
  gpu().all_functions.insert(function);
  return function;
}

// A real driver may take a wrong handle for a pointer.
void must_be(const std::set<const void*>& known, const void* handle, const char* what) {
  if (known.count(handle) != 0) return;
  fprintf(stderr, "fake driver: %p is no %s\n", handle, what);
  abort();
}

}  // namespace

#define ENTER(function)                                          \
  if (const int failure = fake_enter(#function)) return failure; \
  std::lock_guard guard(fake_mutex())

void fake_cuda_kernel_ns(uint64_t duration_ns) {
  std::lock_guard guard(fake_mutex());
  gpu().kernel_ns = duration_ns;
}
void fake_cuda_pass_ns(uint64_t duration_ns) {
  std::lock_guard guard(fake_mutex());
  gpu().now_ns += duration_ns;
}

void* fake_function(void* module, const char* name) { return function_of(module, name); }

void fake_launch(void* stream) {
  uint64_t& busy_until_ns = gpu().busy_until_ns[stream];
  busy_until_ns = std::max(busy_until_ns, gpu().now_ns) + gpu().kernel_ns;
}

void fake_record_event(void* event, void* stream) {
  auto* const known = static_cast<Event*>(event);
  if (gpu().events.count(known) == 0) return;
  *known = {known->has_timing, false, std::max(gpu().busy_until_ns[stream], gpu().now_ns), stream};
}

void fake_complete(void* stream) {
  for (Event* event : gpu().events) event->is_complete = event->is_complete || event->stream == stream;
}
void fake_complete_all() {
  for (Event* event : gpu().events) event->is_complete = true;
}
void fake_complete_event(void* event) {
  auto* const known = static_cast<Event*>(event);
  if (gpu().events.count(known) == 0) return;
  for (Event* event : gpu().events) {
    if (event->stream == known->stream && event->at_ns <= known->at_ns) event->is_complete = true;
  }
}

void fake_cuda_finish() {
  std::lock_guard guard(fake_mutex());
  fake_complete_all();
}

int cuLibraryGetKernel(void** kernel, void* library, const char* name) {
  ENTER(cuLibraryGetKernel);
  Kernel*& known = gpu().kernels[{library, name}];
  if (known == nullptr) known = new Kernel{name, nullptr};
  gpu().all_kernels.insert(known);
  *kernel = known;
  return kSuccess;
}
// Each library and module has the same two kernels, whatever else is asked for by name.
int cuLibraryGetKernelCount(unsigned* count, void*) {
  *count = std::size(kListed);
  return kSuccess;
}
int cuLibraryEnumerateKernels(void** kernels, unsigned most, void* library) {
  for (unsigned i = 0; i < most && i < std::size(kListed); ++i) cuLibraryGetKernel(&kernels[i], library, kListed[i]);
  return kSuccess;
}
int cuModuleGetFunctionCount(unsigned* count, void*) {
  *count = std::size(kListed);
  return kSuccess;
}
int cuModuleEnumerateFunctions(void** functions, unsigned most, void* module) {
  std::lock_guard guard(fake_mutex());
  for (unsigned i = 0; i < most && i < std::size(kListed); ++i) functions[i] = fake_function(module, kListed[i]);
  return kSuccess;
}
int cuKernelGetFunction(void** function, void* kernel) {
  ENTER(cuKernelGetFunction);
  must_be(gpu().all_kernels, kernel, "kernel");
  auto* const known = static_cast<Kernel*>(kernel);
  if (known->function == nullptr) known->function = function_of(kernel, known->name);
  *function = known->function;
  return kSuccess;
}
int cuFuncGetName(const char** name, const void* function) {
  errno = kErrnoOfQuestions;
  ENTER(cuFuncGetName);
  if (getenv("FAKE_CUDA_NAMELESS") != nullptr) return kNotFound;
  must_be(gpu().all_functions, function, "function");
  *name = static_cast<const Function*>(function)->name.c_str();
  return kSuccess;
}
int cuKernelGetName(const char** name, const void* kernel) {
  errno = kErrnoOfQuestions;
  ENTER(cuKernelGetName);
  if (getenv("FAKE_CUDA_NAMELESS") != nullptr) return kNotFound;
  must_be(gpu().all_kernels, kernel, "kernel");
  *name = static_cast<const Kernel*>(kernel)->name.c_str();
  return kSuccess;
}

int cuEventCreate(void** event, unsigned flags) {
  ENTER(cuEventCreate);
  if (getenv("FAKE_CUDA_EVENTLESS") != nullptr) return kNotFound;
  constexpr unsigned kWithoutTiming = 2;  // CU_EVENT_DISABLE_TIMING
  auto* const fresh = new Event{(flags & kWithoutTiming) == 0, false, 0, nullptr};
  gpu().events.insert(fresh);
  *event = fresh;
  return kSuccess;
}
int cuEventDestroy_v2(void* event) {
  ENTER(cuEventDestroy_v2);
  return gpu().events.erase(static_cast<Event*>(event)) != 0 ? kSuccess : kInvalidValue;
}
int cuEventQuery(void* event) {
  errno = kErrnoOfQuestions;
  ENTER(cuEventQuery);
  if (fake_breaks_capture()) return kCaptureUnsupported;
  auto* const known = static_cast<Event*>(event);
  if (gpu().events.count(known) == 0) return kInvalidValue;
  return known->is_complete ? kSuccess : kNotReady;
}
int cuEventElapsedTime(float* milliseconds, void* begin, void* end) {
  errno = kErrnoOfQuestions;
  ENTER(cuEventElapsedTime);
  const auto* const from = static_cast<Event*>(begin);
  const auto* const to = static_cast<Event*>(end);
  if (gpu().events.count(static_cast<Event*>(begin)) == 0 || gpu().events.count(static_cast<Event*>(end)) == 0 ||
      !from->has_timing || !to->has_timing)
    return kInvalidValue;
  if (!from->is_complete || !to->is_complete) return kNotReady;
  *milliseconds = static_cast<float>(static_cast<double>(to->at_ns - from->at_ns) / 1e6);
  return kSuccess;
}
