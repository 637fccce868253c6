// agent/nvtx/tables.cc: each object that uses NVTX has a table of its own, but the functions in it get no argument that
// tells from which table they were called. So what another tool wrote is kept once, and has to be the same in every
// table.
//
// Another tool's push is called before the range begins and its pop after the end, so that its allocations are not the
// range's. If it returns no handles and ids of its own, it must not see the agent's: then the program gets none.
#include "agent/nvtx/tables.h"

#include "agent/hooks/hook.h"
#include "agent/nvtx/ranges.h"
#include "agent/nvtx/registered.h"
#include "agent/process/arena.h"

#include <string.h>

using namespace heapprof::agent;
using namespace heapprof::agent::nvtx;

namespace {

enum class Slot : uint32_t {
#define X(module, number, name, result, parameters, arguments) k##name,
#include "agent/nvtx/functions.def"
#undef X
  kCount
};
constexpr uint32_t kSlots = static_cast<uint32_t>(Slot::kCount);

// The functions that the other tool wrote; nullptr: none.
AnyFunction g_next[kSlots];
std::atomic<bool> g_has_next{false};

#define X(module, number, name, result, parameters, arguments)                             \
  using name##Function = result(*) parameters;                                             \
  inline name##Function next_##name() {                                                    \
    return reinterpret_cast<name##Function>(g_next[static_cast<uint32_t>(Slot::k##name)]); \
  }
#include "agent/nvtx/functions.def"
#undef X

bool has_next() { return g_has_next.load(std::memory_order_relaxed); }

bool is_readable(const Attributes* attributes) {
  return attributes != nullptr && attributes->size_bytes >= sizeof(Attributes);
}

uint32_t name_of(uint32_t domain, const Attributes* attributes) {
  if (!is_readable(attributes)) return number_of_text(domain, nullptr, nullptr);
  const char* const category = domain == 0 ? category_name(attributes->category) : nullptr;
  char text[kTextRoom];
  switch (attributes->message_type) {
    case MessageType::kAscii: return number_of_text(domain, category, static_cast<const char*>(attributes->message));
    case MessageType::kWide:
      return number_of_text(domain, category, narrow(text, static_cast<const wchar_t*>(attributes->message)));
    case MessageType::kRegistered:
      return number_of_string(static_cast<const String*>(attributes->message), domain, category);
    case MessageType::kNone: break;
  }
  return number_of_text(domain, category, nullptr);
}

uint32_t name_of(const wchar_t* wide) {
  char text[kTextRoom];
  return number_of_text(0, nullptr, narrow(text, wide));
}

uint64_t positive(int64_t value) { return value > 0 ? static_cast<uint64_t>(value) : 0; }

// The number of items: the payload, if it is a positive integer; else 0.
uint64_t items_of(const Attributes* attributes) {
  if (!is_readable(attributes)) return 0;
  switch (attributes->payload_type) {
    case PayloadType::kU64: return attributes->payload;
    case PayloadType::kI64: return positive(static_cast<int64_t>(attributes->payload));
    case PayloadType::kU32: return static_cast<uint32_t>(attributes->payload);
    case PayloadType::kI32: return positive(static_cast<int32_t>(attributes->payload));
    default: return 0;
  }
}

// Begins a range next to the other tool's, if there is another tool. If that tool gives a range no id, its end cannot
// be identified: such a range is not recorded. has_end: the tool ends ranges as well. Returns the id that the program
// gets.
template <typename Name>
uint64_t start_beside(bool has_theirs, uint64_t theirs, bool has_end, uint32_t domain, uint64_t items, Name name,
                      HookFrame hook_frame) {
  if (!is_on() || (has_theirs && theirs == 0)) return theirs;
  const uint64_t ours = start(name(), items, hook_frame);
  if (has_theirs) {
    if (ours != 0) note_range(domain, theirs, ours);
    return theirs;
  }
  return has_end ? 0 : ours;
}

// pre: is_on()
void end_beside(bool has_theirs, uint32_t domain, uint64_t range, HookFrame hook_frame) {
  if (!has_theirs) return end(range, hook_frame);
  if (range != 0) end(take_range(domain, range), hook_frame);
}

// ---- The functions in the tables ----

