// tests/support/ring_builder.h: writes records into an arena as an agent would, and as no agent would.
//
// FakeAgent maps the arena of a collector; RingBuilder writes one ring. A builder can also write into plain memory, for
// tests of the decoder alone.
#pragma once

#include "shared/kernels.h"
#include "shared/scopes.h"
#include "shared/wire.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace heapprof::test {

using Stack = std::vector<uint64_t>;  // return addresses, outermost first

class RingBuilder {
 public:
  // words: the ring's data. header may be nullptr: then head() tells how much is written.
  RingBuilder(uint64_t* words, uint64_t ring_bytes, wire::RingHeader* header)
      : words_(words), mask_(ring_bytes - 1), header_(header) {}

  // What an agent writes first.
  void open(uint32_t thread_id, uint64_t stamp) {
    if (header_ != nullptr) header_->thread_id.store(thread_id, std::memory_order_relaxed);
    timestamp(stamp);
    put(wire::pack_control(wire::ControlKind::kThread, thread_id));
    publish();
  }

  void malloc(uint64_t address, uint64_t size_bytes, const Stack& stack, uint64_t stamp) {
    allocate(wire::RecordType::kMalloc, address, size_bytes, stack, stamp);
  }
  void realloc_end(uint64_t address, uint64_t size_bytes, const Stack& stack, uint64_t stamp) {
    allocate(wire::RecordType::kReallocEnd, address, size_bytes, stack, stamp);
  }
  void free(uint64_t address, uint64_t stamp) { plain(wire::RecordType::kFree, address, stamp); }
  void realloc_begin(uint64_t address, uint64_t stamp) { plain(wire::RecordType::kReallocBegin, address, stamp); }
  void realloc_cancel(uint64_t stamp) { plain(wire::RecordType::kReallocCancel, 0, stamp); }
  void realloc_free(uint64_t stamp) { plain(wire::RecordType::kReallocFree, 0, stamp); }

  // id 0, name 0: none
  void scope(wire::ScopeOperation operation, uint32_t name, uint64_t id, uint64_t stamp) {
    wait_for_space(4 * wire::kUnitBytes);
    const uint32_t delta = delta_to(stamp);
    put({wire::pack_scope(operation, name, id), wire::pack_w1(delta, 0, 0)});
    publish();
  }
  void scope_items(uint64_t id, uint64_t items) {
    put_published({wire::pack_scope(wire::ScopeOperation::kItems, 0, id), items});
  }
  void gpu_interval(wire::ScopeOperation operation, uint64_t id, uint64_t duration_ns) {
    put_published({wire::pack_scope(operation, 0, id), duration_ns});
  }
  void launch(wire::Record record) { put_published(record); }
  void control(wire::ControlKind kind, uint64_t value) { put_published(wire::pack_control(kind, value)); }

  void thread(uint32_t id) { put_published(wire::pack_control(wire::ControlKind::kThread, id)); }
  void generation(uint32_t number) { put_published(wire::pack_control(wire::ControlKind::kGeneration, number)); }
  // Goes on at another place of the ring, having taken its chunk.
  void go_to_chunk(uint32_t chunk) {
    if (header_ != nullptr) {
      header_->chunks.fetch_or(uint64_t{1} << chunk, std::memory_order_acq_rel);
      header_->resident.fetch_or(uint32_t{1} << chunk, std::memory_order_relaxed);
    }
    put_published(wire::pack_control(wire::ControlKind::kChunk, chunk * wire::kChunkBytes));
    shift_ = chunk * wire::kChunkBytes - head_;
  }
  void reset(uint64_t lost) {
    previous_.clear();
    put_published(wire::pack_control(wire::ControlKind::kReset, lost));
  }
  // The next record's stack could not be walked to its end.
  void truncate_next(wire::TruncationCause cause) { truncation_ = static_cast<uint64_t>(cause); }
  // The next record is of a device. object 0: none.
  void device_next(wire::DeviceOperation operation, uint32_t device, uint64_t object = 0) {
    wait_for_space(10 * wire::kUnitBytes);
    put({static_cast<uint64_t>(wire::RecordType::kPrefixDevice) << 60, wire::pack_device(operation, device)});
    if (object != 0) put({static_cast<uint64_t>(wire::RecordType::kPrefixObject) << 60, object});
  }

