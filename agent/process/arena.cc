// agent/process/arena.cc: maps the arena piece by piece, without keeping its descriptor.
//
// The program does not know of a descriptor of the agent: closefrom() would close it, dup2() would reuse it, and it
// would count towards RLIMIT_NOFILE. But a shared mapping can be duplicated without a descriptor: mremap(page, 0, size,
// MREMAP_MAYMOVE) maps the same file from that page on, and further than the old mapping went. So each ring is mapped
// together with the page before it, which belongs to the previous ring.
#include "agent/process/arena.h"

#include "agent/libc/raw.h"
#include "agent/libc/valgrind.h"
#include "agent/process/own_pages.h"

#include <string.h>

namespace heapprof::agent {

wire::Control* g_control = nullptr;
alignas(wire::kPageBytes) constinit wire::SamplingPage g_sampling{};  // hooks are called before constructors run

namespace {

struct Mapping {
  unsigned char* base;  // the arena's first part: control page … first ring
  unsigned char* rings[wire::kMaxRings];
  // the page before code objects, which is needed to map them; nullptr: they cannot be mapped
  unsigned char* before_codes;
  unsigned char* codes;  // nullptr: not mapped yet
  bool is_whole;         // all of these lie in one mapping, of which only a part is accessible
};
Mapping g_mapping;
unsigned char* g_released = nullptr;  // the first part of an arena that was released, until another arena is mapped

const wire::InnerPlan* g_inner_plan = nullptr;

constexpr uint64_t kFirstPartBytes = wire::ring_data_off(1);
// Valgrind cannot duplicate shared pages, which is how the rest is mapped later. So, in Valgrind, all of it is mapped
// at the start, which costs address space. It is made accessible later, because Memcheck reads at the end whatever is
// accessible.
uint64_t mapped_bytes() { return is_in_valgrind() ? wire::kArenaBytes : kFirstPartBytes; }
constexpr uint64_t kBeforeCodesOff = wire::kCodesOff - wire::kPageBytes;

// The pages are shared, so that they do not count towards RLIMIT_DATA. Nothing reads what is written there. pre: that
// of note_own_pages()
void map_over(void* address, uint64_t size_bytes) {
  raw_syscall(SYS_mmap, reinterpret_cast<long>(address), static_cast<long>(size_bytes), PROT_READ | PROT_WRITE,
              MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
  note_own_pages(address, size_bytes);
}

// For an arena that is mapped as a whole. nullptr: the kernel refuses.
unsigned char* make_accessible(uint64_t offset, uint64_t size_bytes) {
  unsigned char* const start = g_mapping.base + offset;
  const long changed =
      raw_syscall(SYS_mprotect, reinterpret_cast<long>(start), static_cast<long>(size_bytes), PROT_READ | PROT_WRITE);
  return is_error(changed) ? nullptr : start;
}

bool map_sampling(int fd) {
  const long mapped =
      raw_syscall(SYS_mmap, reinterpret_cast<long>(&g_sampling), sizeof g_sampling, PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_FIXED | MAP_NORESERVE, fd, wire::kSamplingOff);
  if (is_error(mapped)) return false;
  leave_out_of_cores(&g_sampling, sizeof g_sampling);
  return true;
}

}  // namespace

bool has_room_for_arena(int fd) {
  const auto size_bytes = static_cast<long>(mapped_bytes());
  const long mapped = raw_syscall(SYS_mmap, 0, size_bytes, PROT_NONE, MAP_SHARED | MAP_NORESERVE, fd, 0);
  if (is_error(mapped)) return false;
  raw_syscall(SYS_munmap, mapped, size_bytes);
  return true;
}

// Maps the arena at the address of the previous one, if there was one: a thread may still hold an address there, and
// increment a counter.
bool map_arena(int fd) {
  if (!map_sampling(fd)) return false;
  const uint64_t size_bytes = mapped_bytes();
  const bool is_whole = size_bytes != kFirstPartBytes;
  const long mapped = raw_syscall(SYS_mmap, reinterpret_cast<long>(g_released), static_cast<long>(size_bytes),
                                  is_whole ? PROT_NONE : PROT_READ | PROT_WRITE,
                                  MAP_SHARED | MAP_NORESERVE | (g_released == nullptr ? 0 : MAP_FIXED), fd, 0);
  if (is_error(mapped)) {
    map_over(&g_sampling, sizeof g_sampling);
    return false;
  }
  void* const base = reinterpret_cast<void*>(mapped);
  leave_out_of_cores(base, size_bytes);  // as are the rings and codes that are duplicated from it
  g_mapping.base = static_cast<unsigned char*>(base);
  g_mapping.rings[0] = g_mapping.base + wire::ring_data_off(0);
  g_mapping.is_whole = is_whole;
  if (is_whole) make_accessible(0, kFirstPartBytes);
  g_control = static_cast<wire::Control*>(base);
  const long page = g_mapping.is_whole ? -ENOMEM
                                       : raw_syscall(SYS_mmap, 0, wire::kPageBytes, PROT_READ | PROT_WRITE,
                                                     MAP_SHARED | MAP_NORESERVE, fd, kBeforeCodesOff);
  if (g_control->inner_plan_bytes != 0 && g_inner_plan == nullptr) {
    const long plan = raw_syscall(SYS_mmap, 0, g_control->inner_plan_bytes, PROT_READ, MAP_PRIVATE | MAP_NORESERVE, fd,
                                  wire::kInnerPlanOff);
    if (!is_error(plan)) {
      g_inner_plan = reinterpret_cast<const wire::InnerPlan*>(plan);
      leave_out_of_cores(reinterpret_cast<void*>(plan), g_control->inner_plan_bytes);
    }
  }
  g_mapping.before_codes = is_error(page) ? nullptr : reinterpret_cast<unsigned char*>(page);
  if (g_mapping.before_codes != nullptr) leave_out_of_cores(g_mapping.before_codes, wire::kPageBytes);
  g_released = nullptr;
  return true;
}

void forget_arena() {
  const uint32_t others = g_mapping.is_whole ? 0 : wire::kMaxRings;
  for (uint32_t ring = 1; ring < others && g_mapping.rings[ring] != nullptr; ++ring) {
    map_over(g_mapping.rings[ring] - wire::kPageBytes, wire::kPageBytes + wire::ring_bytes(ring));
  }
  if (g_mapping.base != nullptr) map_over(&g_sampling, sizeof g_sampling);
  if (g_mapping.base != nullptr) map_over(g_mapping.base, mapped_bytes());
  if (g_mapping.before_codes != nullptr) map_over(g_mapping.before_codes, wire::kPageBytes);
  if (g_mapping.codes != nullptr && !g_mapping.is_whole)
    map_over(g_mapping.codes - wire::kPageBytes, wire::kPageBytes + wire::kCodesBytes);
  g_mapping.before_codes = g_mapping.codes = nullptr;
  memset(g_mapping.rings, 0, sizeof g_mapping.rings);
}

void release_arena() {
  const auto give_back = [](unsigned char* address, uint64_t size_bytes) {
    if (address != nullptr) raw_syscall(SYS_munmap, reinterpret_cast<long>(address), static_cast<long>(size_bytes));
  };
  const Mapping before = g_mapping;
  forget_arena();  // a reader of the control page finds zeros there until the next arena
  g_released = before.base;
  if (before.is_whole) return;
  for (uint32_t ring = 1; ring < wire::kMaxRings && before.rings[ring] != nullptr; ++ring)
    give_back(before.rings[ring] - wire::kPageBytes, wire::kPageBytes + wire::ring_bytes(ring));
  give_back(before.before_codes, wire::kPageBytes);
  if (before.codes != nullptr) give_back(before.codes - wire::kPageBytes, wire::kPageBytes + wire::kCodesBytes);
}

const wire::InnerPlan* inner_plan() { return g_inner_plan; }

const char* question_text(uint32_t question) {
  return reinterpret_cast<const char*>(g_mapping.base + wire::kTextsOff + question * wire::kTextBytes);
}

wire::Name* names() { return reinterpret_cast<wire::Name*>(g_mapping.base + wire::kNamesOff); }
wire::KernelName* kernel_names() { return reinterpret_cast<wire::KernelName*>(g_mapping.base + wire::kKernelsOff); }

wire::RingHeader* ring_header(uint32_t ring) {
  return reinterpret_cast<wire::RingHeader*>(g_mapping.base + wire::kRingHeadersOff) + ring;
}

unsigned char* map_ring(uint32_t ring) {
  unsigned char*& data = g_mapping.rings[ring];
  if (data != nullptr) return data;
  if (g_mapping.is_whole) return data = make_accessible(wire::ring_data_off(ring), wire::ring_bytes(ring));
  unsigned char* last_page = g_mapping.rings[ring - 1] + wire::ring_bytes(ring - 1) - wire::kPageBytes;
  const long mapped = raw_syscall(SYS_mremap, reinterpret_cast<long>(last_page), 0,
                                  static_cast<long>(wire::kPageBytes + wire::ring_bytes(ring)), MREMAP_MAYMOVE);
  if (is_error(mapped)) return nullptr;
  data = reinterpret_cast<unsigned char*>(mapped) + wire::kPageBytes;
  return data;
}

bool map_codes() {
  if (g_mapping.codes != nullptr) return true;
  if (g_mapping.is_whole) g_mapping.codes = make_accessible(wire::kCodesOff, wire::kCodesBytes);
  if (g_mapping.before_codes == nullptr) return g_mapping.codes != nullptr;
  const long mapped = raw_syscall(SYS_mremap, reinterpret_cast<long>(g_mapping.before_codes), 0,
                                  static_cast<long>(wire::kPageBytes + wire::kCodesBytes), MREMAP_MAYMOVE);
  if (is_error(mapped)) return false;
  g_mapping.codes = reinterpret_cast<unsigned char*>(mapped) + wire::kPageBytes;
  return true;
}

uint64_t* code_index() { return reinterpret_cast<uint64_t*>(g_mapping.codes); }
unsigned char* code_texts() { return g_mapping.codes + wire::kMaxCodes * sizeof(uint64_t); }

bool announce_module(wire::ModuleEntry entry, const char* path, const uint8_t* build_id, uint32_t build_id_bytes) {
  const uint64_t path_bytes = strnlen(path, 4095);
  if (build_id_bytes > 64) build_id_bytes = 64;
  const uint64_t entry_bytes = (sizeof entry + path_bytes + build_id_bytes + 7) & ~uint64_t{7};
  const uint32_t written = g_control->module_bytes.load(std::memory_order_relaxed);
  const uint32_t unread = written - g_control->modules_read.load(std::memory_order_acquire);  // (G)
  const uint64_t to_end = wire::kModuleTableBytes - written % wire::kModuleTableBytes;
  const uint64_t skipped_bytes = entry_bytes > to_end ? to_end : 0;
  if (unread + skipped_bytes + entry_bytes > wire::kModuleTableBytes) {
    g_control->modules_lost.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  unsigned char* const table = g_mapping.base + wire::kModuleTableOff;
  if (skipped_bytes != 0) memset(table + written % wire::kModuleTableBytes, 0, sizeof entry.entry_bytes);
  const uint32_t start = written + static_cast<uint32_t>(skipped_bytes);
  entry.entry_bytes = static_cast<uint32_t>(entry_bytes);
  entry.path_bytes = static_cast<uint16_t>(path_bytes);
  entry.build_id_bytes = static_cast<uint16_t>(build_id_bytes);
  unsigned char* at = table + start % wire::kModuleTableBytes;
  memcpy(at, &entry, sizeof entry);
  memcpy(at + sizeof entry, path, path_bytes);
  memcpy(at + sizeof entry + path_bytes, build_id, build_id_bytes);
  g_control->module_bytes.store(start + static_cast<uint32_t>(entry_bytes), std::memory_order_release);  // (D)
  return true;
}

wire::Note* add_note(wire::NoteKind kind, uint32_t reason, const char* text, bool is_own) {
  if (g_control == nullptr) return nullptr;
  wire::Note* notes = reinterpret_cast<wire::Note*>(g_mapping.base + wire::kNotesOff);
  size_t text_bytes = strlen(text);
  if (text_bytes > sizeof notes->text) {
    text += text_bytes - sizeof notes->text;
    text_bytes = sizeof notes->text;
  }
  const uint32_t claimed = g_control->notes_claimed.load(std::memory_order_relaxed);
  wire::Note* note = nullptr;
  for (uint32_t i = 0; note == nullptr && i < claimed && i < wire::kMaxNotes; ++i) {
    if (notes[i].ready.load(std::memory_order_acquire) == 0) continue;  // pairs with (F)
    if (notes[i].kind != kind || notes[i].reason != reason || notes[i].text_bytes != text_bytes) continue;
    if (memcmp(notes[i].text, text, text_bytes) == 0) note = &notes[i];
  }
  if (note == nullptr) {
    const uint32_t index = g_control->notes_claimed.fetch_add(1, std::memory_order_relaxed);
    if (index >= wire::kMaxNotes) return nullptr;
    note = &notes[index];
    note->kind = kind;
    note->reason = reason;
    note->text_bytes = static_cast<uint32_t>(text_bytes);
    memcpy(note->text, text, text_bytes);
    note->ready.store(1, std::memory_order_release);  // (F)
  }
  note->count.fetch_add(1, std::memory_order_relaxed);
  if (is_own) note->own.fetch_add(1, std::memory_order_relaxed);
  return note;
}

void withdraw_note(wire::Note* note, bool is_own) {
  if (note == nullptr) return;
  note->count.fetch_sub(1, std::memory_order_relaxed);
  if (is_own) note->own.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace heapprof::agent
