// agent/python/layout.cc: the tables. tests/integration/stacks/python_oracle.sh compares them with the interpreters on
// a machine; tests/unit/agent_python tests the reader with words of interpreters that the machine need not have.
#include "agent/python/layout.h"

#include <string.h>

namespace heapprof::agent {

namespace {

constexpr PythonLayout kPython38 = {.entry = PythonEntry::kEachFrame,
                                    .instruction_scale = 1,
                                    .thread_top = 24,
                                    .frame_previous = 24,
                                    .frame_code = 32,
                                    .frame_instruction = 104,
                                    .frame_bytes = 108,
                                    .code_file = 104,
                                    .code_function = 112,
                                    .code_first_line = 40,
                                    .code_table = 120,
                                    .ascii_data = 48,
                                    .wide_data = 72};
constexpr PythonLayout python_310() {
  PythonLayout layout = kPython38;
  layout.instruction_scale = 2;
  layout.thread_c_frame = 48;
  layout.frame_instruction = 96;
  layout.frame_bytes = 100;
  return layout;
}
constexpr PythonLayout kPython310 = python_310();
constexpr PythonLayout kPython311 = {.entry = PythonEntry::kFlag,
                                     .thread_c_frame = 56,
                                     .c_frame_top = 8,
                                     .c_frame_previous = 16,
                                     .frame_previous = 48,
                                     .frame_code = 32,
                                     .frame_instruction = 56,
                                     .frame_bytes = 72,
                                     .frame_owner = 69,
                                     .frame_is_entry = 68,
                                     .code_file = 112,
                                     .code_function = 128,
                                     .code_first_line = 72,
                                     .code_table = 136,
                                     .code_start = 184,
                                     .ascii_data = 48,
                                     .wide_data = 72};
constexpr PythonLayout kPython312 = {.entry = PythonEntry::kShim,
                                     .thread_c_frame = 56,
                                     .c_frame_top = 0,
                                     .c_frame_previous = 8,
                                     .frame_previous = 8,
                                     .frame_code = 0,
                                     .frame_instruction = 56,
                                     .frame_bytes = 72,
                                     .frame_owner = 70,
                                     .code_file = 112,
                                     .code_function = 128,
                                     .code_first_line = 68,
                                     .code_table = 136,
                                     .code_start = 192,
                                     .ascii_data = 40,
                                     .wide_data = 56};

// Where _Py_DebugOffsets has each offset, as an index of its words; 0: not there.
struct WordOrder {
  uint8_t thread_top;
  uint8_t frame_bytes, frame_previous, frame_code, frame_instruction, frame_owner, frame_copy;
  uint8_t code_file, code_function, code_table, code_first_line, code_start, code_copies;
  uint8_t object_type, bytes_size, bytes_data, text_state, text_length, ascii_data;
};
constexpr WordOrder kOrder313 = {23, 28, 29, 30, 31, 33, 0, 35, 37, 38, 39, 43, 0, 45, 65, 66, 68, 69, 70};
constexpr WordOrder kOrder314 = {26, 31, 32, 33, 34, 36, 38, 40, 42, 43, 44, 48, 49, 51, 75, 76, 78, 79, 80};
constexpr WordOrder kOrder315 = {26, 39, 40, 41, 42, 44, 46, 48, 50, 51, 52, 56, 57, 59, 87, 88, 90, 91, 92};
constexpr WordOrder kOrders[] = {kOrder313, kOrder314, kOrder315};
constexpr uint16_t kFirstWithOffsets = 13;

constexpr char kCookie[] = "xdebugpy";
constexpr uint16_t kMostOffset = 4096;
constexpr uint16_t kWideHeadBytes = 16;  // utf8_length and utf8, after the fields of an ASCII text

bool is_word(uint16_t offset, uint16_t end) {
  return offset % sizeof(uint64_t) == 0 && offset + sizeof(uint64_t) <= end;
}

// Checks that all fields read of a frame and of a code object lie within known ends.
bool is_sound(const PythonLayout& layout) {
  const uint16_t table_end = static_cast<uint16_t>(layout.code_table + sizeof(uint64_t));
  constexpr uint16_t kMostFrameBytes = 256;
  const bool is_frame_sound =
      layout.frame_bytes <= kMostFrameBytes && is_word(layout.frame_previous, layout.frame_bytes) &&
      is_word(layout.frame_code, layout.frame_bytes) && is_word(layout.frame_instruction, layout.frame_bytes) &&
      layout.frame_owner < layout.frame_bytes &&
      (layout.frame_copy == kNoField || layout.frame_copy + 4 <= layout.frame_bytes);
  const bool is_code_sound = is_word(layout.code_table, table_end) && is_word(layout.code_file, table_end) &&
                             is_word(layout.code_function, table_end) && layout.code_first_line + 4 <= table_end &&
                             is_word(layout.object_type, table_end) && layout.code_start >= table_end;
  return is_frame_sound && is_code_sound && is_word(layout.thread_top, kMostOffset) &&
         layout.bytes_data > layout.bytes_size && layout.ascii_data > layout.text_length &&
         layout.ascii_data > layout.text_state;
}

}  // namespace

const PythonLayout* layout_of_version(uint16_t minor) {
  switch (minor) {
    case 8:
    case 9: return &kPython38;
    case 10: return &kPython310;
    case 11: return &kPython311;
    case 12: return &kPython312;
    default: return nullptr;
  }
}

bool read_layout(const uint64_t (&words)[kOffsetWords], uint16_t minor, PythonLayout* layout) {
  const uint64_t version = words[1], is_free_threaded = words[2];
  if (minor < kFirstWithOffsets || minor - kFirstWithOffsets >= static_cast<int>(sizeof kOrders / sizeof kOrders[0]))
    return false;
  if (memcmp(words, kCookie, sizeof words[0]) != 0 || (version >> 16 & 0xff) != minor || is_free_threaded > 1)
    return false;
  const WordOrder& at = kOrders[minor - kFirstWithOffsets];
  bool is_small = true;
  const auto offset = [&](uint8_t word) {
    is_small = is_small && words[word] < kMostOffset;
    return static_cast<uint16_t>(words[word]);
  };
  *layout = {.thread_top = offset(at.thread_top),
             .frame_previous = offset(at.frame_previous),
             .frame_code = offset(at.frame_code),
             .frame_instruction = offset(at.frame_instruction),
             .frame_bytes = offset(at.frame_bytes),
             .frame_owner = offset(at.frame_owner),
             .object_type = offset(at.object_type),
             .code_file = offset(at.code_file),
             .code_function = offset(at.code_function),
             .code_first_line = offset(at.code_first_line),
             .code_table = offset(at.code_table),
             .code_start = offset(at.code_start),
             .bytes_size = offset(at.bytes_size),
             .bytes_data = offset(at.bytes_data),
             .text_length = offset(at.text_length),
             .text_state = offset(at.text_state),
             .ascii_data = offset(at.ascii_data),
             .wide_data = static_cast<uint16_t>(offset(at.ascii_data) + kWideHeadBytes)};
  if (is_free_threaded != 0) {
    layout->text_kind_shift = 8;  // the field before it takes a whole byte there
    if (at.frame_copy != 0) {
      layout->frame_copy = offset(at.frame_copy);
      layout->code_copies = offset(at.code_copies);
    }
  }
  return is_small && is_sound(*layout);
}

}  // namespace heapprof::agent
