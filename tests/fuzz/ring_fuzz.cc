// tests/fuzz/ring_fuzz.cc: any bytes as an arena: nothing may crash, hang or read what is not ours, and the books must
// agree.
//
// The input is a script: each step writes a piece of it somewhere into the arena, moves a head, or lets the collector
// work. (tests/CMakeLists.txt: a program that replays tests/fuzz/corpus/ring, or a libFuzzer target.)
#include "cli/collect/process_collector.h"
#include "tests/support/ring_builder.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace {

using namespace heapprof;
using namespace heapprof::cli;

constexpr uint32_t kRings = 3;

class Input {
 public:
  Input(const uint8_t* data, size_t size) : data_(data), size_(size) {}
  bool is_empty() const { return size_ == 0; }
  uint64_t number(size_t bytes) {
    uint64_t value = 0;
    for (size_t i = 0; i < bytes && size_ != 0; ++i, ++data_, --size_) value = value << 8 | *data_;
    return value;
  }

 private:
  const uint8_t* data_;
  size_t size_;
};

// A word as an agent might write it, so that inputs get past the first check.
uint64_t likely_word(Input* input) {
  const uint64_t type = input->number(1) % 16;
  return type << 60 | (input->number(2) % 64 + 1) << (wire::kSizeBits + 1) | input->number(1);
}

// A record that goes on at another place, as an agent writes it or not quite so.
void write_chunk(test::FakeAgent* agent, Input* input, uint64_t* heads, uint64_t* shifts) {
  const auto ring = static_cast<uint32_t>(input->number(1) % kRings);
  const uint64_t mask = wire::ring_bytes(ring) / 8 - 1;
  const uint64_t chunk = input->number(1) % 34;
  const uint64_t place = chunk * wire::kChunkBytes + (input->number(1) == 77 ? 16 : 0);
  const wire::Record record = wire::pack_control(wire::ControlKind::kChunk, place);
  agent->words(ring)[(heads[ring] + shifts[ring]) / 8 & mask] = record.w0;
  agent->words(ring)[(heads[ring] + shifts[ring] + 8) / 8 & mask] = record.w1;
  heads[ring] += wire::kUnitBytes;
  shifts[ring] = place - heads[ring];
  agent->header(ring).chunks.fetch_or(uint64_t{1} << chunk % 32);
  agent->header(ring).resident.fetch_or(uint32_t{1} << chunk % 32);
  agent->header(ring).head.store(heads[ring], std::memory_order_release);
}

void write_record(test::FakeAgent* agent, Input* input, uint64_t* heads, const uint64_t* shifts) {
  const uint64_t choice = input->number(1);
  const auto ring = static_cast<uint32_t>(choice % kRings);
  uint64_t* words = agent->words(ring);
  const uint64_t mask = wire::ring_bytes(ring) / 8 - 1;
  const auto put = [&](uint64_t word) {
    words[(heads[ring] + shifts[ring]) / 8 & mask] = word;
    heads[ring] += 8;
  };
  const uint32_t fresh = static_cast<uint32_t>(input->number(1) % 8);
  put((choice & 0x80) != 0 ? input->number(8) : likely_word(input));
  put((choice & 0x40) != 0 ? input->number(8)
                           : wire::pack_w1(static_cast<uint32_t>(input->number(1)), input->number(1) % 8, fresh));
  for (uint32_t i = 0; i < (fresh + 1) / 2 * 2; ++i) put(0x400000 + input->number(1));
  agent->header(ring).head.store(heads[ring], std::memory_order_release);
}

