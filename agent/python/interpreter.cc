// agent/python/interpreter.cc: a version is told by what it exports, as none of its functions is called for that.
//
// The offsets of 3.8 to 3.12 are those of their headers on x86-64 (tests/integration/stacks holds them against the
// interpreters that a machine has). From 3.13 on an interpreter has its own in _PyRuntime, in an order that a version
// may change: so these are looked at for what cannot be.
#include "agent/python/interpreter.h"

#include "agent/process/arena.h"
#include "agent/process/link_map.h"
#include "agent/process/modules.h"
#include "agent/process/own_memory.h"

#include <string.h>

namespace heapprof::agent {

constinit std::atomic<const Python*> g_python{nullptr};

namespace {

constexpr uint16_t kNone = kNoField;
constexpr uint8_t kShimOwner = 3;
static_assert(kShimOwner == 3);

constexpr PythonLayout kPython38 = {PythonEntry::kEachFrame,
                                    1,
                                    24,
                                    kNone,
                                    kNone,
                                    kNone,
                                    24,
                                    32,
                                    104,
                                    kNone,
                                    kNone,
                                    8,
                                    104,
                                    112,
                                    40,
                                    120,
                                    kNone,
                                    16,
                                    32,
                                    16,
                                    32,
                                    48,
                                    72};
constexpr PythonLayout kPython310 = {PythonEntry::kEachFrame,
                                     2,
                                     24,
                                     48,
                                     kNone,
                                     8,
                                     24,
                                     32,
                                     96,
                                     kNone,
                                     kNone,
                                     8,
                                     104,
                                     112,
                                     40,
                                     120,
                                     kNone,
                                     16,
                                     32,
                                     16,
                                     32,
                                     48,
                                     72};
constexpr PythonLayout kPython311 = {
    PythonEntry::kFlag, 0, kNone, 56, 8, 16, 48, 32, 56, 69, 68, 8, 112, 128, 72, 136, 184, 16, 32, 16, 32, 48, 72};
constexpr PythonLayout kPython312 = {
    PythonEntry::kShim, 0, kNone, 56, 0, 8, 8, 0, 56, 70, kNone, 8, 112, 128, 68, 136, 192, 16, 32, 16, 32, 40, 56};

// Where _Py_DebugOffsets has what is needed, as indexes of its 64-bit words.
struct OffsetWords {
  uint16_t minor;
  uint8_t thread_top, frame_previous, frame_code, frame_instruction, frame_owner;
  uint8_t code_file, code_function, code_table, code_first_line, code_start, object_type, bytes_size, bytes_data;
  uint8_t text_state, text_length, ascii_data;
};
constexpr OffsetWords kOffsetWords[] = {
    {13, 23, 29, 30, 31, 33, 35, 37, 38, 39, 43, 45, 65, 66, 68, 69, 70},
    {14, 26, 32, 33, 34, 36, 40, 42, 43, 44, 48, 51, 75, 76, 78, 79, 80},
};
constexpr size_t kMostWords = 81;
constexpr char kCookie[] = "xdebugpy";
constexpr uint64_t kMostOffset = 4096;

Python g_found;
uint32_t g_version = 0;

bool read_offsets(uint64_t runtime, uint16_t minor, PythonLayout* layout) {
  uint64_t words[kMostWords];
  if (!read_own_memory(words, reinterpret_cast<const void*>(runtime), sizeof words)) return false;
  if (memcmp(words, kCookie, sizeof words[0]) != 0 || (words[1] >> 16 & 0xff) != minor) return false;
  const OffsetWords* at = nullptr;
  for (const OffsetWords& known : kOffsetWords) {
    if (known.minor == minor) at = &known;
  }
  if (at == nullptr) return false;
  bool is_sound = true;
  const auto offset = [&](uint8_t word) {
    is_sound = is_sound && words[word] < kMostOffset;
    return static_cast<uint16_t>(words[word]);
  };
  *layout = {PythonEntry::kShim,
             0,
             offset(at->thread_top),
             kNone,
             kNone,
             kNone,
             offset(at->frame_previous),
             offset(at->frame_code),
             offset(at->frame_instruction),
             offset(at->frame_owner),
             kNone,
             offset(at->object_type),
             offset(at->code_file),
             offset(at->code_function),
             offset(at->code_first_line),
             offset(at->code_table),
             offset(at->code_start),
             offset(at->bytes_size),
             offset(at->bytes_data),
             offset(at->text_length),
             offset(at->text_state),
             offset(at->ascii_data),
             0};
  layout->wide_data = static_cast<uint16_t>(layout->ascii_data + 16);  // behind utf8_length and utf8
  return is_sound && layout->frame_previous % 8 == 0 && layout->frame_code % 8 == 0 &&
         layout->frame_instruction % 8 == 0 && layout->frame_owner > layout->frame_previous &&
         layout->code_start > layout->code_table && layout->code_table % 8 == 0 && layout->code_file % 8 == 0 &&
         layout->bytes_data > layout->bytes_size && layout->ascii_data > layout->text_length;
}

struct Symbols {
  uint64_t thread_state = 0, code_type = 0, version = 0, runtime = 0;
  uint64_t of_310 = 0, of_39 = 0, of_38 = 0;  // exported from that version on
  uint64_t evaluator = 0, evaluator_bytes = 0;
};

// False: it is none whose frames are known. g_version says so.
bool take(const Symbols& symbols) {
  if (symbols.thread_state == 0 || symbols.code_type == 0) return false;
  uint32_t version = 0x0300;  // of unknown minor version, or Python 2
  if (symbols.version != 0) {
    uint64_t number = 0;
    if (!read_own_memory(&number, reinterpret_cast<const void*>(symbols.version), sizeof number)) return false;
    version = static_cast<uint32_t>(number >> 16);
  } else if (symbols.of_310 != 0) {
    version = 0x030a;
  } else if (symbols.of_39 != 0) {
    version = 0x0309;
  } else if (symbols.of_38 != 0) {
    version = 0x0308;
  }
  g_version = version;
  Python& python = g_found;
  python.minor = static_cast<uint16_t>(version & 0xff);
  switch (version) {
    case 0x0308:
    case 0x0309: python.layout = kPython38; break;
    case 0x030a: python.layout = kPython310; break;
    case 0x030b: python.layout = kPython311; break;
    case 0x030c: python.layout = kPython312; break;
    default:
      if (version < 0x030d || symbols.runtime == 0 || !read_offsets(symbols.runtime, python.minor, &python.layout)) {
        g_version |= wire::kPythonUnknown;
        return false;
      }
  }
  python.thread_state = reinterpret_cast<uint64_t (*)()>(symbols.thread_state);
  python.code_type = symbols.code_type;
  python.evaluator_start = symbols.evaluator;
  python.evaluator_end = symbols.evaluator + symbols.evaluator_bytes;
  g_python.store(&python, std::memory_order_release);
  return true;
}

// Whether the file's name has "python" in it.
bool names_python(const char* path) {
  bool names = false;
  for (; *path != 0; ++path) {
    if (*path == '/') names = false;
    if (strncmp(path, "python", 6) == 0) names = true;
  }
  return names;
}

constexpr const char* kNames[] = {
    "PyGILState_GetThisThreadState", "PyCode_Type",     "Py_Version",        "_PyRuntime",
    "PyModule_AddObjectRef",         "PyFrame_GetBack", "PyVectorcall_Call", "_PyEval_EvalFrameDefault"};
constexpr size_t kNameCount = sizeof kNames / sizeof kNames[0];

Symbols symbols_of(const uint64_t (&found)[kNameCount], uint64_t evaluator_bytes) {
  return {found[0], found[1], found[2], found[3], found[4], found[5], found[6], found[7], evaluator_bytes};
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
  g_note_object = note_object_for_python;
  take(symbols_of(found, sought[kNameCount - 1].symbol != nullptr ? sought[kNameCount - 1].symbol->st_size : 0));
}

bool note_object_for_python(const char* path) {
  if (g_version != 0 || !names_python(path)) return false;
  uint64_t found[kNameCount] = {};
  for (size_t i = 0; i < kNameCount; ++i) {
    void* kept = nullptr;
    found[i] = reinterpret_cast<uint64_t>(find_late_behind_agent({kNames[i], nullptr, nullptr}, &kept));
    if (i == 0 && found[i] == 0) return false;
  }
  const bool is_known = take(symbols_of(found, 0));
  g_control->python_version.store(g_version, std::memory_order_relaxed);
  return is_known;
}

uint32_t python_version() { return g_version; }

}  // namespace heapprof::agent
