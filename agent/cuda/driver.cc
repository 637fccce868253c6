// agent/cuda/driver.cc: finds the driver's functions by name, late, and queries the driver through them.
//
// A program may load the driver at any time and by any route, and unload it again. So an address is looked up at its
// first use and forgotten when its object may be gone. A query function that an old driver lacks would be looked up at
// every call: a stub (cannot_say) replaces it, but only once the oldest query function was found, as before that no
// driver may be loaded at all.
#include "agent/cuda/driver.h"

#include "agent/cuda/device_limit.h"
#include "agent/cuda/runtime.h"
#include "agent/libc/raw.h"
#include "agent/process/arena.h"
#include "agent/process/link_map.h"
#include "agent/process/loaded_object.h"
#include "agent/process/state.h"
#include "shared/events.h"

namespace heapprof::agent {

namespace {

constexpr size_t kHooked = static_cast<size_t>(CudaFunction::kCount);

constexpr const char* kSymbols[kHooked] = {
#define X(symbol, base, version, per_thread, params) #symbol,
#include "agent/cuda/functions.def"
#undef X
};

void* g_real_cuda[kHooked];

// Functions of the driver that the agent calls for queries, and does not hook; kQuestions has their symbols.
enum class Question : uint32_t {
  kCtxGetDevice,
  kCtxGetCurrent,
  kPointerGetAttribute,
  kGetAddressRange,
  kStreamGetDevice,
  kStreamIsCapturing,
  kStreamIsCapturingPerThread,
  kPrimaryContextState,
  kPushContext,
  kPopContext,
  kDeviceUuid,
  kDevicePciId,
  kDeviceName,
  kPoolGetAttribute,
  kGraphMemoryAttribute,
  kExchangeCaptureMode,
  kFunctionName,
  kKernelName,
  kFunctionCount,
  kKernelCount,
  kGraphNodes,
  kGraphNodeType,
  kNewEvent,
  kIsEventComplete,
  kElapsedTime,
  kCount
};
constexpr const char* kQuestions[] = {"cuCtxGetDevice",
                                      "cuCtxGetCurrent",
                                      "cuPointerGetAttribute",
                                      "cuMemGetAddressRange_v2",
                                      "cuStreamGetDevice",
                                      "cuStreamIsCapturing",
                                      "cuStreamIsCapturing_ptsz",
                                      "cuDevicePrimaryCtxGetState",
                                      "cuCtxPushCurrent_v2",
                                      "cuCtxPopCurrent_v2",
                                      "cuDeviceGetUuid",
                                      "cuDeviceGetPCIBusId",
                                      "cuDeviceGetName",
                                      "cuMemPoolGetAttribute",
                                      "cuDeviceGetGraphMemAttribute",
                                      "cuThreadExchangeStreamCaptureMode",
                                      "cuFuncGetName",
                                      "cuKernelGetName",
                                      "cuModuleGetFunctionCount",
                                      "cuLibraryGetKernelCount",
                                      "cuGraphGetNodes",
                                      "cuGraphNodeGetType",
                                      "cuEventCreate",
                                      "cuEventQuery",
                                      "cuEventElapsedTime"};
static_assert(sizeof kQuestions / sizeof kQuestions[0] == static_cast<size_t>(Question::kCount));
void* g_questions[static_cast<size_t>(Question::kCount)];

extern "C" __attribute__((visibility("hidden"))) const char __ehdr_start[];
extern "C" __attribute__((visibility("hidden"))) const char _end[];

void* find_cuda(const char* symbol, void** kept) {
  return find_late_behind_agent({symbol, nullptr, "libcuda.so.1"}, kept);
}

int cannot_say() { return kCudaNotInitialized; }

// The driver's function for a query. A driver that is older than the query is searched once.
void* answerer(Question question) {
  void*& address = g_questions[static_cast<size_t>(question)];
  void* known = __atomic_load_n(&address, __ATOMIC_ACQUIRE);
  if (known != nullptr) return known;
  known = find_cuda(kQuestions[static_cast<size_t>(question)], &address);
  const void* const oldest =
      __atomic_load_n(&g_questions[static_cast<size_t>(Question::kCtxGetDevice)], __ATOMIC_ACQUIRE);
  if (known == nullptr && oldest != nullptr)
    __atomic_store_n(&address, reinterpret_cast<void*>(cannot_say), __ATOMIC_RELEASE);
  return known;
}

template <typename... Arguments>
bool ask(Question question, Arguments... arguments) {
  return ask_function(answerer(question), arguments...);
}

// The text of a note, composed without libc, which may allocate.
struct Words {
  char text[sizeof wire::Note::text] = {};
  size_t length = 0;

