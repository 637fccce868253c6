// agent/torch/operators.cc: between an operator's two callbacks the agent keeps an object of the library's base class.
// The library destroys it through its virtual function table, in any thread. The object lies in a table of the thread
// that the operator began in.
//
// The callbacks do not get an operator's sequence number, by which its function of the backward pass is found;
// at::RecordFunction::before, which calls them, does. That function is exported, and called through a table that the
// loader fills: so the agent hooks it, and keeps the number until the callback comes.
#include "agent/torch/operators.h"

#include "agent/hooks/hook.h"
#include "agent/hooks/late_real.h"
#include "agent/process/arena.h"
#include "agent/process/loaded_object.h"
#include "agent/process/lock.h"
#include "agent/process/modules.h"
#include "agent/process/names.h"
#include "agent/process/own_pages.h"
#include "agent/record/record_fast.h"
#include "agent/start/start.h"

#include <errno.h>
#include <string.h>

#include <initializer_list>

namespace heapprof::agent {

using wire::OperatorsState;

namespace {

// at::RecordFunctionCallback.
struct Callback {
  void* (*start)(void** result, const void* function);  // std::unique_ptr<ObserverContext>(const RecordFunction&)
  void (*end)(const void* function, void* kept);
  uint64_t probability;  // a double; the agent uses no register for one
  bool scopes[10];       // by at::RecordScope
  bool needs_inputs;
  bool needs_outputs;
  bool needs_ids;
};
static_assert(sizeof(Callback) == 40);
constexpr size_t kFunctionScope = 0, kBackwardScope = 1, kScriptScope = 2, kUserScope = 7;  // at::RecordScope

constexpr const char* kAddName = "_ZN2at17addGlobalCallbackENS_22RecordFunctionCallbackE";
constexpr const char* kNameName = "_ZNK2at14RecordFunction4nameEv";
// If its constructor takes StepCallbacks, the callback has the layout above.
constexpr const char* kLayoutName = "_ZN2at14RecordFunctionC1EONS_13StepCallbacksE";

using Add = uint64_t (*)(Callback callback);
using Name = const char* (*)(const void* function);

struct Library {
  Add add = nullptr;
  Name name = nullptr;
  uint64_t start_avma = 0, end_avma = 0;
};
Library g_library;
enum class Search : uint32_t { kNotBegun, kUnderWay, kFound };
std::atomic<Search> g_search{Search::kNotBegun};  // of the library's functions
OperatorsState g_state = OperatorsState::kNone;

void say(OperatorsState state) {
  g_state = state;
  g_control->operators_state.store(state, std::memory_order_relaxed);
}

// ---- The object kept for an operator that has begun ----

// at::ObserverContext has a virtual destructor, and nothing else.
class Kept {
 public:
  Kept(uint64_t id) : id_(id), birth_(g_session) {}
  virtual ~Kept() = default;
  static void operator delete(void* kept);
  static void* operator new(size_t, void* at) { return at; }

  // A forked child is not in any of its parent's scopes.
  uint64_t id() const { return birth_ == g_session ? id_ : 0; }

