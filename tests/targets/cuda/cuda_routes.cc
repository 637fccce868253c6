// tests/targets/cuda/cuda_routes.cc: the ways in which programs reach the CUDA driver. usage: cuda_routes ROUTE
// [LIBRARY]
//
// Each allocates 100 blocks of 1235 bytes on device 0, and frees half of them. LIBRARY is loaded before, and has a
// cuMemAlloc_v2 of its own, which gives 999.
//   dlsym        by handle             default    dlsym(RTLD_DEFAULT), the library loaded globally
//   v1, v2       cuGetProcAddress as CUDA 11 and 12 ask for it, itself included, as static cudart does
//   v2_stream    the same with the per-thread default stream
//   later        as a newer CUDA asks, where the driver has no newer ABI of these
//   absent       there is no driver: no name may be found, and dlerror must say so
//   local        a driver that is loaded locally is not found by RTLD_DEFAULT
//   old          an older ABI, with 32-bit sizes, is the driver's own, not ours
//   newer        likewise one that is not known yet
#include "../keep.h"
#include "tests/fake_cuda/fake_cuda.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

namespace {

using Allocate = int (*)(CUdeviceptr*, size_t);
using Free = int (*)(CUdeviceptr);
using GetV1 = decltype(&cuGetProcAddress);
using GetV2 = decltype(&cuGetProcAddress_v2);

KEEP_FRAME void use(Allocate allocate, Free release) {
  CUdeviceptr blocks[100];
  for (CUdeviceptr& block : blocks) {
    if (allocate(&block, 1235) != kSuccess) exit(80);
  }
  for (int i = 0; i < 50; ++i) {
    if (release(blocks[i]) != kSuccess) exit(81);
  }
}

template <typename Function>
Function find(void* handle, const char* name) {
  auto function = reinterpret_cast<Function>(dlsym(handle, name));
  if (function == nullptr) {
    fprintf(stderr, "%s: %s\n", name, dlerror());
    exit(82);
  }
  return function;
}

void use_get_v1(GetV1 get) {
  GetV1 itself = nullptr;
  Allocate allocate = nullptr;
  Free release = nullptr;
  if (get("cuGetProcAddress", reinterpret_cast<void**>(&itself), 11030, 0) != kSuccess ||
      itself("cuMemAlloc", reinterpret_cast<void**>(&allocate), 11030, 0) != kSuccess ||
      itself("cuMemFree", reinterpret_cast<void**>(&release), 11030, 0) != kSuccess)
    exit(83);
  use(allocate, release);
}

void use_get_v2(GetV2 get, uint64_t flags) {
  GetV2 itself = nullptr;
  int status = -1;
  void* none = &none;
  if (get("", &none, 0, 0, &status) == kSuccess || none != nullptr) exit(84);
  if (get("cuGetProcAddress", reinterpret_cast<void**>(&itself), 12000, flags, &status) != kSuccess || status != 0)
    exit(85);
  void* allocate = nullptr;
  Free release = nullptr;
  if (itself("cuMemAlloc", &allocate, 3020, flags, nullptr) != kSuccess ||
      itself("cuMemFree", reinterpret_cast<void**>(&release), 3020, flags, &status) != kSuccess)
    exit(86);
  use(reinterpret_cast<Allocate>(allocate), release);
}

int without_driver() {
  dlerror();
  if (dlsym(RTLD_DEFAULT, "cuMemAlloc_v2") != nullptr || dlerror() == nullptr) return 70;
  if (dlsym(RTLD_NEXT, "cuMemAlloc_v2") != nullptr) return 71;
  if (dlsym(RTLD_DEFAULT, "cuInit") != nullptr || dlsym(RTLD_DEFAULT, "cu") != nullptr) return 72;
  return 0;
}

// A look-up whose answer must be the driver's own function.
int expect_untouched(void* library, int version, const char* name) {
  void* function = nullptr;
  Dl_info info{};
  if (find<GetV2>(library, "cuGetProcAddress_v2")(name, &function, version, 0, nullptr) != kSuccess) return 60;
  if (dladdr(function, &info) == 0 || strstr(info.dli_fname, "libcuda") == nullptr) return 61;
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const char* route = argv[1];
  if (argc > 2) {
    void* stub = dlopen(argv[2], RTLD_NOW | RTLD_LOCAL);
    CUdeviceptr none = 0;
    if (stub == nullptr || find<Allocate>(stub, "cuMemAlloc_v2")(&none, 1) != 999) return 92;
  }
  if (strcmp(route, "absent") == 0) return without_driver();
  void* library = dlopen("libcuda.so.1", RTLD_NOW | (strcmp(route, "default") == 0 ? RTLD_GLOBAL : RTLD_LOCAL));
  if (library == nullptr) return 90;
  CUcontext context = nullptr;
  find<decltype(&cuCtxCreate_v2)>(library, "cuCtxCreate_v2")(&context, 0, 0);
  if (strcmp(route, "dlsym") == 0) {
    use(find<Allocate>(library, "cuMemAlloc_v2"), find<Free>(library, "cuMemFree_v2"));
  } else if (strcmp(route, "default") == 0) {
    use(find<Allocate>(RTLD_DEFAULT, "cuMemAlloc_v2"), find<Free>(RTLD_DEFAULT, "cuMemFree_v2"));
  } else if (strcmp(route, "v1") == 0) {
    use_get_v1(find<GetV1>(library, "cuGetProcAddress"));
  } else if (strcmp(route, "v2") == 0) {
    use_get_v2(find<GetV2>(library, "cuGetProcAddress_v2"), 0);
  } else if (strcmp(route, "v2_stream") == 0) {
    use_get_v2(find<GetV2>(library, "cuGetProcAddress_v2"), 2);
  } else if (strcmp(route, "local") == 0) {
    dlerror();
    if (dlsym(RTLD_DEFAULT, "cuMemAlloc_v2") != nullptr || dlerror() == nullptr) return 73;
  } else if (strcmp(route, "later") == 0) {
    void* allocate = nullptr;
    void* release = nullptr;
    auto* get = find<GetV2>(library, "cuGetProcAddress_v2");
    if (get("cuMemAlloc", &allocate, 13020, 0, nullptr) != kSuccess ||
        get("cuMemFree", &release, 13020, 0, nullptr) != 0)
      return 87;
    use(reinterpret_cast<Allocate>(allocate), reinterpret_cast<Free>(release));
  } else if (strcmp(route, "old") == 0) {
    return expect_untouched(library, 2000, "cuMemAlloc");
  } else if (strcmp(route, "newer") == 0) {
    return expect_untouched(library, 14000, "cuMemAlloc");
  } else {
    return 91;
  }
  return 0;
}
