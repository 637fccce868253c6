// agent/python/codes.cc: a hash table with open addressing holds the numbers: a slot goes from free to being written to
// a number, and then never changes. What is known of a number is in a table of its own, in the order of the numbers, so
// that a process touches only as many pages as its code objects need.
#include "agent/python/codes.h"

#include "agent/libc/raw.h"
#include "agent/process/arena.h"
#include "agent/process/own_pages.h"
#include "agent/process/state.h"
#include "shared/python.h"

#include <string.h>

#include <atomic>

namespace heapprof::agent {

namespace {

struct KnownCode {
  uint64_t code_avma;
  CodeIdentity identity;
};

constexpr uint32_t kFree = 0, kWriting = ~uint32_t{0};  // values of a slot; any other is a number
constexpr uint32_t kSlots = wire::kMaxCodes;
constexpr uint32_t kLooks = 64;

struct Codes {
  std::atomic<uint32_t> slots[kSlots];
  std::atomic<uint32_t> count;  // numbers that were claimed, including those without room
  KnownCode known[wire::kMaxCodes];
};
Codes* g_codes = nullptr;

uint64_t load(uint64_t avma) { return *reinterpret_cast<const volatile uint64_t*>(avma); }
uint32_t load_32(uint64_t avma) { return *reinterpret_cast<const volatile uint32_t*>(avma); }

// Loads the last word of data of that length. If the data are shorter than a word, what follows them is in the same
// object.
uint64_t load_end(uint64_t data_avma, uint64_t bytes) { return load(data_avma + (bytes < 8 ? 0 : bytes - 8)); }

// Mixes the function name's hash, which covers all its characters, the file name's hash, which may be missing, and
// words of the file's name and of the table. pre: all but `content` is set.
uint64_t content_of(const PythonLayout& layout, const CodeIdentity& identity) {
  const uint64_t hash_off = layout.text_length + sizeof(uint64_t), table_avma = identity.table_avma + layout.bytes_data;
  uint64_t content = load(identity.function_avma + hash_off) + load(identity.file_avma + hash_off) * 3;
  content += load_end(identity.file_avma + layout.ascii_data, identity.file_bytes) * 0x9E3779B97F4A7C15ull;
  content += load(table_avma) * 0xC2B2AE3D27D4EB4Full;
  content += load(table_avma + identity.table_bytes / 2 / 8 * 8) * 0x165667B19E3779F9ull;
  return content + load_end(table_avma, identity.table_bytes) * 0x27D4EB2F165667C5ull;
}

// Writes characters of 1, 2 or 4 bytes each as UTF-8, as many as there is room for.
uint32_t write_utf8(const unsigned char* from, uint64_t count, uint32_t width, unsigned char* to, uint32_t room) {
  uint32_t written = 0;
  for (uint64_t i = 0; i < count; ++i) {
    uint32_t c = from[i * width];
    if (width >= 2) c |= static_cast<uint32_t>(from[i * width + 1]) << 8;
    if (width == 4) c |= static_cast<uint32_t>(from[i * 4 + 2]) << 16 | static_cast<uint32_t>(from[i * 4 + 3]) << 24;
    if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) c = 0xfffd;  // a name of undecodable bytes has lone surrogates
    const uint32_t bytes = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    if (written + bytes > room) break;
    if (bytes == 1) {
      to[written++] = static_cast<unsigned char>(c);
      continue;
    }
    static constexpr uint32_t kFirst[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (uint32_t left = bytes; left-- != 0;) {
      const uint32_t bits = c >> (6 * left);
      to[written++] = static_cast<unsigned char>(left == bytes - 1 ? kFirst[bytes] | bits : 0x80u | (bits & 0x3f));
    }
  }
  return written;
}

// A Python string.
struct Text {
  uint64_t data_avma = 0;
  uint32_t length = 0;      // characters, as many as can be kept
  uint32_t width = 1;       // bytes of a character
  uint32_t most_bytes = 0;  // of UTF-8
};

// Returns an empty text if there is no valid string.
Text read_text(const PythonLayout& layout, uint64_t text_avma) {
  uint64_t length = 0;
  uint32_t state = 0;
  const auto read = [text_avma](void* to, uint16_t off, size_t bytes) {
    return read_own_memory(to, reinterpret_cast<const void*>(text_avma + off), bytes);
  };
  if (!read(&length, layout.text_length, sizeof length) || !read(&state, layout.text_state, sizeof state)) return {};
  state >>= layout.text_kind_shift;
  const uint32_t width = state & 7;
  const bool is_compact = (state >> 3 & 1) != 0, is_ascii = (state >> 4 & 1) != 0;
  if (!is_compact || (width != 1 && width != 2 && width != 4)) return {};
  if (length > wire::kMostCodeNameBytes) length = wire::kMostCodeNameBytes;
  const uint64_t most_bytes = is_ascii ? length : 4 * length;
  return {text_avma + (is_ascii ? layout.ascii_data : layout.wide_data), static_cast<uint32_t>(length), width,
          static_cast<uint32_t>(most_bytes < wire::kMostCodeNameBytes ? most_bytes : wire::kMostCodeNameBytes)};
}

// Writes at most text.most_bytes, and returns how many. It reads in pieces, as an event may have little stack.
uint32_t write_text(const Text& text, unsigned char* to) {
  constexpr uint32_t kPiece = 64;
  unsigned char characters[4 * kPiece];
  uint32_t written = 0;
  for (uint32_t at = 0; at < text.length; at += kPiece) {
    const uint32_t count = text.length - at < kPiece ? text.length - at : kPiece;
    const auto* const from = reinterpret_cast<const void*>(text.data_avma + uint64_t{at} * text.width);
    if (!read_own_memory(characters, from, uint64_t{count} * text.width)) break;
    written += write_utf8(characters, count, text.width, to + written, text.most_bytes - written);
  }
  return written;
}

// False: no room.
bool tell(const Python& python, const CodeIdentity& identity, uint32_t number) {
  const Text file = read_text(python.layout, identity.file_avma);
  const Text function = read_text(python.layout, identity.function_avma);
  const uint64_t table_bytes = identity.table_bytes <= wire::kMostCodeTableBytes ? identity.table_bytes : 0;
  wire::CodeEntry entry{};
  const uint64_t bytes = (sizeof entry + file.most_bytes + function.most_bytes + table_bytes + 7) & ~uint64_t{7};
  static_assert(sizeof entry + 2 * wire::kMostCodeNameBytes + wire::kMostCodeTableBytes + 8 < wire::kCodeTextBytes);
  const uint64_t offset = g_control->code_bytes.fetch_add(bytes, std::memory_order_relaxed);
  if (offset + bytes > wire::kCodeTextBytes) return false;
  unsigned char* const at = code_texts() + offset;
  unsigned char* to = at + sizeof entry;
  entry.first_line = identity.first_line;
  entry.minor = python.minor;
  to += entry.file_bytes = static_cast<uint16_t>(write_text(file, to));
  to += entry.function_bytes = static_cast<uint16_t>(write_text(function, to));
  const auto* const table = reinterpret_cast<const void*>(identity.table_avma + python.layout.bytes_data);
  if (read_own_memory(to, table, table_bytes)) entry.table_bytes = static_cast<uint32_t>(table_bytes);
  memcpy(at, &entry, sizeof entry);
  __atomic_store_n(code_index() + (number - 1),
                   wire::pack_code_at(static_cast<uint32_t>(offset), static_cast<uint32_t>(bytes)),
                   __ATOMIC_RELEASE);  // (O)
  return true;
}

bool is_equal(const CodeIdentity& a, const CodeIdentity& b) {
  return a.content == b.content && a.table_avma == b.table_avma && a.function_avma == b.function_avma &&
         a.file_avma == b.file_avma && a.first_line == b.first_line;
}

}  // namespace

bool prepare_codes() {
  if (!map_codes()) return false;
  if (g_codes != nullptr) return true;
  g_codes = static_cast<Codes*>(map_private(sizeof(Codes)));
  if (g_codes == nullptr) return false;
  note_own_pages(g_codes, sizeof(Codes));
  return true;
}

void forget_codes() {
  if (g_codes == nullptr) return;
  raw_syscall(SYS_madvise, reinterpret_cast<long>(g_codes), static_cast<long>(sizeof(Codes)), MADV_DONTNEED);
}

bool read_identity(const Python& python, KnownPages* pages, uint64_t code_avma, CodeIdentity* identity) {
  const PythonLayout& layout = python.layout;
  if (code_avma % 8 != 0 || !pages->holds(code_avma, layout.code_table + 8u) ||
      load(code_avma + layout.object_type) != python.code_type)
    return false;
  identity->file_avma = load(code_avma + layout.code_file);
  identity->function_avma = load(code_avma + layout.code_function);
  identity->table_avma = load(code_avma + layout.code_table);
  identity->first_line = load_32(code_avma + layout.code_first_line);
  // content_of reads a text or a table only in the pages of its beginning, middle and end.
  const auto holds = [pages](uint64_t avma, uint16_t length_off, uint16_t data_off, uint64_t* length) {
    constexpr uint64_t kMostLength = 1u << 30;
    if (!pages->holds(avma, length_off + 2 * sizeof(uint64_t))) return false;
    *length = load(avma + length_off);
    if (*length > kMostLength) return false;
    const uint64_t data_avma = avma + data_off;
    return pages->holds(data_avma, 8) && pages->holds(data_avma + *length / 2 / 8 * 8, 8) &&
           pages->holds(data_avma + (*length < 8 ? 0 : *length - 8), 8);
  };
  uint64_t function_bytes = 0;
  if (!holds(identity->file_avma, layout.text_length, layout.ascii_data, &identity->file_bytes) ||
      !holds(identity->function_avma, layout.text_length, layout.ascii_data, &function_bytes) ||
      !holds(identity->table_avma, layout.bytes_size, layout.bytes_data, &identity->table_bytes))
    return false;
  identity->content = content_of(layout, *identity);
  return true;
}

bool is_still(const Python& python, uint64_t code_avma, const CodeIdentity& identity) {
  const PythonLayout& layout = python.layout;
  return load(code_avma + layout.object_type) == python.code_type &&
         load(code_avma + layout.code_file) == identity.file_avma && seems_same_code(layout, code_avma, identity) &&
         load(identity.file_avma + layout.text_length) == identity.file_bytes &&
         load(identity.table_avma + layout.bytes_size) == identity.table_bytes &&
         content_of(layout, identity) == identity.content;
}

uint32_t number_of_code(const Python& python, uint64_t code_avma, const CodeIdentity& identity) {
  uint32_t at = static_cast<uint32_t>(((code_avma ^ identity.content) * 0x9E3779B97F4A7C15ull) >> 40);
  for (uint32_t look = 0; look < kLooks; at += ++look) {
    std::atomic<uint32_t>& slot = g_codes->slots[at % kSlots];
    uint32_t number = slot.load(std::memory_order_acquire);
    if (number == kWriting) continue;
    if (number != kFree) {
      const KnownCode& known = g_codes->known[number - 1];
      if (known.code_avma == code_avma && is_equal(known.identity, identity)) return number;
      continue;
    }
    if (!slot.compare_exchange_strong(number, kWriting, std::memory_order_relaxed)) continue;
    number = g_codes->count.fetch_add(1, std::memory_order_relaxed) + 1;
    if (number > wire::kMaxCodes) break;
    g_codes->known[number - 1] = {code_avma, identity};
    if (!tell(python, identity, number)) break;
    slot.store(number, std::memory_order_release);
    return number;
  }
  g_control->codes_lost.fetch_add(1, std::memory_order_relaxed);
  return 0;
}

}  // namespace heapprof::agent