 private:
  uint64_t id_;
  uint32_t birth_;
};

}  // namespace

// A thread's operators. The thread takes an entry; any thread gives it back.
struct OperatorTable {
  struct Entry {
    alignas(Kept) unsigned char kept[sizeof(Kept)];
    std::atomic<uint32_t> is_taken;
  };
  Entry entries[kMostOperators];
};

namespace {

void Kept::operator delete(void* kept) {
  auto* const entry = reinterpret_cast<OperatorTable::Entry*>(kept);  // its first member
  entry->is_taken.store(0, std::memory_order_release);
}

OperatorTable* map_table() {
  auto* const table = static_cast<OperatorTable*>(map_private(sizeof(OperatorTable)));
  if (table == nullptr) return nullptr;
  const SignalsBlocked blocked;
  lock(g_fork_page.lock);
  note_own_pages(table, sizeof(OperatorTable));
  unlock(g_fork_page.lock);
  return table;
}

OperatorTable::Entry* take_entry(Context* context) {
  TorchOperators& operators = context->operators;
  if (operators.table == nullptr) {
    if (is_filtered()) return nullptr;  // no system call may be made
    operators.table = map_table();
    if (operators.table == nullptr) return nullptr;
  }
  for (uint32_t look = 0; look < kMostOperators; ++look) {
    OperatorTable::Entry& entry = operators.table->entries[(operators.next + look) % kMostOperators];
    if (entry.is_taken.load(std::memory_order_acquire) != 0) continue;
    entry.is_taken.store(1, std::memory_order_relaxed);
    operators.next = (operators.next + look + 1) % kMostOperators;
    return &entry;
  }
  return nullptr;
}

// ---- The callbacks ----

Kept* begin(const void* function, bool is_operator, bool is_backward, HookFrame hook_frame) {
  if (g_fork_page.state == AgentState::kUnknown && (t_flags & kThreadInside) == 0) start_session();
  if (g_fork_page.state != AgentState::kOn) return nullptr;
  Context* const context = own_context(hook_frame);
  OperatorTable::Entry* const entry = context == nullptr ? nullptr : take_entry(context);
  if (entry == nullptr) {
    g_control->operators_lost.fetch_add(1, std::memory_order_relaxed);
    return nullptr;
  }
  TorchOperators& operators = context->operators;
  const int64_t sequence = operators.has_sequence ? operators.sequence : -1;
  operators.has_sequence = false;
  const uint32_t name = number_of_name(nullptr, g_library.name(function));
  const uint64_t id = is_operator ? record_operator(name, wire::pack_operator(is_backward, sequence), hook_frame)
                                  : record_scope(wire::ScopeOperation::kBegin, name, 0, hook_frame);
  return new (entry->kept) Kept(id);
}

void* operator_begins(void** result, const void* function) {
  *result = begin(function, true, false, HEAPPROF_HOOK_FRAME());
  return result;
}
void* backward_begins(void** result, const void* function) {
  *result = begin(function, true, true, HEAPPROF_HOOK_FRAME());
  return result;
}
void* range_begins(void** result, const void* function) {
  *result = begin(function, false, false, HEAPPROF_HOOK_FRAME());
  return result;
}

void any_ends(const void*, void* kept) {
  if (kept == nullptr || g_fork_page.state != AgentState::kOn) return;
  const uint64_t id = static_cast<const Kept*>(kept)->id();
  const HookFrame hook_frame = HEAPPROF_HOOK_FRAME();
  if (id == 0) return;
  if (HEAPPROF_LIKELY(record_scope_fast<wire::ScopeOperation::kEndOnly>(0, id, hook_frame) != 0)) return;
  record_scope(wire::ScopeOperation::kEndOnly, 0, id, hook_frame);
}

// ---- Registering the callbacks ----

constexpr uint64_t kAlways = 0x3ff0000000000000;  // 1.0

Callback callback_for(void* (*start)(void**, const void*), std::initializer_list<size_t> scopes) {
  Callback callback{start, any_ends, kAlways, {}, false, false, false};
  for (const size_t scope : scopes) callback.scopes[scope] = true;
  return callback;
}

template <typename Function>
bool find(const char* name, Function* function) {
  void* kept = nullptr;
  void* const found = find_late_behind_agent({name, nullptr, nullptr}, &kept);
  *function = reinterpret_cast<Function>(found);
  return found != nullptr;
}

// False: the library lacks what is needed.
bool find_library() {
  void* layout = nullptr;
  LoadedObject object;
  if (!find(kAddName, &g_library.add) || !find(kNameName, &g_library.name) || !find(kLayoutName, &layout)) return false;
  if (!find_object(reinterpret_cast<uint64_t>(g_library.add), &object)) return false;
  g_library.start_avma = object.info.start_avma;
  g_library.end_avma = object.info.end_avma;
  return true;
}

bool is_time(const uint64_t* pcs_avma, uint32_t count) {
  if (is_filtered()) return false;  // an allocation by the library could make a system call that the filter kills for
  Search before = Search::kNotBegun;
  if (g_search.compare_exchange_strong(before, Search::kUnderWay, std::memory_order_acquire)) {
    if (!find_library()) {
      g_waiting.store(nullptr, std::memory_order_relaxed);
      say(OperatorsState::kUnknown);
      return false;
    }
    g_search.store(Search::kFound, std::memory_order_release);
  } else if (before != Search::kFound) {
    return false;
  }
  for (uint32_t i = 0; i < count; ++i) {
    if (pcs_avma[i] - g_library.start_avma < g_library.end_avma - g_library.start_avma) return false;
  }
  return true;
}

void ask_library() {
  if (g_waiting.exchange(nullptr, std::memory_order_acq_rel) == nullptr) return;  // another thread is doing it
  const int before = errno;
  say(OperatorsState::kRecorded);
  g_library.add(callback_for(operator_begins, {kFunctionScope, kScriptScope}));
  g_library.add(callback_for(backward_begins, {kBackwardScope}));
  g_library.add(callback_for(range_begins, {kUserScope}));
  errno = before;
}

constexpr Waiting kWaiting = {is_time, ask_library};

bool is_library(const char* path) {
  constexpr char kFile[] = "libtorch_cpu.so";
  const char* file = path;
  for (; *path != 0; ++path) {
    if (*path == '/') file = path + 1;
  }
  return strncmp(file, kFile, sizeof kFile - 1) == 0;
}

bool note_object_for_operators(const char* path) {
  if (g_state == OperatorsState::kNone && is_library(path)) g_waiting.store(&kWaiting, std::memory_order_release);
  return false;
}

// ---- The number of the next operator ----

// at::RecordFunction::before, in the forms that it has had.
LateReal g_befores[] = {
    {"_ZN2at14RecordFunction6beforeEPKcl"},
    {"_ZN2at14RecordFunction6beforeENSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEEl"},
    {"_ZN2at14RecordFunction6beforeESsl"},
    {"_ZN2at14RecordFunction6beforeESt17reference_wrapperIKN3c1014FunctionSchemaEEl"},
    {"_ZN2at14RecordFunction6beforeESt7variantIJN3c1017basic_string_viewIcEESt17reference_wrapperIKNS2_"
     "14FunctionSchemaEEEEl"},
    {"_ZN2at14RecordFunction6beforeESt7variantIJSt17basic_string_viewIcSt11char_traitsIcEESt17reference_wrapperIKN3c10"
     "14FunctionSchemaEEEEl"},
    {"_ZN2at14RecordFunction6beforeESt7variantIJSt17basic_string_viewIcSt11char_traitsIcEESt17reference_wrapperIKN3c10"
     "14FunctionSchemaEEEElNS7_11DispatchKeyE"}};

// std::variant of a text and of a reference to a schema.
struct Described {
  uint64_t words[3];
};

void note_sequence(int64_t sequence, HookFrame hook_frame) {
  Context* const context = own_context(hook_frame);
  if (context == nullptr) return;
  context->operators.sequence = sequence;
  context->operators.has_sequence = true;
}

// If no callback of the agent was called, drops the number.
void forget_sequence() {
  if (Context* const context = t_context) context->operators.has_sequence = false;
}

template <typename By, typename... Rest>
[[gnu::always_inline]] inline void stand_before(LateReal* real, void* function, By described, int64_t sequence,
                                                Rest... rest) {
  if (g_state == OperatorsState::kRecorded) note_sequence(sequence, HEAPPROF_HOOK_FRAME());
  forward(real, function, described, sequence, rest...);
  if (g_state == OperatorsState::kRecorded) forget_sequence();
}

}  // namespace

void settle_operators() {
  if (g_control->torch_operators == 0) return;
  if (g_note_object_for_torch != nullptr) {  // a forked child; another thread of its parent may have been looking
    Search under_way = Search::kUnderWay;
    g_search.compare_exchange_strong(under_way, Search::kNotBegun, std::memory_order_relaxed);
    return say(g_state);
  }
  g_note_object_for_torch = note_object_for_operators;
}

void forget_operators() {
  forget_unloaded(g_befores);
  if (g_search.load(std::memory_order_acquire) != Search::kFound) return;
  // Before glibc 2.35 the agent cannot tell what is loaded: it assumes that the library stays, as Python's modules do.
  if (!can_tell_loaded() || is_surely_loaded(reinterpret_cast<const void*>(g_library.add))) return;
  g_waiting.store(nullptr, std::memory_order_relaxed);
  g_search.store(Search::kNotBegun, std::memory_order_relaxed);
  g_state = OperatorsState::kNone;
}

}  // namespace heapprof::agent

