// agent/unwind/eh_frame.cc: a binary search in the linker's table, or a scan if there is no table.
//
// Linkers write .eh_frame_hdr: a version, three encodings, the address of .eh_frame, and a table of (function, FDE)
// pairs sorted by address. GNU ld, gold, lld and mold always write the pairs as 32-bit offsets from the header. Other
// forms are legal; if the header has one, .eh_frame is scanned.
#include "agent/unwind/eh_frame.h"

#include "agent/unwind/byte_reader.h"

namespace heapprof::agent {

namespace {

struct TableEntry {
  int32_t function_off;  // from the header
  int32_t description_off;
};
static_assert(sizeof(TableEntry) == 8);

constexpr uint32_t kMaxAugmentationLetters = 16;  // "zPLRSB" and letters that may come later
constexpr uint8_t kSortedTableEncoding = kPointerRelativeToData | kPointerSdata4;

const uint8_t* as_pointer(uint64_t avma) { return reinterpret_cast<const uint8_t*>(avma); }

bool is_in_table(const ModuleInfo& module, uint64_t avma) {
  return avma >= module.table_start_avma && avma < module.table_end_avma;
}

// cie_avma: the address of the CIE's length field. *has_data becomes true if its FDEs have augmentation data.
bool parse_common(const ModuleInfo& module, uint64_t cie_avma, FrameDescription* description, bool* has_data) {
  if (!is_in_table(module, cie_avma)) return false;
  ByteReader outer(as_pointer(cie_avma), as_pointer(module.table_end_avma));
  const uint32_t length_bytes = outer.read<uint32_t>();
  if (length_bytes > outer.left_bytes()) return false;
  ByteReader reader(outer.at(), outer.at() + length_bytes);
  description->initial_program_end = outer.at() + length_bytes;
  if (reader.read<uint32_t>() != 0) return false;  // an FDE, not a CIE
  const uint8_t version = reader.read<uint8_t>();
  if (version != 1 && version != 3 && version != 4) return false;
  const char* augmentation = reinterpret_cast<const char*>(reader.at());
  for (uint32_t letters = 0; reader.read<uint8_t>() != 0; ++letters) {
    // the limit matters because a scan reads the string again for each function
    if (letters == kMaxAugmentationLetters) return false;
  }
  if (reader.has_failed()) return false;
  if (version == 4) {
    if (reader.read<uint8_t>() != sizeof(void*)) return false;  // address size
    if (reader.read<uint8_t>() != 0) return false;              // segment selector size
  }
  description->code_alignment = reader.read_uleb128();
  description->data_alignment = reader.read_sleb128();
  description->return_register = version == 1 ? reader.read<uint8_t>() : static_cast<uint32_t>(reader.read_uleb128());
  description->pointer_encoding = kPointerAbsolute;
  description->is_signal_frame = false;
  *has_data = *augmentation == 'z';
  if (*augmentation == 0) {
    description->initial_program = reader.at();
    return !reader.has_failed();
  }
  if (!*has_data) return false;  // without the length of the data, the program after it cannot be found
  const uint64_t data_bytes = reader.read_uleb128();
  if (data_bytes > reader.left_bytes()) return false;
  description->initial_program = reader.at() + data_bytes;
  for (const char* letter = augmentation + 1; *letter != 0; ++letter) {
    switch (*letter) {
      case 'R': description->pointer_encoding = reader.read<uint8_t>(); break;
      case 'P': reader.skip_pointer(reader.read<uint8_t>()); break;
      case 'L': reader.read<uint8_t>(); break;
      case 'S': description->is_signal_frame = true; break;
      default: return !reader.has_failed();  // an unknown letter ends parsing; the length skips the rest
    }
  }
  return !reader.has_failed();
}

}  // namespace

bool read_description(const ModuleInfo& module, uint64_t fde_avma, FrameDescription* description) {
  if (!is_in_table(module, fde_avma)) return false;
  ByteReader outer(as_pointer(fde_avma), as_pointer(module.table_end_avma));
  const uint32_t length_bytes = outer.read<uint32_t>();
  if (length_bytes == 0 || length_bytes > outer.left_bytes()) return false;
  const uint64_t id_avma = reinterpret_cast<uint64_t>(outer.at());
  ByteReader reader(outer.at(), outer.at() + length_bytes);
  const uint32_t cie_distance_bytes = reader.read<uint32_t>();
  if (cie_distance_bytes == 0) return false;  // a CIE
  bool has_data = false;
  if (!parse_common(module, id_avma - cie_distance_bytes, description, &has_data)) return false;
  description->start_avma = reader.read_pointer(description->pointer_encoding, 0);
  const uint64_t range_bytes = reader.read_pointer(description->pointer_encoding & kPointerFormatMask, 0);
  description->end_avma = description->start_avma + range_bytes;
  if (reader.has_failed()) return false;
  if (has_data) reader.skip(reader.read_uleb128());
  description->program = reader.at();
  description->program_end = as_pointer(id_avma) + length_bytes;
  description->readable_end = as_pointer(module.table_end_avma);
  return !reader.has_failed();
}

namespace {

// Returns false unless the FDE describes pc_avma.
bool parse_description(const ModuleInfo& module, uint64_t fde_avma, uint64_t pc_avma, FrameDescription* description) {
  return read_description(module, fde_avma, description) &&
         pc_avma - description->start_avma < description->end_avma - description->start_avma;
}

bool scan(const ModuleInfo& module, uint64_t frames_avma, uint64_t pc_avma, FrameDescription* description) {
  if (!is_in_table(module, frames_avma)) return false;
  uint64_t at_avma = frames_avma;
  while (at_avma - frames_avma < kMaxScanBytes) {
    ByteReader reader(as_pointer(at_avma), as_pointer(module.table_end_avma));
    const uint32_t length_bytes = reader.read<uint32_t>();
    if (length_bytes == 0 || length_bytes > reader.left_bytes()) return false;
    if (parse_description(module, at_avma, pc_avma, description)) return true;
    at_avma += sizeof length_bytes + length_bytes;
  }
  return false;
}

}  // namespace

bool find_description(const ModuleInfo& module, uint64_t pc_avma, FrameDescription* description) {
  const uint64_t header_avma = reinterpret_cast<uint64_t>(module.eh_frame_hdr);
  if (module.eh_frame_hdr == nullptr || !is_in_table(module, header_avma)) return false;
  ByteReader reader(module.eh_frame_hdr, as_pointer(module.table_end_avma));
  if (reader.read<uint8_t>() != 1) return false;  // version
  const uint8_t frames_encoding = reader.read<uint8_t>();
  const uint8_t count_encoding = reader.read<uint8_t>();
  const uint8_t table_encoding = reader.read<uint8_t>();
  const uint64_t frames_avma = reader.read_pointer(frames_encoding, header_avma);
  const uint64_t count = reader.read_pointer(count_encoding, header_avma);
  if (reader.has_failed()) return false;
  const bool is_sorted = count_encoding != kPointerOmitted && table_encoding == kSortedTableEncoding && count != 0;
  if (!is_sorted) return frames_avma != 0 && scan(module, frames_avma, pc_avma, description);
  if (count > reader.left_bytes() / sizeof(TableEntry)) return false;
  const auto entry_at = [table = reader.at()](uint64_t index) {
    TableEntry entry;
    memcpy(&entry, table + index * sizeof entry, sizeof entry);
    return entry;
  };
  const int64_t wanted_off = static_cast<int64_t>(pc_avma - header_avma);
  uint64_t low = 0;
  uint64_t high = count;
  while (high - low > 1) {  // the last entry at or before pc_avma is in [low, high)
    const uint64_t middle = low + (high - low) / 2;
    if (entry_at(middle).function_off <= wanted_off) {
      low = middle;
    } else {
      high = middle;
    }
  }
  const uint64_t fde_avma = header_avma + static_cast<uint64_t>(int64_t{entry_at(low).description_off});
  return parse_description(module, fde_avma, pc_avma, description);
}

}  // namespace heapprof::agent