  // Anything at all. Nothing is seen before publish().
  void put(wire::Record record) {
    wait_for_space(wire::kUnitBytes);
    store(record.w0);
    store(record.w1);
  }
  void publish() {
    if (header_ != nullptr && !is_held_) header_->head.store(head_, std::memory_order_release);
  }
  // From here on the thread is inside an event: what it writes is seen at the end of it.
  void begin_event() {
    is_held_ = true;
    header_->in_event.store(1, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  void end_event() {
    is_held_ = false;
    publish();
    header_->in_event.store(0, std::memory_order_release);
  }
  bool is_in_event() const { return is_held_; }
  void publish_as(uint64_t head) { header_->head.store(head, std::memory_order_release); }

  // Calls when_full until there is room.
  void wait_for_space(uint64_t bytes) {
    while (header_ != nullptr && head_ + bytes - header_->tail.load(std::memory_order_acquire) > mask_ + 1) {
      if (!when_full) throw std::runtime_error("the ring is full");
      when_full();
    }
  }

  uint64_t head() const { return head_; }
  wire::RingHeader* header() { return header_; }
  // Called while the ring is full.
  std::function<void()> when_full;

 private:
  void put_published(wire::Record record) {
    put(record);
    publish();
  }

  void store(uint64_t word) {
    __atomic_store_n(&words_[((head_ + shift_) & mask_) / sizeof word], word, __ATOMIC_RELAXED);
    head_ += sizeof word;
  }

  void timestamp(uint64_t stamp) {
    base_ = stamp;
    put(wire::pack_control(wire::ControlKind::kTimestamp, stamp));
  }
  uint32_t delta_to(uint64_t stamp) {
    if (stamp < base_ || stamp - base_ > UINT32_MAX) timestamp(stamp);
    return static_cast<uint32_t>(stamp - base_);
  }
  uint64_t put_address(uint64_t address) {
    if (address == 0 || wire::is_compact_address(address)) return address;
    put({static_cast<uint64_t>(wire::RecordType::kPrefixAddress) << 60, address});
    return 0;
  }

  void plain(wire::RecordType type, uint64_t address, uint64_t stamp) {
    wait_for_space(4 * wire::kUnitBytes);
    const uint32_t delta = delta_to(stamp);
    address = put_address(address);
    put({wire::pack_w0(type, address, 0), wire::pack_w1(delta, 0, 0)});
    publish();
  }

  void put_frames(const Stack& stack, size_t first, size_t count) {
    wait_for_space(wire::payload_bytes(static_cast<uint32_t>(count)));
    for (size_t i = 0; i < count; ++i) store(stack[first + i]);
    if (count % 2 == 1) store(0);
  }

  void allocate(wire::RecordType type, uint64_t address, uint64_t size_bytes, const Stack& stack, uint64_t stamp) {
    size_t keep = 0;
    while (keep < stack.size() && keep < previous_.size() && stack[keep] == previous_[keep]) ++keep;
    previous_ = stack;
    while (stack.size() - keep > wire::kMaxFreshFrames) {
      const auto count = static_cast<uint32_t>(wire::kMaxFreshFrames);
      put({wire::pack_w0(wire::RecordType::kStack, 0, 0), wire::pack_w1(0, static_cast<uint32_t>(keep), count)});
      put_frames(stack, keep, count);
      publish();
      keep += count;
    }
    const auto fresh = static_cast<uint32_t>(stack.size() - keep);
    wait_for_space(6 * wire::kUnitBytes + wire::payload_bytes(fresh));
    const uint32_t delta = delta_to(stamp);
    if (truncation_ != 0) put({static_cast<uint64_t>(wire::RecordType::kPrefixTruncated) << 60, truncation_});
    truncation_ = 0;
    address = put_address(address);
    uint64_t size_field = size_bytes;
    if (!wire::is_compact_size(size_bytes)) {
      put({static_cast<uint64_t>(wire::RecordType::kPrefixSize) << 60, size_bytes});
      size_field = wire::kSizeInPrefix;
    }
    put({wire::pack_w0(type, address, size_field), wire::pack_w1(delta, static_cast<uint32_t>(keep), fresh)});
    put_frames(stack, keep, fresh);
    publish();
  }

  uint64_t* words_;
  uint64_t mask_;
  wire::RingHeader* header_;
  uint64_t head_ = 0;
  uint64_t shift_ = 0;  // a record at head_ lies at head_ + shift_
  uint64_t base_ = 0;
  uint64_t truncation_ = 0;
  bool is_held_ = false;
  Stack previous_;
};

struct FakeModule {
  std::string path;
  std::string build_id;  // bytes
  uint64_t start_avma = 0;
  uint64_t end_avma = 0;
  uint64_t load_bias = 0;
  uint32_t generation = 0;
};

// Appends an entry to a module table to which `bytes` were ever written; returns the new number. Where the entry does
// not fit before the table's end it begins at its start.
inline uint32_t append_module(unsigned char* table, uint32_t bytes, const FakeModule& module) {
  wire::ModuleEntry entry{};
  const size_t text = module.path.size() + module.build_id.size();
  entry.entry_bytes = static_cast<uint32_t>((sizeof entry + text + 7) / 8 * 8);
  entry.generation = module.generation;
  entry.start_avma = module.start_avma;
  entry.end_avma = module.end_avma;
  entry.load_bias = module.load_bias;
  entry.path_bytes = static_cast<uint16_t>(module.path.size());
  entry.build_id_bytes = static_cast<uint16_t>(module.build_id.size());
  const auto to_end = static_cast<uint32_t>(wire::kModuleTableBytes - bytes % wire::kModuleTableBytes);
  if (entry.entry_bytes > to_end) {
    std::memset(table + bytes % wire::kModuleTableBytes, 0, sizeof entry.entry_bytes);
    bytes += to_end;
  }
  unsigned char* at = table + bytes % wire::kModuleTableBytes;
  std::memcpy(at, &entry, sizeof entry);
  std::memcpy(at + sizeof entry, module.path.data(), module.path.size());
  std::memcpy(at + sizeof entry + module.path.size(), module.build_id.data(), module.build_id.size());
  return bytes + entry.entry_bytes;
}

class FakeAgent {
 public:
  explicit FakeAgent(int arena_fd) {
    void* memory = ::mmap(nullptr, wire::kArenaBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, arena_fd, 0);
    if (memory == MAP_FAILED) throw std::runtime_error("mmap");
    base_ = static_cast<unsigned char*>(memory);
    control().attached = 1;
  }
  ~FakeAgent() { ::munmap(base_, wire::kArenaBytes); }
  FakeAgent(const FakeAgent&) = delete;
  FakeAgent& operator=(const FakeAgent&) = delete;

  wire::Control& control() { return *reinterpret_cast<wire::Control*>(base_); }
  wire::RingHeader& header(uint32_t ring) {
    return reinterpret_cast<wire::RingHeader*>(base_ + wire::kRingHeadersOff)[ring];
  }
  uint64_t* words(uint32_t ring) { return reinterpret_cast<uint64_t*>(base_ + wire::ring_data_off(ring)); }
  unsigned char* bytes() { return base_; }

  RingBuilder claim() {
    const uint32_t ring = control().rings_claimed.fetch_add(1, std::memory_order_release);
    return RingBuilder(words(ring), wire::ring_bytes(ring), &header(ring));
  }
  void add_note(wire::NoteKind kind, uint32_t reason, std::string_view text) {
    const uint32_t place = control().notes_claimed.fetch_add(1, std::memory_order_relaxed);
    wire::Note& note = reinterpret_cast<wire::Note*>(base_ + wire::kNotesOff)[place];
    note.kind = kind;
    note.reason = reason;
    note.count = 1;
    note.text_bytes = static_cast<uint32_t>(text.copy(note.text, sizeof note.text));
    note.ready.store(1, std::memory_order_release);
  }
  // number: as records have it. Lengths that cannot be are kept.
  void set_name(uint32_t number, std::string_view category, std::string_view text) {
    wire::Name& name = this->name(number);
    name.category_bytes = static_cast<uint16_t>(category.size());
    name.text_bytes = static_cast<uint16_t>(text.size());
    const std::string both = std::string(category) + std::string(text);
    both.copy(name.characters, sizeof name.characters);
    name.state.store(wire::NameState::kReady, std::memory_order_release);
  }
  void set_kernel_name(uint32_t number, std::string_view text) {
    wire::KernelName& name = reinterpret_cast<wire::KernelName*>(base_ + wire::kKernelsOff)[number - 1];
    name.text_bytes = static_cast<uint32_t>(text.size());
    text.copy(name.characters, sizeof name.characters);
    name.state.store(wire::NameState::kReady, std::memory_order_release);
  }
  wire::Name& name(uint32_t number) { return reinterpret_cast<wire::Name*>(base_ + wire::kNamesOff)[number - 1]; }
  void add_module(const FakeModule& module) {
    const uint32_t bytes = control().module_bytes.load(std::memory_order_relaxed);
    control().module_bytes.store(append_module(base_ + wire::kModuleTableOff, bytes, module),
                                 std::memory_order_release);
  }

 private:
  unsigned char* base_;
};

}  // namespace heapprof::test
