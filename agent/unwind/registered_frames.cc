// agent/unwind/registered_frames.cc: rows of all sections in one array, in the order of registration, and a list of
// ranges that point into it.
//
// Why rules and not tables: a program may free a table, and the code, without deregistering them. A stale rule misleads
// a walk, as a stale table misleads libgcc; but it never causes a read of unmapped memory (unit/agent_unwind).
//
// Readers take no lock. The count publishes a section after all of it is written. A sequence number tells readers that
// sections are being removed, as in process/modules.cc. If a writer finds the lock taken for long, it gives up, and
// everything known about registered code is dropped: in a forked child, the thread that holds the lock may exist only
// in the parent.
#include "agent/unwind/registered_frames.h"

#include "agent/libc/raw.h"
#include "agent/process/modules.h"
#include "agent/process/own_memory.h"
#include "agent/process/state.h"
#include "agent/unwind/byte_reader.h"
#include "agent/unwind/eh_frame.h"
#include "agent/unwind/unwind.h"

#include <string.h>

#include <atomic>

namespace heapprof::agent {

namespace {

constexpr uint32_t kMostSections = 1024;
constexpr uint32_t kMostRows = 1u << 17;
constexpr uint32_t kMostRowsOfFunction = 256;
constexpr uint64_t kMostSectionBytes = 256u << 10;
constexpr uint64_t kLargestFunction = 1u << 30;  // bytes
constexpr uint32_t kMostRounds = 200;

constexpr auto kRelaxed = std::memory_order_relaxed;

struct Row {
  std::atomic<uint64_t> start_avma;
  std::atomic<uint64_t> rule;  // a StepRule's bytes
};

// A run of functions of one registered section, in ascending order.
struct Section {
  // the section's address, inverted, so that a search of memory for pointers does not find it
  std::atomic<uint64_t> key;
  std::atomic<uint64_t> start_avma;
  std::atomic<uint64_t> end_avma;  // equal to the start: the section was removed
  std::atomic<uint32_t> first;
  std::atomic<uint32_t> count;
};

struct Tables {
  Section sections[kMostSections];
  Row rows[kMostRows];
  CfiWorkspace workspace;
  uint8_t copy[kMostSectionBytes];
};

std::atomic<Tables*> g_tables;
std::atomic<uint32_t> g_sections;
std::atomic<uint32_t> g_change;  // odd while sections are being removed
std::atomic<uint32_t> g_is_writing;
std::atomic<bool> g_is_off;
uint32_t g_rows;  // number of rows in use

Tables* map_tables() {
  Tables* tables = g_tables.load(kRelaxed);
  if (tables != nullptr) return tables;
  tables = static_cast<Tables*>(map_private(sizeof(Tables)));
  if (tables == nullptr) return nullptr;
  g_tables.store(tables, std::memory_order_release);
  return tables;
}

bool lock_tables() {
  for (uint32_t round = 0; g_is_writing.exchange(1, std::memory_order_acquire) != 0; ++round) {
    if (round == kMostRounds) return false;
    let_others_run(round);
  }
  return true;
}

// Drops all rules of registered code, and uses none from now on.
void give_up() {
  if (!g_is_off.exchange(true, kRelaxed)) end_known_code(kEverything);
}

// Runs f(tables) while no other thread writes. pre: this thread may make system calls.
template <typename F>
void with_tables(F&& f) {
  if (g_is_off.load(kRelaxed)) return;
  const SignalsBlocked blocked;
  if (!lock_tables()) return give_up();
  if (Tables* const tables = map_tables()) f(tables);
  g_is_writing.store(0, std::memory_order_release);
}

void begin_change() {
  g_change.store(g_change.load(kRelaxed) + 1, kRelaxed);
  std::atomic_thread_fence(std::memory_order_release);  // the odd number is seen before any change
}
void end_change() { g_change.store(g_change.load(kRelaxed) + 1, std::memory_order_release); }

// Removes those of the first `count` sections for which is_meant(section) holds.
template <typename F>
void end_sections(Tables* tables, uint32_t count, F&& is_meant) {
  for (uint32_t i = 0; i < count; ++i) {
    Section& section = tables->sections[i];
    const Ending range{section.start_avma.load(kRelaxed), section.end_avma.load(kRelaxed)};
    if (range.start_avma == range.end_avma || !is_meant(section)) continue;
    begin_change();
    section.end_avma.store(range.start_avma, kRelaxed);
    end_change();
    end_known_code(range);
  }
}

// Frees the entries of the last sections, and their rows, if these sections were removed.
void drop_last(Tables* tables) {
  uint32_t count = g_sections.load(kRelaxed);
  begin_change();
  while (count != 0) {
    const Section& last = tables->sections[count - 1];
    if (last.start_avma.load(kRelaxed) != last.end_avma.load(kRelaxed)) break;
    g_rows = last.first.load(kRelaxed);
    --count;
  }
  g_sections.store(count, kRelaxed);
  end_change();
}

// Collects the rows of one section.
class Builder {
 public:
  Builder(Tables* tables, uint64_t key_avma) : tables_(tables), key_avma_(key_avma) {}