// A record of a scope, with or without what may stand before it. Few ids, so that ends meet their begins.
void write_scope(test::FakeAgent* agent, Input* input, uint64_t* heads, const uint64_t* shifts) {
  const uint64_t choice = input->number(1);
  const auto ring = static_cast<uint32_t>(choice % kRings);
  uint64_t* words = agent->words(ring);
  const uint64_t mask = wire::ring_bytes(ring) / 8 - 1;
  const auto put = [&](wire::Record record) {
    words[(heads[ring] + shifts[ring]) / 8 & mask] = record.w0;
    words[(heads[ring] + shifts[ring] + 8) / 8 & mask] = record.w1;
    heads[ring] += wire::kUnitBytes;
  };
  if ((choice & 0x20) != 0) put(wire::pack_control(wire::ControlKind::kScopeTime, input->number(2)));
  if ((choice & 0x40) != 0) put(wire::pack_control(wire::ControlKind::kLaunches, input->number(2)));
  const uint64_t operation = input->number(1) % 10;
  const bool has_name = operation == 1 || operation == 6 || operation == 7;
  const uint32_t name = (choice & 0x80) != 0 ? static_cast<uint32_t>(input->number(2)) : has_name ? 1 : 0;
  const uint64_t id = operation == 6 ? 0 : 1 + input->number(1) % 16;
  put({wire::pack_scope(static_cast<wire::ScopeOperation>(operation), name, id), input->number(1) << 32});
  agent->header(ring).head.store(heads[ring], std::memory_order_release);
}

// A name, as it may be or not.
void write_name(test::FakeAgent* agent, Input* input) {
  wire::Name& name = agent->name(1 + static_cast<uint32_t>(input->number(1)));
  name.category_bytes = static_cast<uint16_t>(input->number(2));
  name.text_bytes = static_cast<uint16_t>(input->number(2));
  for (size_t i = 0; i < 4; ++i)
    name.characters[input->number(1) % sizeof name.characters] = static_cast<char>(input->number(1));
  name.state.store(static_cast<wire::NameState>(input->number(1) % 4), std::memory_order_release);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Input input(data, size);
  const uint64_t mode = input.number(1);
  CollectorOptions options;
  options.clock_mode = (mode & 1) != 0 ? wire::ClockMode::kTsc : wire::ClockMode::kSequence;
  options.fence_mode = wire::FenceMode::kProducerFence;
  if ((mode & 16) != 0) options.trim_interval_ns = 0;
  auto created = ProcessCollector::create(options);
  if (!created.ok()) return 0;
  ProcessCollector& collector = **created;
  test::FakeAgent agent(collector.arena_fd());
  wire::Hello hello{};
  for (char& byte : hello.malloc_object) byte = static_cast<char>(0xff);  // no zero byte at the end
  collector.start(hello, {(mode & 2) != 0 ? ::getpid() : 0x7fffffff, (mode & 4) != 0, "/none"});
  agent.control().rings_claimed.store((mode & 8) != 0 ? 1 : kRings);
  uint64_t heads[kRings] = {};
  uint64_t shifts[kRings] = {};
  while (!input.is_empty()) {
    switch (const uint64_t step = input.number(1); step % 16) {
      case 0: collector.drain(); break;
      case 1: {  // any word of any header or of the control page behind its constants
        const uint64_t offset =
            (step & 0x80) != 0 ? wire::kRingHeadersOff + input.number(1) % 96 * 8 : 48 + input.number(1) % 16 * 8;
        const uint64_t value = input.number(8);
        std::memcpy(agent.bytes() + offset, &value, sizeof value);
        break;
      }
      case 2: {  // any word of the module table's beginning
        const uint64_t value = input.number(8);
        std::memcpy(agent.bytes() + wire::kModuleTableOff + input.number(1) * 8, &value, sizeof value);
        break;
      }
      case 3:
        agent.add_module({"/lib/x", std::string(input.number(1) % 20, 'b'), 0x400000 + input.number(1),
                          0x400000 + input.number(2) + 1, input.number(1), static_cast<uint32_t>(input.number(1))});
        break;
      case 4: agent.control().sequence.store(input.number(4)); break;
      case 5: agent.header(static_cast<uint32_t>(step / 16 % kRings)).in_event.store((step & 0x80) != 0 ? 1 : 0); break;
      case 7: write_scope(&agent, &input, heads, shifts); break;
      case 8: write_name(&agent, &input); break;
      case 6: write_chunk(&agent, &input, heads, shifts); break;
      default: write_record(&agent, &input, heads, shifts); break;
    }
  }
  collector.drain_to_end();
  const Recording recording = collector.finish();
  for (const std::string& error : recording.consistency_errors) std::fprintf(stderr, "%s\n", error.c_str());
  if (!recording.consistency_errors.empty()) std::abort();
  return 0;
}