void on_MarkEx(const Attributes* attributes) {
  if (const auto next = next_MarkEx()) next(attributes);
  if (is_on()) mark(name_of(0, attributes), HEAPPROF_HOOK_FRAME());
}
void on_MarkA(const char* text) {
  if (const auto next = next_MarkA()) next(text);
  if (is_on()) mark(number_of_text(0, nullptr, text), HEAPPROF_HOOK_FRAME());
}
void on_MarkW(const wchar_t* text) {
  if (const auto next = next_MarkW()) next(text);
  if (is_on()) mark(name_of(text), HEAPPROF_HOOK_FRAME());
}
void on_DomainMarkEx(Domain* domain, const Attributes* attributes) {
  if (const auto next = next_DomainMarkEx()) next(domain, attributes);
  if (is_on()) mark(name_of(domain_of(domain), attributes), HEAPPROF_HOOK_FRAME());
}

uint64_t on_RangeStartEx(const Attributes* attributes) {
  const auto next = next_RangeStartEx();
  const uint64_t theirs = next != nullptr ? next(attributes) : 0;
  return start_beside(
      next != nullptr, theirs, next_RangeEnd() != nullptr, 0, items_of(attributes),
      [&] { return name_of(0, attributes); }, HEAPPROF_HOOK_FRAME());
}
uint64_t on_RangeStartA(const char* text) {
  const auto next = next_RangeStartA();
  const uint64_t theirs = next != nullptr ? next(text) : 0;
  return start_beside(
      next != nullptr, theirs, next_RangeEnd() != nullptr, 0, 0, [&] { return number_of_text(0, nullptr, text); },
      HEAPPROF_HOOK_FRAME());
}
uint64_t on_RangeStartW(const wchar_t* text) {
  const auto next = next_RangeStartW();
  const uint64_t theirs = next != nullptr ? next(text) : 0;
  return start_beside(
      next != nullptr, theirs, next_RangeEnd() != nullptr, 0, 0, [&] { return name_of(text); }, HEAPPROF_HOOK_FRAME());
}
uint64_t on_DomainRangeStartEx(Domain* handle, const Attributes* attributes) {
  const auto next = next_DomainRangeStartEx();
  const uint64_t theirs = next != nullptr ? next(handle, attributes) : 0;
  const uint32_t domain = domain_of(handle);
  return start_beside(
      next != nullptr, theirs, next_DomainRangeEnd() != nullptr, domain, items_of(attributes),
      [&] { return name_of(domain, attributes); }, HEAPPROF_HOOK_FRAME());
}
void on_RangeEnd(uint64_t range) {
  const auto next = next_RangeEnd();
  if (is_on()) end_beside(next != nullptr, 0, range, HEAPPROF_HOOK_FRAME());
  if (next != nullptr) next(range);
}
void on_DomainRangeEnd(Domain* domain, uint64_t range) {
  const auto next = next_DomainRangeEnd();
  if (is_on()) end_beside(next != nullptr, domain_of(domain), range, HEAPPROF_HOOK_FRAME());
  if (next != nullptr) next(domain, range);
}

// Calls the other tool's push, if there is one, for the level that the program gets. Returns whether there is one.
template <typename Next, typename... Arguments>
int pushed(Next next, int* level, Arguments... arguments) {
  *level = next != nullptr ? next(arguments...) : kNoTracking;
  return next != nullptr;
}

int on_RangePushEx(const Attributes* attributes) {
  int theirs;
  const bool has_theirs = pushed(next_RangePushEx(), &theirs, attributes);
  const int ours = is_on() ? push(0, name_of(0, attributes), items_of(attributes), HEAPPROF_HOOK_FRAME()) : kNoTracking;
  return has_theirs ? theirs : ours;
}
int on_RangePushA(const char* text) {
  int theirs;
  const bool has_theirs = pushed(next_RangePushA(), &theirs, text);
  const int ours = is_on() ? push(0, number_of_text(0, nullptr, text), 0, HEAPPROF_HOOK_FRAME()) : kNoTracking;
  return has_theirs ? theirs : ours;
}
int on_RangePushW(const wchar_t* text) {
  int theirs;
  const bool has_theirs = pushed(next_RangePushW(), &theirs, text);
  const int ours = is_on() ? push(0, name_of(text), 0, HEAPPROF_HOOK_FRAME()) : kNoTracking;
  return has_theirs ? theirs : ours;
}
int on_DomainRangePushEx(Domain* handle, const Attributes* attributes) {
  int theirs;
  const bool has_theirs = pushed(next_DomainRangePushEx(), &theirs, handle, attributes);
  const uint32_t domain = domain_of(handle);
  const int ours =
      is_on() ? push(domain, name_of(domain, attributes), items_of(attributes), HEAPPROF_HOOK_FRAME()) : kNoTracking;
  return has_theirs ? theirs : ours;
}
int on_RangePop() {
  const int ours = is_on() ? pop(0, HEAPPROF_HOOK_FRAME()) : kNoTracking;
  const auto next = next_RangePop();
  return next != nullptr ? next() : ours;
}
int on_DomainRangePop(Domain* domain) {
  const int ours = is_on() ? pop(domain_of(domain), HEAPPROF_HOOK_FRAME()) : kNoTracking;
  const auto next = next_DomainRangePop();
  return next != nullptr ? next(domain) : ours;
}

