// cli/nvml/main.cc: heapprof-nvml: reports what NVML counts as in use on GPUs, and by which processes. It is a program
// of its own: the tool may be linked statically, and a driver that never answers blocks only this program.
//
// usage: heapprof-nvml <UUIDS        one UUID a line: watches that GPU from then on; ends when its input or its parent
//                                    ends
// Prints "ready" when NVML has started. If it cannot start, prints "missing REASON" and ends. After "ready", at once
// and then every second (ten times a second in the first two seconds), prints for each GPU:
//   device UUID BYTES_IN_USE
//   process PID BYTES                for each process whose bytes NVML knows
//   end
// or "unknown UUID REASON".
//
// usage: heapprof-nvml free INDEX
// Creates a context on that CUDA device, prints "free BYTES TOTAL CONTEXT NAME" or "missing REASON", and ends. BYTES
// are free while the context exists; CONTEXT bytes were taken by the context, by NVML's count ("-": unknown).
//
// Types and values are those of nvml.h of CUDA 13.0, as facts of its ABI.
//
// Runs wherever the agent does: it needs no symbol newer than glibc 2.31. So it has its own _start (a newer glibc's
// start file needs newer symbols; cli/arch has it), and uses the version of dlopen from before 2.34, which is that of
// the processor's first glibc.
#include "cli/nvml/cuda_device.h"

#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

asm(".symver dlopen, dlopen@" HEAPPROF_FIRST_GLIBC);
asm(".symver dlsym, dlsym@" HEAPPROF_FIRST_GLIBC);
asm(".symver dlerror, dlerror@" HEAPPROF_FIRST_GLIBC);

