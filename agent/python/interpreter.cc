// agent/python/interpreter.cc: determines CPython's version by the symbols that its library exports: no function of it
// is called for that.
#include "agent/python/interpreter.h"

#include "agent/process/arena.h"
#include "agent/process/link_map.h"
#include "agent/process/loaded_object.h"
#include "agent/process/modules.h"
#include "agent/process/own_memory.h"

#include <string.h>

#include <bit>

namespace heapprof::agent {

constinit std::atomic<const Python*> g_python{nullptr};

namespace {

constinit Python g_found{};
uint32_t g_version = 0;
bool g_is_lasting = false;  // the interpreter was there at the program's start: it is never unloaded

// The symbols that are looked up, in the order of kNames.
struct Symbols {
  uint64_t thread_state, code_type, version, runtime;
  uint64_t of_310, of_39, of_38;  // each exported from that version on
  uint64_t evaluator;
};
constexpr const char* kNames[] = {
    "PyGILState_GetThisThreadState", "PyCode_Type",     "Py_Version",        "_PyRuntime",
    "PyModule_AddObjectRef",         "PyFrame_GetBack", "PyVectorcall_Call", "_PyEval_EvalFrameDefault"};
constexpr size_t kNameCount = sizeof kNames / sizeof kNames[0];
constexpr size_t kEvaluator = 7, kFirstVariable = 1, kVariables = 3;
static_assert(sizeof(Symbols) == kNameCount * sizeof(uint64_t));

// PY_VERSION_HEX >> 16; 0x0300: unknown minor version, or Python 2.
uint32_t version_of(const Symbols& symbols) {
  uint64_t number = 0;
  if (symbols.version != 0 && read_own_memory(&number, reinterpret_cast<const void*>(symbols.version), sizeof number))
    return static_cast<uint32_t>(number >> 16) & 0xffff;
  if (symbols.of_310 != 0) return 0x030a;
  if (symbols.of_39 != 0) return 0x0309;
  return symbols.of_38 != 0 ? 0x0308 : 0x0300;
}

bool find_layout(const Symbols& symbols, uint32_t version, PythonLayout* layout) {
  if (version >> 8 != 3) return false;
  const auto minor = static_cast<uint16_t>(version & 0xff);
  if (const PythonLayout* const known = layout_of_version(minor)) {
    *layout = *known;
    return true;
  }
  uint64_t words[kOffsetWords];
  return symbols.runtime != 0 && read_own_memory(words, reinterpret_cast<const void*>(symbols.runtime), sizeof words) &&
         read_layout(words, minor, layout);
}

// False: no interpreter, or none whose frame layout is known: then g_version says so.
bool take(const Symbols& symbols, uint64_t evaluator_bytes) {
  if (symbols.thread_state == 0 || symbols.code_type == 0) return false;
  const uint32_t version = version_of(symbols);
  Python& python = g_found;
  if (!find_layout(symbols, version, &python.layout)) {
    g_version = version | wire::kPythonUnknown;
    return false;
  }
  g_version = version;
  python.minor = static_cast<uint16_t>(version & 0xff);
  python.code_type = symbols.code_type;
  python.evaluator_start = symbols.evaluator;
  python.evaluator_end = symbols.evaluator + evaluator_bytes;
  python.thread_state.store(reinterpret_cast<uint64_t (*)()>(symbols.thread_state), std::memory_order_release);  // (P)
  g_python.store(&python, std::memory_order_release);
  return true;
}

// True if the file's name contains "python".
bool names_python(const char* path) {
  bool names = false;
  for (; *path != 0; ++path) {
    if (*path == '/') names = false;
    if (strncmp(path, "python", 6) == 0) names = true;
  }
  return names;
}

}  // namespace

void look_for_python() {
  SoughtSymbol sought[kNameCount];
  for (size_t i = 0; i < kNameCount; ++i) sought[i].name = kNames[i];
  find_symbols_in_process(sought, kNameCount);
  uint64_t found[kNameCount] = {};
  for (size_t i = 0; i < kNameCount; ++i) {
    if (sought[i].symbol != nullptr) found[i] = sought[i].object->l_addr + sought[i].symbol->st_value;
  }
  g_note_object_for_python = note_object_for_python;
  take(std::bit_cast<Symbols>(found), sought[kEvaluator].symbol != nullptr ? sought[kEvaluator].symbol->st_size : 0);
  g_is_lasting = g_version != 0;
}

bool note_object_for_python(const char* path) {
  if (g_version != 0 || !names_python(path)) return false;
  uint64_t found[kNameCount] = {};
  for (size_t i = 0; i < kNameCount; ++i) {
    void* kept = nullptr;
    const bool is_data = i >= kFirstVariable && i < kFirstVariable + kVariables;
    found[i] = reinterpret_cast<uint64_t>(find_late_behind_agent({kNames[i], nullptr, nullptr, is_data}, &kept));
    if (i == 0 && found[i] == 0) return false;
  }
  const bool is_known = take(std::bit_cast<Symbols>(found), 0);
  g_control->python_version.store(g_version, std::memory_order_relaxed);
  return is_known;
}

void forget_unloaded_python() {
  if (g_is_lasting || g_version == 0) return;
  const auto thread_state = g_found.thread_state.load(std::memory_order_relaxed);
  if (thread_state == nullptr || is_surely_loaded(reinterpret_cast<const void*>(thread_state))) return;
  g_found.thread_state.store(nullptr, std::memory_order_relaxed);
  g_version = 0;
}

uint32_t python_version() { return g_version; }

}  // namespace heapprof::agent