  void put(char c) {
    if (length + 1 < sizeof text) text[length++] = c;
  }
  void end() { put(' '); }
  void add(const char* word) {
    for (; *word != 0; ++word) put(*word);
  }
  void add(uint64_t value) {
    char digits[20];
    size_t count = 0;
    do digits[count++] = static_cast<char>('0' + value % 10);
    while ((value /= 10) != 0);
    while (count != 0) put(digits[--count]);
  }
  // Writes it as nvidia-smi does.
  void add_uuid(const unsigned char* bytes) {
    add("GPU-");
    for (int i = 0; i < 16; ++i) {
      if (i == 4 || i == 6 || i == 8 || i == 10) put('-');
      put("0123456789abcdef"[bytes[i] >> 4]);
      put("0123456789abcdef"[bytes[i] & 15]);
    }
  }
};

// g_session of the session in which each device was announced.
uint32_t g_announced[wire::kLastCudaDevice - wire::kFirstCudaDevice + 1];

constexpr uint32_t kPointerMemoryType = 2;     // CU_POINTER_ATTRIBUTE_MEMORY_TYPE
constexpr uint32_t kMemoryOfHost = 1;          // CU_MEMORYTYPE_HOST
constexpr uint32_t kPointerIsManaged = 8;      // CU_POINTER_ATTRIBUTE_IS_MANAGED
constexpr uint32_t kPointerDeviceOrdinal = 9;  // CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
constexpr uint32_t kPointerPool = 17;          // CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE
constexpr int kPoolHeld = 5;           // CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, then …_HIGH and USED_MEM_CURRENT
constexpr int kGraphsUsed = 0;         // CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, then …_HIGH, and the same of RESERVED
constexpr uint32_t kRelaxed = 2;       // CU_STREAM_CAPTURE_MODE_RELAXED
constexpr uint32_t kNotCapturing = 0;  // CU_STREAM_CAPTURE_STATUS_NONE

}  // namespace

bool is_own_code(const void* address) {
  return address >= static_cast<const void*>(__ehdr_start) && address < static_cast<const void*>(_end);
}

void* real_cuda(CudaFunction function) {
  const auto index = static_cast<size_t>(function);
  void* real = __atomic_load_n(&g_real_cuda[index], __ATOMIC_ACQUIRE);
  return real != nullptr ? real : find_cuda(kSymbols[index], &g_real_cuda[index]);
}

bool is_same_object(const void* one, const void* other) {
  LoadedObject object_of_one;
  LoadedObject object_of_other;
  return find_object(number(one), &object_of_one) && find_object(number(other), &object_of_other) &&
         object_of_one.info.start_avma == object_of_other.info.start_avma;
}

// A driver may return another address than the exported one; then it is in the same object.
bool stands_for(CudaFunction function, const void* found) {
  const void* real = real_cuda(function);
  return real != nullptr && (found == real || is_same_object(real, found));
}

void forget_cuda() {
  for (void*& real : g_real_cuda) forget_unloaded(&real);
  for (void*& question : g_questions) {
    forget_unloaded(&question);
    if (__atomic_load_n(&question, __ATOMIC_RELAXED) == reinterpret_cast<void*>(cannot_say))
      __atomic_store_n(&question, nullptr, __ATOMIC_RELEASE);  // the next driver may have it
  }
  forget_cuda_runtime();
}

uint32_t device_of_ordinal(int ordinal) {
  const bool fits = ordinal >= 0 && static_cast<uint32_t>(ordinal) <= wire::kLastCudaDevice - wire::kFirstCudaDevice;
  return fits ? wire::kFirstCudaDevice + static_cast<uint32_t>(ordinal) : wire::kUnknownCudaDevice;
}

uint32_t device_of_context() {
  int ordinal = -1;
  return ask(Question::kCtxGetDevice, &ordinal) ? device_of_ordinal(ordinal) : wire::kUnknownCudaDevice;
}

uint32_t device_of_stream(void* stream) {
  constexpr uint64_t kLastSpecial = 2;  // nullptr, CU_STREAM_LEGACY, CU_STREAM_PER_THREAD
  if (number(stream) <= kLastSpecial) return device_of_context();
  int ordinal = -1;
  return ask(Question::kStreamGetDevice, stream, &ordinal) ? device_of_ordinal(ordinal) : wire::kUnknownCudaDevice;
}

void* current_context() {
  void* context = nullptr;
  return ask(Question::kCtxGetCurrent, &context) ? context : nullptr;
}

uint32_t device_of_pointer(uint64_t address) {
  int ordinal = -1;
  const bool is_known =
      ask(Question::kPointerGetAttribute, static_cast<void*>(&ordinal), kPointerDeviceOrdinal, address);
  return is_known && ordinal >= 0 ? device_of_ordinal(ordinal) : device_of_context();
}

uint32_t device_of_pool_memory(uint64_t address) {
  uint32_t is_managed = 0;  // the driver writes an int, or a byte of it
  if (ask(Question::kPointerGetAttribute, static_cast<void*>(&is_managed), kPointerIsManaged, address) &&
      is_managed != 0) {
    return wire::kManagedDevice;
  }
  uint32_t type = 0;
  if (ask(Question::kPointerGetAttribute, static_cast<void*>(&type), kPointerMemoryType, address) &&
      type == kMemoryOfHost)
    return wire::kPinnedDevice;
  return device_of_pointer(address);
}

uint64_t free_bytes_of_context(uint32_t device) {
  size_t free_bytes = 0;
  size_t total_bytes = 0;
  if (device < wire::kFirstCudaDevice || device != device_of_context() ||
      !ask_function(real_cuda(CudaFunction::cuMemGetInfo_v2), &free_bytes, &total_bytes)) {
    return wire::kFreeUnknown;
  }
  const uint64_t limit = device_limit(device);
  const uint64_t charged = charged_device_memory(device);
  const uint64_t left = charged < limit ? limit - charged : 0;
  return left < free_bytes ? left : free_bytes;
}

void announce_device(uint32_t device) {
  if (device < wire::kFirstCudaDevice || device > wire::kLastCudaDevice) return;
  uint32_t* const session = &g_announced[device - wire::kFirstCudaDevice];
  if (__atomic_load_n(session, __ATOMIC_RELAXED) == g_session) return;
  __atomic_store_n(session, g_session, __ATOMIC_RELAXED);
  const int ordinal = static_cast<int>(device - wire::kFirstCudaDevice);
  Words words;
  unsigned char uuid[16];
  if (ask(Question::kDeviceUuid, static_cast<void*>(uuid), ordinal)) words.add_uuid(uuid);
  words.end();
  char text[64] = {};
  if (ask(Question::kDevicePciId, text, static_cast<int>(sizeof text), ordinal)) words.add(text);
  words.end();
  size_t total_bytes = 0;
  if (ask_function(real_cuda(CudaFunction::cuDeviceTotalMem_v2), &total_bytes, ordinal)) words.add(total_bytes);
  words.end();
  if (ask(Question::kDeviceName, text, static_cast<int>(sizeof text), ordinal)) words.add(text);
  add_note(wire::NoteKind::kDevice, device, words.text, false);
}

uint64_t bytes_of_pointer(uint64_t address) {
  uint64_t base = 0;
  size_t size_bytes = 0;
  return ask(Question::kGetAddressRange, &base, &size_bytes, address) ? size_bytes : 0;
}

void* pool_of_pointer(uint64_t address) {
  void* pool = nullptr;
  return ask(Question::kPointerGetAttribute, static_cast<void*>(&pool), kPointerPool, address) ? pool : nullptr;
}

bool ask_pool_numbers(void* pool, CudaPoolNumbers* numbers) {
  int attribute = kPoolHeld;
  for (uint64_t* number : {&numbers->held_bytes, &numbers->most_bytes, &numbers->used_bytes}) {
    if (!ask(Question::kPoolGetAttribute, pool, attribute++, static_cast<void*>(number))) return false;
  }
  return true;
}

bool ask_graph_numbers(uint32_t device, CudaGraphNumbers* numbers) {
  const int ordinal = static_cast<int>(device - wire::kFirstCudaDevice);
  int attribute = kGraphsUsed;
  for (uint64_t* number :
       {&numbers->used_bytes, &numbers->most_used_bytes, &numbers->held_bytes, &numbers->most_held_bytes}) {
    if (!ask(Question::kGraphMemoryAttribute, ordinal, attribute++, static_cast<void*>(number))) return false;
  }
  return true;
}

const char* ask_kernel_name(KernelHandle kind, const void* handle) {
  const Question question = kind == KernelHandle::kKernel ? Question::kKernelName : Question::kFunctionName;
  const char* name = nullptr;
  return kind != KernelHandle::kUnknown && ask(question, &name, handle) ? name : nullptr;
}

bool ask_kernel_count(KernelHandle kind, const void* owner, unsigned* count) {
  return ask(kind == KernelHandle::kKernel ? Question::kKernelCount : Question::kFunctionCount, count, owner);
}

bool ask_new_event(void** event) { return ask(Question::kNewEvent, event, 0u); }
bool ask_is_event_complete(void* event) { return ask(Question::kIsEventComplete, event); }
bool ask_elapsed_time(uint32_t* milliseconds, void* begin, void* end) {
  return ask(Question::kElapsedTime, milliseconds, begin, end);
}

bool may_record_event(void* stream, bool per_thread) {
  const Question question = per_thread ? Question::kStreamIsCapturingPerThread : Question::kStreamIsCapturing;
  void* const function = answerer(question);
  uint32_t status = kNotCapturing;
  if (function == nullptr || function == reinterpret_cast<void*>(cannot_say)) return true;
  return ask_function(function, stream, &status) && status == kNotCapturing;
}

// Graphs inside a graph, and conditional nodes, are not examined.
bool ask_kernel_nodes(void* graph, uint64_t* count) {
  constexpr uint32_t kKernelNode = 0, kInnerGraph = 4, kConditional = 13;  // CUgraphNodeType
  constexpr size_t kFewNodes = 128;
  size_t nodes_count = 0;
  if (!ask(Question::kGraphNodes, graph, static_cast<void**>(nullptr), &nodes_count)) return false;
  void* few[kFewNodes];
  const size_t many_bytes = nodes_count * sizeof few[0];
  const bool has_many = nodes_count > kFewNodes;
  if (has_many && !may_ask_kernel()) return false;
  void** const nodes =
      has_many ? static_cast<void**>(sys_mmap(many_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1))
               : few;
  if (nodes == nullptr) return false;
  bool is_known = ask(Question::kGraphNodes, graph, nodes, &nodes_count);
  *count = 0;
  for (size_t i = 0; is_known && i < nodes_count; ++i) {
    uint32_t type = kInnerGraph;
    is_known = ask(Question::kGraphNodeType, nodes[i], &type) && type != kInnerGraph && type != kConditional;
    *count += type == kKernelNode ? 1 : 0;
  }
  if (has_many) raw_syscall(SYS_munmap, reinterpret_cast<long>(nodes), static_cast<long>(many_bytes));
  return is_known;
}

RelaxedCapture::RelaxedCapture() : mode_(kRelaxed) { ask(Question::kExchangeCaptureMode, &mode_); }
RelaxedCapture::~RelaxedCapture() { ask(Question::kExchangeCaptureMode, &mode_); }

// The NULL stream cannot be captured, unless it is the per-thread one.
bool is_capturing(void* stream, bool per_thread) {
  if (stream == nullptr && !per_thread) return false;
  uint32_t status = kNotCapturing;
  const Question question = per_thread ? Question::kStreamIsCapturingPerThread : Question::kStreamIsCapturing;
  return ask(question, stream, &status) && status != kNotCapturing;
}

bool is_surely_not_capturing() {
  uint32_t status = 1;
  return ask(Question::kStreamIsCapturing, static_cast<void*>(nullptr), &status) && status == kNotCapturing;
}

bool push_context(void* context) { return ask(Question::kPushContext, context); }
void pop_context() {
  void* context = nullptr;
  ask(Question::kPopContext, &context);
}

bool has_primary_context_ended(int device) {
  uint32_t flags = 0;
  int is_active = 1;
  return ask(Question::kPrimaryContextState, device, &flags, &is_active) && is_active == 0;
}

}  // namespace heapprof::agent