namespace {

constexpr int kSuccess = 0;
constexpr uint64_t kNotAvailable = UINT64_MAX;  // NVML_VALUE_NOT_AVAILABLE
constexpr unsigned kMostDevices = 64;
constexpr unsigned kMostProcesses = 4096;
constexpr size_t kUuidBytes = 96;  // NVML_DEVICE_UUID_V2_BUFFER_SIZE
constexpr unsigned kQuickRounds = 20;
constexpr int kQuickMs = 100;
constexpr int kSlowMs = 1000;
constexpr char kFirstPidNamespace[] = "pid:[4026531836]";  // PROC_PID_INIT_INO of Linux: no container's

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

// NVML's own text for an error.
const char* text_of(int error) {
  auto* ask = find<const char*(int)>("nvmlErrorString");
  return ask == nullptr ? "NVML cannot say why" : ask(error);
}

[[noreturn]] void leave(const char* reason) {
  printf("missing %s\n", reason);
  fflush(stdout);
  _exit(0);
}

// Returns why NVML is missing; nullptr: it has started.
const char* start_nvml() {
  g_library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (g_library == nullptr) return dlerror();
  auto* start = find<int()>("nvmlInit_v2");
  if (start == nullptr) start = find<int()>("nvmlInit");
  if (start == nullptr || find<int(const char*, void**)>("nvmlDeviceGetHandleByUUID") == nullptr ||
      find<int(void*, Memory*)>("nvmlDeviceGetMemoryInfo") == nullptr)
    return "NVML lacks what is needed";
  const int error = start();
  return error == kSuccess ? nullptr : text_of(error);
}

void add_device(const char* uuid) {
  if (g_count == kMostDevices || strlen(uuid) >= kUuidBytes) {
    printf("unknown %s too many devices, or the UUID is too long\n", uuid);
    return;
  }
  Device& device = g_devices[g_count];
  const int error = find<int(const char*, void**)>("nvmlDeviceGetHandleByUUID")(uuid, &device.handle);
  if (error != kSuccess) {
    printf("unknown %s %s\n", uuid, text_of(error));
    return;
  }
  strcpy(device.uuid, uuid);
  ++g_count;
}

// A function that lists processes. Entries of the third version had 32 bytes in drivers of 2023, and then 24 again: it
// is used only if the second version is gone.
struct List {
  const char* name;
  size_t entry_bytes;
};
constexpr List kLists[] = {{"nvmlDeviceGetComputeRunningProcesses_v2", sizeof(Process)},
                           {"nvmlDeviceGetComputeRunningProcesses_v3", sizeof(Process)},
                           {"nvmlDeviceGetComputeRunningProcesses", sizeof(OldProcess)}};
constexpr List kMpsLists[] = {{"nvmlDeviceGetMPSComputeRunningProcesses_v2", sizeof(Process)},
                              {"nvmlDeviceGetMPSComputeRunningProcesses_v3", sizeof(Process)},
                              {"nvmlDeviceGetMPSComputeRunningProcesses", sizeof(OldProcess)}};

// Inside a container, drivers may report process ids from outside: such an id could be another process's here.
bool are_ours(const char* entries, unsigned count, size_t entry_bytes) {
  char name[64] = {};
  if (readlink("/proc/self/ns/pid", name, sizeof name - 1) > 0 && strcmp(name, kFirstPidNamespace) == 0) return true;
  for (unsigned i = 0; i < count; ++i) {
    uint32_t pid;
    memcpy(&pid, entries + i * entry_bytes, sizeof pid);
    if (pid == 0 || (kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH)) return false;
  }
  return true;
}

template <size_t kCount>
void print_processes(void* handle, const List (&lists)[kCount]) {
  static char entries[kMostProcesses * sizeof(Process)];
  for (const List& list : lists) {
    auto* ask = find<int(void*, unsigned*, void*)>(list.name);
    unsigned count = kMostProcesses;
    if (ask == nullptr || ask(handle, &count, entries) != kSuccess) continue;
    count = count < kMostProcesses ? count : kMostProcesses;
    if (!are_ours(entries, count, list.entry_bytes)) return;
    for (unsigned i = 0; i < count; ++i) {
      OldProcess process;  // newer entries begin with these fields
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
    if (const int error = ask(g_devices[i].handle, &memory); error != kSuccess) {
      printf("unknown %s %s\n", g_devices[i].uuid, text_of(error));
      continue;
    }
    printf("device %s %llu\n", g_devices[i].uuid, static_cast<unsigned long long>(memory.used));
    print_processes(g_devices[i].handle, kLists);
    print_processes(g_devices[i].handle, kMpsLists);
    printf("end\n");
  }
  if (fflush(stdout) != 0) _exit(1);  // the reader is gone
}

// Takes the complete lines; the rest stays.
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

// Free memory by NVML's count; kNotAvailable: NVML cannot say.
uint64_t free_of(const char* uuid) {
  void* handle = nullptr;
  Memory memory{};
  const bool is_known = uuid[0] != 0 &&
                        find<int(const char*, void**)>("nvmlDeviceGetHandleByUUID")(uuid, &handle) == kSuccess &&
                        find<int(void*, Memory*)>("nvmlDeviceGetMemoryInfo")(handle, &memory) == kSuccess;
  return is_known ? memory.free : kNotAvailable;
}

// NVML is queried before and after the context is created: it can be queried without a context.
[[noreturn]] void print_free(const char* index) {
  heapprof::nvml::CudaDevice device;
  if (const char* reason = heapprof::nvml::find_cuda_device(atoi(index), &device)) leave(reason);
  const bool has_nvml = start_nvml() == nullptr;
  const uint64_t before = has_nvml ? free_of(device.uuid) : kNotAvailable;
  if (const char* reason = heapprof::nvml::enter_cuda_device(&device)) leave(reason);
  const uint64_t after = has_nvml ? free_of(device.uuid) : kNotAvailable;
  printf("free %llu %llu ", static_cast<unsigned long long>(device.free_bytes),
         static_cast<unsigned long long>(device.total_bytes));
  if (before != kNotAvailable && after != kNotAvailable && before >= after) {
    printf("%llu", static_cast<unsigned long long>(before - after));
  } else {
    printf("-");
  }
  printf(" %s\n", device.name);
  fflush(stdout);
  _exit(0);  // this ends the context
}

}  // namespace

extern "C" [[noreturn, gnu::used]] void run_heapprof_nvml(long* stack) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);              // a call of NVML may never return to see that the input has ended
  syscall(SYS_close_range, 3u, UINT32_MAX, 0u);  // inherited descriptors must not stay open for that long
  char** const arguments = reinterpret_cast<char**>(stack + 1);
  if (*stack == 3 && strcmp(arguments[1], "free") == 0) print_free(arguments[2]);
  if (const char* reason = start_nvml()) leave(reason);
  printf("ready\n");
  fflush(stdout);
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