  void add(const FrameDescription& function) {
    if (function.start_avma < end_avma_ || first_ == g_rows) publish();
    if (first_ == g_rows) start_avma_ = end_avma_ = function.start_avma;
    uint64_t at_avma = function.start_avma;
    for (uint32_t rows = 0; rows < kMostRowsOfFunction; ++rows) {
      if (!run_cfi_program(function, at_avma, &tables_->workspace)) break;
      StepRule rule = reduce_row(function, tables_->workspace.row);
      if (rule.kind == RuleKind::kSpecial) rule = kUndescribed;
      if (!push(at_avma, rule)) return;
      const uint64_t next_avma = tables_->workspace.row_end_avma;
      if (next_avma <= at_avma || next_avma >= function.end_avma) break;
      at_avma = next_avma;
    }
    push(function.end_avma, kUndescribed);
    end_avma_ = function.end_avma;
  }

  void publish() {
    const uint32_t count = g_sections.load(kRelaxed);
    const bool has_room = count < kMostSections;
    if (end_avma_ > start_avma_ && has_room) {
      end_sections(tables_, count, [this](const Section& other) {
        return other.key.load(kRelaxed) != ~key_avma_ && other.start_avma.load(kRelaxed) < end_avma_ &&
               start_avma_ < other.end_avma.load(kRelaxed);
      });
      Section& section = tables_->sections[count];
      section.key.store(~key_avma_, kRelaxed);
      section.start_avma.store(start_avma_, kRelaxed);
      section.end_avma.store(end_avma_, kRelaxed);
      section.first.store(first_, kRelaxed);
      section.count.store(g_rows - first_, kRelaxed);
      g_sections.store(count + 1, std::memory_order_release);  // pairs with find_registered_rule's load
    }
    if (!has_room) g_rows = first_;
    first_ = g_rows;
    start_avma_ = end_avma_ = 0;
  }

 private:
  static constexpr StepRule kUndescribed{0, 0, RuleKind::kNoUnwindInfo, false};

  bool push(uint64_t start_avma, const StepRule& rule) {
    if (g_rows == kMostRows) return false;
    uint64_t bytes = 0;
    memcpy(&bytes, &rule, sizeof bytes);
    tables_->rows[g_rows].start_avma.store(start_avma, kRelaxed);
    tables_->rows[g_rows].rule.store(bytes, kRelaxed);
    ++g_rows;
    return true;
  }