using namespace heapprof::agent;

// A std::string that is a parameter by value is passed by its address.
EARLY_HOOK(void, _ZN2at14RecordFunction6beforeEPKcl)(void* function, const char* text, int64_t sequence) {
  stand_before(&g_befores[0], function, text, sequence);
}
EARLY_HOOK(void, _ZN2at14RecordFunction6beforeENSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEEl)
(void* function, void* text, int64_t sequence) { stand_before(&g_befores[1], function, text, sequence); }
EARLY_HOOK(void, _ZN2at14RecordFunction6beforeESsl)(void* function, void* text, int64_t sequence) {
  stand_before(&g_befores[2], function, text, sequence);
}
EARLY_HOOK(void, _ZN2at14RecordFunction6beforeESt17reference_wrapperIKN3c1014FunctionSchemaEEl)
(void* function, const void* schema, int64_t sequence) { stand_before(&g_befores[3], function, schema, sequence); }
EARLY_HOOK(
    void,
    _ZN2at14RecordFunction6beforeESt7variantIJN3c1017basic_string_viewIcEESt17reference_wrapperIKNS2_14FunctionSchemaEEEEl)
(void* function, Described described, int64_t sequence) { stand_before(&g_befores[4], function, described, sequence); }
EARLY_HOOK(
    void,
    _ZN2at14RecordFunction6beforeESt7variantIJSt17basic_string_viewIcSt11char_traitsIcEESt17reference_wrapperIKN3c1014FunctionSchemaEEEEl)
(void* function, Described described, int64_t sequence) { stand_before(&g_befores[5], function, described, sequence); }
EARLY_HOOK(
    void,
    _ZN2at14RecordFunction6beforeESt7variantIJSt17basic_string_viewIcSt11char_traitsIcEESt17reference_wrapperIKN3c1014FunctionSchemaEEEElNS7_11DispatchKeyE)
(void* function, Described described, int64_t sequence, uint16_t dispatch_key) {
  stand_before(&g_befores[6], function, described, sequence, dispatch_key);
}
