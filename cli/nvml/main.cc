// cli/nvml/main.cc: heapprof-nvml: says what NVML counts as in use on GPUs, and by whom. A program of its own: the tool may be linked
// statically, and a driver that never answers holds up nobody else.
//
// usage: heapprof-nvml <UUIDS        a line each, of GPUs that are looked at from then on; ends with its input, or who started it
// Prints, at once and then every second (ten times a second at first), for each GPU:
//   device UUID BYTES_IN_USE
//   process PID BYTES                for each that NVML knows the bytes of
//   end
// or "missing REASON", and ends. Types and values are those of nvml.h of CUDA 13.0, as facts of its ABI.
//
// Runs wherever the agent does: it needs no symbol newer than glibc 2.31, so it starts itself (a start file of a newer one asks for
// that), and takes dlopen from where it was before 2.34.
#include <dlfcn.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

asm(".symver dlopen, dlopen@GLIBC_2.2.5");
asm(".symver dlsym, dlsym@GLIBC_2.2.5");
asm(".symver dlerror, dlerror@GLIBC_2.2.5");

namespace {

constexpr int kSuccess = 0;
constexpr uint64_t kNotAvailable = UINT64_MAX;  // NVML_VALUE_NOT_AVAILABLE
constexpr unsigned kMostDevices = 64;
constexpr unsigned kMostProcesses = 4096;
constexpr size_t kUuidBytes = 96;  // NVML_DEVICE_UUID_V2_BUFFER_SIZE
constexpr unsigned kQuickRounds = 20;
constexpr int kQuickMs = 100;
constexpr int kSlowMs = 1000;

struct Memory {  // nvmlMemory_t
  uint64_t total, free, used;
};
struct Process {  // nvmlProcessInfo_t
  uint32_t pid;
  uint64_t used_bytes;
  uint32_t gpu_instance, compute_instance;
};
struct OldProcess {  // nvmlProcessInfo_v1_t
  uint32_t pid;
  uint64_t used_bytes;
};

struct Device {
  char uuid[kUuidBytes];
  void* handle;
};
Device g_devices[kMostDevices];
unsigned g_count = 0;

void* g_library = nullptr;
template <typename Function>
Function* find(const char* name) {
  return reinterpret_cast<Function*>(dlsym(g_library, name));
}

[[noreturn]] void leave(const char* reason) {
  printf("missing %s\n", reason);
  fflush(stdout);
  _exit(0);
}

// NVML itself says what its errors mean.
[[noreturn]] void leave(int error) {
  auto* text_of = find<const char*(int)>("nvmlErrorString");
  leave(text_of == nullptr ? "NVML cannot be used" : text_of(error));
}

void start_nvml() {
  g_library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (g_library == nullptr) leave(dlerror());
  auto* start = find<int()>("nvmlInit_v2");
  if (start == nullptr) start = find<int()>("nvmlInit");
  if (start == nullptr || find<int(const char*, void**)>("nvmlDeviceGetHandleByUUID") == nullptr ||
      find<int(void*, Memory*)>("nvmlDeviceGetMemoryInfo") == nullptr)
    leave("NVML lacks what is needed");
  if (const int error = start(); error != kSuccess) leave(error);
}

void add_device(const char* uuid) {
  if (g_count == kMostDevices || strlen(uuid) >= kUuidBytes) return;
  Device& device = g_devices[g_count];
  const int error = find<int(const char*, void**)>("nvmlDeviceGetHandleByUUID")(uuid, &device.handle);
  if (error != kSuccess) {
    if (g_count == 0) leave(error);
    return;
  }
  strcpy(device.uuid, uuid);
  ++g_count;
}

// A function that lists processes; the newest that the driver has is asked.
struct List {
  const char* name;
  size_t entry_bytes;
};
constexpr List kLists[] = {{"nvmlDeviceGetComputeRunningProcesses_v3", sizeof(Process)},
                           {"nvmlDeviceGetComputeRunningProcesses_v2", sizeof(Process)},
                           {"nvmlDeviceGetComputeRunningProcesses", sizeof(OldProcess)}};
constexpr List kMpsLists[] = {{"nvmlDeviceGetMPSComputeRunningProcesses_v3", sizeof(Process)},
                              {"nvmlDeviceGetMPSComputeRunningProcesses_v2", sizeof(Process)},
                              {"nvmlDeviceGetMPSComputeRunningProcesses", sizeof(OldProcess)}};

template <size_t kCount>
void print_processes(void* handle, const List (&lists)[kCount]) {
  static char entries[kMostProcesses * sizeof(Process)];
  for (const List& list : lists) {
    auto* ask = find<int(void*, unsigned*, void*)>(list.name);
    unsigned count = kMostProcesses;
    if (ask == nullptr || ask(handle, &count, entries) != kSuccess) continue;
    for (unsigned i = 0; i < count && i < kMostProcesses; ++i) {
      OldProcess process;  // what newer ones begin with
      memcpy(&process, entries + i * list.entry_bytes, sizeof process);
      if (process.used_bytes != kNotAvailable && process.used_bytes != 0)
        printf("process %u %llu\n", process.pid, static_cast<unsigned long long>(process.used_bytes));
    }
    return;
  }
}

void print_devices() {
  auto* ask = find<int(void*, Memory*)>("nvmlDeviceGetMemoryInfo");
  for (unsigned i = 0; i < g_count; ++i) {
    Memory memory{};
    if (ask(g_devices[i].handle, &memory) != kSuccess) continue;
    printf("device %s %llu\n", g_devices[i].uuid, static_cast<unsigned long long>(memory.used));
    print_processes(g_devices[i].handle, kLists);
    print_processes(g_devices[i].handle, kMpsLists);
    printf("end\n");
  }
  if (fflush(stdout) != 0) _exit(1);  // nobody reads any more
}

// Lines that have come; the rest stays.
void take_lines(char* text, size_t* length) {
  size_t start = 0;
  for (size_t at = 0; at < *length; ++at) {
    if (text[at] != '\n') continue;
    text[at] = 0;
    add_device(text + start);
    start = at + 1;
  }
  memmove(text, text + start, *length - start);
  *length -= start;
}

}  // namespace

extern "C" [[noreturn, gnu::used]] void run_heapprof_nvml() {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // NVML may never come back to see that the input has ended
  start_nvml();
  char text[4096];
  size_t length = 0;
  for (unsigned round = 0;; ++round) {
    pollfd input{STDIN_FILENO, POLLIN, 0};
    if (poll(&input, 1, g_count == 0 ? -1 : round < kQuickRounds ? kQuickMs : kSlowMs) > 0) {
      const ssize_t got = read(STDIN_FILENO, text + length, sizeof text - length);
      if (got <= 0) _exit(0);
      length += static_cast<size_t>(got);
      take_lines(text, &length);
    }
    print_devices();
  }
}

asm(R"(
  .globl _start
  .type _start, @function
_start:
  xor %ebp, %ebp
  and $-16, %rsp
  call run_heapprof_nvml
  hlt
)");