void on_NameCategoryA(uint32_t category, const char* name) {
  if (const auto next = next_NameCategoryA()) next(category, name);
  name_category(category, name);
}
void on_NameCategoryW(uint32_t category, const wchar_t* name) {
  if (const auto next = next_NameCategoryW()) next(category, name);
  char text[kTextRoom];
  name_category(category, narrow(text, name));
}
void on_DomainNameCategoryA(Domain* domain, uint32_t category, const char* name) {
  if (const auto next = next_DomainNameCategoryA()) next(domain, category, name);
  if (domain_of(domain) == 0) name_category(category, name);
}
void on_DomainNameCategoryW(Domain* domain, uint32_t category, const wchar_t* name) {
  if (const auto next = next_DomainNameCategoryW()) next(domain, category, name);
  char text[kTextRoom];
  if (domain_of(domain) == 0) name_category(category, narrow(text, name));
}

String* given_string(bool has_theirs, String* theirs, String* ours) {
  if (!has_theirs) return has_next() ? nullptr : ours;
  if (theirs != nullptr && ours != nullptr) note_string(theirs, ours);
  return theirs;
}
String* on_DomainRegisterStringA(Domain* domain, const char* text) {
  const auto next = next_DomainRegisterStringA();
  String* const theirs = next != nullptr ? next(domain, text) : nullptr;
  return given_string(next != nullptr, theirs, register_string(domain_of(domain), text));
}
String* on_DomainRegisterStringW(Domain* domain, const wchar_t* wide) {
  const auto next = next_DomainRegisterStringW();
  String* const theirs = next != nullptr ? next(domain, wide) : nullptr;
  char text[kTextRoom];
  return given_string(next != nullptr, theirs, register_string(domain_of(domain), narrow(text, wide)));
}

Domain* given_domain(bool has_theirs, Domain* theirs, Domain* ours) {
  if (!has_theirs) return has_next() ? nullptr : ours;
  if (theirs != nullptr && ours != nullptr) note_domain(theirs, ours);
  return theirs;
}
Domain* on_DomainCreateA(const char* name) {
  const auto next = next_DomainCreateA();
  Domain* const theirs = next != nullptr ? next(name) : nullptr;
  return given_domain(next != nullptr, theirs, register_domain(name));
}
Domain* on_DomainCreateW(const wchar_t* wide) {
  const auto next = next_DomainCreateW();
  Domain* const theirs = next != nullptr ? next(wide) : nullptr;
  char text[kTextRoom];
  return given_domain(next != nullptr, theirs, register_domain(narrow(text, wide)));
}

// ---- A table ----

