// tests/targets/nvtx/parts/own_nvtx.h: what a program has that was compiled with NVTX: a table of functions of its own,
// which the first call lets a tool fill that a variable names. Written from the interface's facts, for machines without
// NVIDIA's headers (tests/targets/nvtx/nvtx_real.cc has those); each object that includes this has its own table.
#pragma once

#include <dlfcn.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>

namespace own_nvtx {

using Any = void (*)();
enum : uint32_t { kCore = 1, kCore2 = 5, kTables = 1 };
enum Core : uint32_t {
  kMarkEx = 1,
  kMarkA,
  kMarkW,
  kRangeStartEx,
  kRangeStartA,
  kRangeStartW,
  kRangeEnd,
  kRangePushEx,
  kRangePushA,
  kRangePushW,
  kRangePop,
  kNameCategoryA,
  kNameCategoryW,
  kNameOsThreadA,
  kNameOsThreadW,
  kCoreEnd
};
enum Core2 : uint32_t {
  kDomainMarkEx = 1,
  kDomainRangeStartEx,
  kDomainRangeEnd,
  kDomainRangePushEx,
  kDomainRangePop,
  kDomainResourceCreate,
  kDomainResourceDestroy,
  kDomainNameCategoryA,
  kDomainNameCategoryW,
  kDomainRegisterStringA,
  kDomainRegisterStringW,
  kDomainCreateA,
  kDomainCreateW,
  kDomainDestroy,
  kInitialize,
  kCore2End
};

struct Event {
  uint16_t version = 3;
  uint16_t size = 48;
  uint32_t category = 0;
  int32_t color_type = 0;
  uint32_t color = 0;
  int32_t payload_type = 0;  // 1: u64, 2: i64, 3: double, 4: u32, 5: i32, 6: float
  int32_t reserved = 0;
  union {
    uint64_t u64 = 0;
    int64_t i64;
    double f64;
    uint32_t u32;
    int32_t i32;
  } payload;
  int32_t message_type = 0;  // 1: char, 2: wchar_t, 3: registered
  const void* message = nullptr;
};
static_assert(sizeof(Event) == 48);

struct CallbackTables {
  size_t struct_size;
  int (*get_module)(uint32_t module, Any*** slots, unsigned* count);
};
using GetTable = const void* (*)(uint32_t id);
using Initialize = int (*)(GetTable get);

namespace {

inline void not_asked_yet() {}

struct Globals {
  std::atomic<int> state{0};
  Any core[kCoreEnd];
  Any core2[kCore2End];
  Any* core_slots[kCoreEnd];
  Any* core2_slots[kCore2End];
  int result = -1;  // of the tool; -1: there was none
};
Globals g_own;
// How the tool is started; an older library had another name.
const char* g_initialize_name = "InitializeInjectionNvtx2";

inline int get_module(uint32_t module, Any*** slots, unsigned* count) {
  if (module != kCore && module != kCore2) return 0;
  *slots = module == kCore ? g_own.core_slots : g_own.core2_slots;
  *count = module == kCore ? +kCoreEnd : +kCore2End;
  return 1;
}
inline const void* get_table(uint32_t id) {
  static const CallbackTables tables = {sizeof(CallbackTables), get_module};
  return id == kTables ? &tables : nullptr;
}

inline void start() {
  int fresh = 0;
  if (!g_own.state.compare_exchange_strong(fresh, 1)) {
    while (g_own.state.load() != 2) {
    }
    return;
  }
  for (uint32_t i = 1; i < kCoreEnd; ++i) g_own.core[i] = not_asked_yet, g_own.core_slots[i] = &g_own.core[i];
  for (uint32_t i = 1; i < kCore2End; ++i) g_own.core2[i] = not_asked_yet, g_own.core2_slots[i] = &g_own.core2[i];
  const char* const path = std::getenv("NVTX_INJECTION64_PATH");
  void* const library = path == nullptr ? nullptr : dlopen(path, RTLD_LAZY);
  void* const function = library == nullptr ? nullptr : dlsym(library, g_initialize_name);
  if (function != nullptr) g_own.result = reinterpret_cast<Initialize>(function)(get_table);
  if (library != nullptr && g_own.result != 1) dlclose(library);
  for (Any& slot : g_own.core) slot = g_own.result != 1 || slot == not_asked_yet ? nullptr : slot;
  for (Any& slot : g_own.core2) slot = g_own.result != 1 || slot == not_asked_yet ? nullptr : slot;
  g_own.state.store(2);
}

template <typename Result, typename... Arguments>
Result call(Any* slot, Result otherwise, Arguments... arguments) {
  if (g_own.state.load(std::memory_order_acquire) != 2) start();
  if (*slot == nullptr) return otherwise;
  return reinterpret_cast<Result (*)(Arguments...)>(*slot)(arguments...);
}
template <typename... Arguments>
void tell(Any* slot, Arguments... arguments) {
  if (g_own.state.load(std::memory_order_acquire) != 2) start();
  if (*slot != nullptr) reinterpret_cast<void (*)(Arguments...)> (*slot)(arguments...);
}

[[maybe_unused]] int push(const char* text) { return call(&g_own.core[kRangePushA], -2, text); }
[[maybe_unused]] int push_wide(const wchar_t* text) { return call(&g_own.core[kRangePushW], -2, text); }
[[maybe_unused]] int push_event(const Event* event) { return call(&g_own.core[kRangePushEx], -2, event); }
[[maybe_unused]] int pop() { return call(&g_own.core[kRangePop], -2); }
[[maybe_unused]] int push_in(void* domain, const Event* event) {
  return call(&g_own.core2[kDomainRangePushEx], -2, domain, event);
}
[[maybe_unused]] int pop_in(void* domain) { return call(&g_own.core2[kDomainRangePop], -2, domain); }
[[maybe_unused]] uint64_t start_range(const char* text) { return call(&g_own.core[kRangeStartA], uint64_t{0}, text); }
[[maybe_unused]] uint64_t start_wide(const wchar_t* text) { return call(&g_own.core[kRangeStartW], uint64_t{0}, text); }
[[maybe_unused]] uint64_t start_event(const Event* event) {
  return call(&g_own.core[kRangeStartEx], uint64_t{0}, event);
}
[[maybe_unused]] uint64_t start_in(void* domain, const Event* event) {
  return call(&g_own.core2[kDomainRangeStartEx], uint64_t{0}, domain, event);
}
[[maybe_unused]] void end_range(uint64_t range) { tell(&g_own.core[kRangeEnd], range); }
[[maybe_unused]] void end_in(void* domain, uint64_t range) { tell(&g_own.core2[kDomainRangeEnd], domain, range); }
[[maybe_unused]] void mark(const char* text) { tell(&g_own.core[kMarkA], text); }
[[maybe_unused]] void mark_wide(const wchar_t* text) { tell(&g_own.core[kMarkW], text); }
[[maybe_unused]] void mark_event(const Event* event) { tell(&g_own.core[kMarkEx], event); }
[[maybe_unused]] void mark_in(void* domain, const Event* event) { tell(&g_own.core2[kDomainMarkEx], domain, event); }
[[maybe_unused]] void name_category(uint32_t category, const char* name) {
  tell(&g_own.core[kNameCategoryA], category, name);
}
[[maybe_unused]] void name_category_wide(uint32_t category, const wchar_t* name) {
  tell(&g_own.core[kNameCategoryW], category, name);
}
[[maybe_unused]] void* create_domain(const char* name) {
  return call(&g_own.core2[kDomainCreateA], static_cast<void*>(nullptr), name);
}
[[maybe_unused]] void* create_domain_wide(const wchar_t* name) {
  return call(&g_own.core2[kDomainCreateW], static_cast<void*>(nullptr), name);
}
[[maybe_unused]] void* register_string(void* domain, const char* text) {
  return call(&g_own.core2[kDomainRegisterStringA], static_cast<void*>(nullptr), domain, text);
}
[[maybe_unused]] void* register_wide(void* domain, const wchar_t* text) {
  return call(&g_own.core2[kDomainRegisterStringW], static_cast<void*>(nullptr), domain, text);
}

[[maybe_unused]] Event text_event(const char* text) {
  Event event;
  event.message_type = 1;
  event.message = text;
  return event;
}
[[maybe_unused]] Event wide_event(const wchar_t* text) {
  Event event;
  event.message_type = 2;
  event.message = text;
  return event;
}
[[maybe_unused]] Event registered_event(void* handle) {
  Event event;
  event.message_type = 3;
  event.message = handle;
  return event;
}

}  // namespace

}  // namespace own_nvtx