  Tables* tables_;
  uint64_t key_avma_;
  uint64_t start_avma_ = 0;
  uint64_t end_avma_ = 0;
  uint32_t first_ = g_rows;
};

void end_section(Tables* tables, uint64_t section_avma) {
  end_sections(tables, g_sections.load(kRelaxed),
               [section_avma](const Section& known) { return known.key.load(kRelaxed) == ~section_avma; });
  drop_last(tables);
}

void read_section(Tables* tables, uint64_t section_avma) {
  end_section(tables, section_avma);  // the section that was there before
  const size_t bytes = read_own_part(tables->copy, reinterpret_cast<const void*>(section_avma), kMostSectionBytes);
  const uint64_t copy_avma = reinterpret_cast<uint64_t>(tables->copy);
  const uint64_t moved_bytes = section_avma - copy_avma;  // self-relative pointers are off by this
  ModuleInfo table{};
  table.table_start_avma = copy_avma;
  table.table_end_avma = copy_avma + bytes;
  Builder builder(tables, section_avma);
  for (uint64_t at_avma = copy_avma;;) {
    ByteReader reader(reinterpret_cast<const uint8_t*>(at_avma),
                      reinterpret_cast<const uint8_t*>(table.table_end_avma));
    const uint32_t length_bytes = reader.read<uint32_t>();
    if (length_bytes == 0 || length_bytes > reader.left_bytes()) break;
    FrameDescription function;
    if (read_description(table, at_avma, &function)) {
      const uint64_t range_bytes = function.end_avma - function.start_avma;
      if ((function.pointer_encoding & kPointerBaseMask) == kPointerRelativeToItself)
        function.start_avma += moved_bytes;
      function.end_avma = function.start_avma + range_bytes;
      const bool is_sound = range_bytes != 0 && range_bytes <= kLargestFunction && function.start_avma != 0 &&
                            function.end_avma > function.start_avma;
      if (is_sound) builder.add(function);
    }
    at_avma += sizeof length_bytes + length_bytes;
  }
  builder.publish();
}

}  // namespace

void note_registered_frames(const void* section) {
  if (section == nullptr || is_filtered()) return;
  with_tables([section](Tables* tables) { read_section(tables, reinterpret_cast<uint64_t>(section)); });
  note_loading();  // code that was undescribed a moment ago may be described now
}

void note_deregistered_frames(const void* section) {
  if (g_tables.load(kRelaxed) == nullptr) return;
  if (is_filtered()) return give_up();  // the thread may not block its signals, so it cannot take the lock
  with_tables([section](Tables* tables) { end_section(tables, reinterpret_cast<uint64_t>(section)); });
}

bool find_registered_rule(uint64_t row_avma, StepRule* rule) {
  const uint32_t change = g_change.load(std::memory_order_acquire);
  const Tables* const tables = g_tables.load(std::memory_order_acquire);
  if (tables == nullptr || g_is_off.load(kRelaxed)) return false;
  // The section that was registered last takes precedence, because new code may have replaced other code.
  for (uint32_t i = g_sections.load(std::memory_order_acquire); i-- > 0;) {
    const Section& section = tables->sections[i];
    const uint64_t start_avma = section.start_avma.load(kRelaxed);
    if (row_avma - start_avma >= section.end_avma.load(kRelaxed) - start_avma) continue;
    uint32_t low = section.first.load(kRelaxed);
    uint32_t high = low + section.count.load(kRelaxed);
    if (high > kMostRows || low >= high) return false;  // the section is being changed
    while (high - low > 1) {  // the last row that begins at or before row_avma is in [low, high)
      const uint32_t middle = low + (high - low) / 2;
      (tables->rows[middle].start_avma.load(kRelaxed) <= row_avma ? low : high) = middle;
    }
    const uint64_t bytes = tables->rows[low].rule.load(kRelaxed);
    StepRule found;
    memcpy(&found, &bytes, sizeof found);
    std::atomic_thread_fence(std::memory_order_acquire);
    if ((change & 1) != 0 || g_change.load(kRelaxed) != change) return false;
    if (found.kind == RuleKind::kNoUnwindInfo) continue;  // between two functions; another section may describe it
    *rule = found;
    return true;
  }
  return false;
}

}  // namespace heapprof::agent