struct Entry {
  uint32_t module;
  uint32_t number;
  AnyFunction ours;
};
const Entry kEntries[] = {
#define X(module, number, name, result, parameters, arguments) \
  {kModule##module, number, reinterpret_cast<AnyFunction>(on_##name)},
#include "agent/nvtx/functions.def"
#undef X
};

// Where the object keeps each of the functions; nullptr: its NVTX lacks that one.
struct Table {
  AnyFunction* at[kSlots];
};

Table find_table(GetExportTable get) {
  Table table{};
  const auto* const tables = static_cast<const CallbackTables*>(get(kCallbackTables));
  if (tables == nullptr || tables->struct_bytes < sizeof(CallbackTables)) return table;
  for (const uint32_t module : {kModuleCore, kModuleCore2}) {
    AnyFunction** slots = nullptr;
    unsigned count = 0;
    if (tables->get_module(module, &slots, &count) == 0 || slots == nullptr) continue;
    for (uint32_t i = 0; i < kSlots; ++i) {
      if (kEntries[i].module == module && kEntries[i].number < count) table.at[i] = slots[kEntries[i].number];
    }
  }
  return table;
}

struct Functions {
  AnyFunction of[kSlots];
};

Functions functions_in(const Table& table) {
  Functions functions{};
  for (uint32_t i = 0; i < kSlots; ++i) functions.of[i] = table.at[i] != nullptr ? *table.at[i] : nullptr;
  return functions;
}

// What another tool wrote is kept when the first table is attached.
enum class Chain : uint32_t { kOpen = 0, kWriting = 1, kKept = 2 };
std::atomic<Chain> g_chain{Chain::kOpen};

// Keeps `next` if nothing is kept yet. True if `next` is what is kept; a slot that the table lacks matches anything.
bool keep_next(const Table& table, const Functions& next) {
  const SignalsBlocked blocked(!is_filtered());  // a handler may initialize NVTX, and would wait for its own thread
  Chain seen = Chain::kOpen;
  if (g_chain.compare_exchange_strong(seen, Chain::kWriting, std::memory_order_acquire)) {
    for (uint32_t i = 0; i < kSlots; ++i) {
      g_next[i] = next.of[i];
      if (next.of[i] != nullptr) g_has_next.store(true, std::memory_order_relaxed);
    }
    g_chain.store(Chain::kKept, std::memory_order_release);
    return true;
  }
  for (uint32_t round = 0; g_chain.load(std::memory_order_acquire) != Chain::kKept; ++round) let_others_run(round);
  for (uint32_t i = 0; i < kSlots; ++i) {
    if (table.at[i] != nullptr && g_next[i] != next.of[i]) return false;
  }
  return true;
}

// theirs: nullptr: no other tool.
int attach(GetExportTable get, Initialize theirs) {
  if (get == nullptr || !is_on()) return theirs != nullptr ? theirs(get) : 0;
  const Table table = find_table(get);
  const Functions before = functions_in(table);
  if (theirs != nullptr && theirs(get) == 0) {  // it takes no part, and its functions must not be called
    for (uint32_t i = 0; i < kSlots; ++i) {
      if (table.at[i] != nullptr) *table.at[i] = before.of[i];
    }
    theirs = nullptr;
  }
  Functions next = functions_in(table);
  for (uint32_t i = 0; i < kSlots; ++i) {
    if (theirs == nullptr || next.of[i] == before.of[i]) next.of[i] = nullptr;
  }
  if (!keep_next(table, next)) {
    g_control->nvtx_left.fetch_add(1, std::memory_order_relaxed);
    return theirs != nullptr;
  }
  for (uint32_t i = 0; i < kSlots; ++i) {
    if (table.at[i] != nullptr) *table.at[i] = kEntries[i].ours;
  }
  return 1;
}

// The other tools' functions, by the two names.
std::atomic<Initialize> g_theirs[2];
int start_theirs(GetExportTable get) { return attach(get, g_theirs[0].load(std::memory_order_acquire)); }
int start_theirs_by_old_name(GetExportTable get) { return attach(get, g_theirs[1].load(std::memory_order_acquire)); }

// Used if there is no other tool.
int start_alone(GetExportTable get) { return attach(get, nullptr); }

}  // namespace

namespace heapprof::agent::nvtx {

bool starts_tool(const char* name) {
  return strcmp(name, kInitializeName) == 0 || strcmp(name, kOldInitializeName) == 0;
}

void* starter() { return reinterpret_cast<void*>(start_alone); }

void* stand_before(const char* name, void* found) {
  if (!is_on()) return nullptr;
  const uint32_t which = strcmp(name, kInitializeName) == 0 ? 0 : 1;
  Initialize kept = nullptr;
  const auto theirs = reinterpret_cast<Initialize>(found);
  if (!g_theirs[which].compare_exchange_strong(kept, theirs, std::memory_order_acq_rel) && kept != theirs)
    return nullptr;
  return reinterpret_cast<void*>(which == 0 ? start_theirs : start_theirs_by_old_name);
}

}  // namespace heapprof::agent::nvtx
