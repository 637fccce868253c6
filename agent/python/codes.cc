// agent/python/codes.cc: the table of those that are known is a hash table with open addressing, as that of names is
// (process/names.cc): a slot goes from free to being written to ready, and stays as it is.
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

enum class SlotState : uint32_t { kFree, kWriting, kReady };

struct KnownCode {
  std::atomic<SlotState> state;
  uint64_t code_avma;
  CodeIdentity identity;
};

constexpr uint32_t kLooks = 64;
constexpr uint64_t kKnownBytes = wire::kMaxCodes * sizeof(KnownCode);
constexpr uint32_t kMostEntryBytes =
    sizeof(wire::CodeEntry) + 2 * wire::kMostCodeNameBytes + wire::kMostCodeTableBytes + 16;

KnownCode* g_known = nullptr;

uint64_t load(uint64_t avma) { return *reinterpret_cast<const volatile uint64_t*>(avma); }
uint32_t load_32(uint64_t avma) { return *reinterpret_cast<const volatile uint32_t*>(avma); }

// The last word of so many bytes. What is shorter than a word is in an object that is longer.
uint64_t load_end(uint64_t data_avma, uint64_t bytes) { return load(data_avma + (bytes < 8 ? 0 : bytes - 8)); }

// The function's name has a hash, which is of all its characters; of the file's name, which need not have one, and of
// the table it is as many words. pre: all but `content` is set.
uint64_t content_of(const PythonLayout& layout, const CodeIdentity& identity) {
  const uint64_t hash_off = layout.text_length + sizeof(uint64_t), table_avma = identity.table_avma + layout.bytes_data;
  uint64_t content = load(identity.function_avma + hash_off) + load(identity.file_avma + hash_off) * 3;
  content += load_end(identity.file_avma + layout.ascii_data, identity.file_bytes) * 0x9E3779B97F4A7C15ull;
  content += load(table_avma) * 0xC2B2AE3D27D4EB4Full;
  content += load(table_avma + identity.table_bytes / 2 / 8 * 8) * 0x165667B19E3779F9ull;
  return content + load_end(table_avma, identity.table_bytes) * 0x27D4EB2F165667C5ull;
}

// UTF-8 of characters of 1, 2 or 4 bytes each, as many as there is room for.
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

// Writes a string of Python's. Returns its bytes; what is none has none.
uint32_t write_text(const PythonLayout& layout, uint64_t text_avma, unsigned char* to) {
  unsigned char head[64];
  if (layout.ascii_data > sizeof head ||
      !read_own_memory(head, reinterpret_cast<const void*>(text_avma), layout.ascii_data))
    return 0;
  uint64_t length = 0;
  uint32_t state = 0;
  memcpy(&length, head + layout.text_length, sizeof length);
  memcpy(&state, head + layout.text_state, sizeof state);
  state >>= layout.text_kind_shift;
  const uint32_t width = state & 7;
  const bool is_compact = (state >> 3 & 1) != 0, is_ascii = (state >> 4 & 1) != 0;
  if (!is_compact || (width != 1 && width != 2 && width != 4)) return 0;
  unsigned char characters[4 * wire::kMostCodeNameBytes];
  if (length > wire::kMostCodeNameBytes) length = wire::kMostCodeNameBytes;
  const uint64_t data = text_avma + (is_ascii ? layout.ascii_data : layout.wide_data);
  if (!read_own_memory(characters, reinterpret_cast<const void*>(data), length * width)) return 0;
  return write_utf8(characters, length, width, to, wire::kMostCodeNameBytes);
}

uint32_t write_table(const PythonLayout& layout, uint64_t table_avma, unsigned char* to) {
  uint64_t length = 0;
  if (!read_own_memory(&length, reinterpret_cast<const void*>(table_avma + layout.bytes_size), sizeof length)) return 0;
  if (length > wire::kMostCodeTableBytes) return 0;  // its lines are the function's first
  const auto* from = reinterpret_cast<const void*>(table_avma + layout.bytes_data);
  return read_own_memory(to, from, length) ? static_cast<uint32_t>(length) : 0;
}

// How many bytes a text has that was written anywhere: the room of an entry is claimed before it is written.
uint64_t most_bytes(const PythonLayout& layout, uint64_t table_avma) {
  uint64_t length = 0;
  if (!read_own_memory(&length, reinterpret_cast<const void*>(table_avma + layout.bytes_size), sizeof length))
    length = 0;
  if (length > wire::kMostCodeTableBytes) length = 0;
  return length;
}

// False: there is no room for it.
bool tell(const Python& python, const KnownCode& known, uint32_t number) {
  unsigned char names[2 * wire::kMostCodeNameBytes];
  wire::CodeEntry entry{};
  entry.first_line = known.identity.first_line;
  entry.minor = python.minor;
  entry.file_bytes = static_cast<uint16_t>(write_text(python.layout, known.identity.file_avma, names));
  entry.function_bytes =
      static_cast<uint16_t>(write_text(python.layout, known.identity.function_avma, names + entry.file_bytes));
  const uint64_t table_bytes = most_bytes(python.layout, known.identity.table_avma);
  const uint64_t names_bytes = uint64_t{entry.file_bytes} + entry.function_bytes;
  const uint64_t bytes = (sizeof entry + names_bytes + table_bytes + 7) & ~uint64_t{7};
  static_assert(kMostEntryBytes < wire::kCodeTextBytes);
  const uint64_t offset = g_control->code_bytes.fetch_add(bytes, std::memory_order_relaxed);
  if (offset + bytes > wire::kCodeTextBytes) return false;
  unsigned char* const at = code_texts() + offset;
  entry.table_bytes = write_table(python.layout, known.identity.table_avma, at + sizeof entry + names_bytes);
  if (entry.table_bytes > table_bytes) entry.table_bytes = 0;
  memcpy(at + sizeof entry, names, names_bytes);
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
  if (g_known != nullptr) return true;
  g_known = static_cast<KnownCode*>(map_private(kKnownBytes));
  if (g_known == nullptr) return false;
  note_own_pages(g_known, kKnownBytes);
  return true;
}

void forget_codes() {
  if (g_known == nullptr) return;
  raw_syscall(SYS_madvise, reinterpret_cast<long>(g_known), static_cast<long>(kKnownBytes), MADV_DONTNEED);
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
  // What is read of a text or a table lies in the pages of its beginning, its middle and its end.
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

uint32_t number_of_code(const Python& python, uint64_t code_avma, const CodeIdentity& identity) {
  uint32_t slot = static_cast<uint32_t>(((code_avma ^ identity.content) * 0x9E3779B97F4A7C15ull) >> 40);
  for (uint32_t look = 0; look < kLooks; slot += ++look) {
    KnownCode& known = g_known[slot % wire::kMaxCodes];
    const uint32_t number = slot % wire::kMaxCodes + 1;
    SlotState state = known.state.load(std::memory_order_acquire);
    if (state == SlotState::kReady && known.code_avma == code_avma && is_equal(known.identity, identity)) return number;
    if (state != SlotState::kFree) continue;
    if (!known.state.compare_exchange_strong(state, SlotState::kWriting, std::memory_order_acquire)) continue;
    known.code_avma = code_avma;
    known.identity = identity;
    if (!tell(python, known, number)) break;
    known.state.store(SlotState::kReady, std::memory_order_release);
    return number;
  }
  g_control->codes_lost.fetch_add(1, std::memory_order_relaxed);
  return 0;
}

}  // namespace heapprof::agent
