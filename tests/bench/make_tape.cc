// tests/bench/make_tape.cc: tapes that no run is needed for, the same on every machine.
//
// A generated program calls and returns, allocates, resizes and frees: most stacks have been met before, most blocks
// die young, as in real ones. Each shape has in addition what one kind of program brings with it.
#include "shared/python.h"
#include "tests/bench/random.h"
#include "tests/bench/tape.h"
#include "tests/support/ring_builder.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <utility>

namespace heapprof::test {

namespace {

constexpr uint64_t kProgramAvma = 0x400000;
constexpr uint64_t kJitAvma = 0x7f0000000000;  // in no module
constexpr uint32_t kRoundRecords = 2'048;
constexpr uint64_t kRecordStamps = 100;
constexpr size_t kLeastDepth = 12;
constexpr size_t kMostDepth = 40;
constexpr uint32_t kPythonFunctions = 300;
constexpr uint32_t kPythonLines = 20;  // of a function
constexpr uint32_t kScopeNames = 40;

enum class ShapeKind : uint8_t { kNative, kPython, kJit, kThreads, kScopes };

struct Shape {
  const char* name;
  ShapeKind kind;
  uint32_t rings;
};
constexpr Shape kShapes[] = {{"native", ShapeKind::kNative, 1},
                             {"python", ShapeKind::kPython, 1},
                             {"jit", ShapeKind::kJit, 1},
                             {"threads", ShapeKind::kThreads, 4},
                             {"scopes", ShapeKind::kScopes, 1}};

// A thread of the generated program.
class Caller {
 public:
  Caller(ShapeKind kind, uint64_t seed) : kind_(kind), random_{seed * 0x9E3779B97F4A7C15ull + 1} {}

  // The stack of the next allocation: some frames return, some are entered. Which function a call leads to depends on
  // where it stands, and is mostly the same.
  const Stack& next_stack() {
    for (uint64_t returns = random_.next() % 6; returns != 0 && stack_.size() > kLeastDepth; --returns)
      stack_.pop_back();
    do {
      push();
    } while (stack_.size() < kLeastDepth || (stack_.size() < kMostDepth && random_.next() % 2 == 0));
    return stack_;
  }
  Random& random() { return random_; }

 private:
  void push() {
    const uint64_t at = (stack_.empty() ? 7 : stack_.back()) * 0x9E3779B97F4A7C15ull >> 40;
    const uint64_t dice = random_.next() % 128;
    const uint64_t branch = dice < 100 ? 0 : dice < 125 ? 1 : 2 + dice % 3;
    const uint64_t callee = (at * 5 + branch) * 0x9E3779B97F4A7C15ull >> 44;
    if (kind_ == ShapeKind::kPython && stack_.size() % 2 == 1) {
      // Two code objects of one function, three instructions of a line: one location.
      const auto code = static_cast<uint32_t>(callee % kPythonFunctions * 2 + random_.next() % 2 + 1);
      const auto line = static_cast<uint32_t>(callee >> 9) % kPythonLines;
      const auto instruction = static_cast<uint32_t>(random_.next() % 3);
      stack_.push_back(wire::pack_python_frame(code, line * 6 + instruction * 2));
    } else if (kind_ == ShapeKind::kJit && stack_.size() > kLeastDepth / 2) {
      stack_.push_back(kJitAvma + callee % 4096 * 32);
    } else {
      stack_.push_back(kProgramAvma + callee % 65536 * 32);
    }
  }

  ShapeKind kind_;
  Random random_;
  Stack stack_;
};

// What of the program's blocks is live, as an allocator has them: what was freed last is given out first.
class Blocks {
 public:
  uint64_t take(uint64_t size_bytes) {
    const uint64_t size_class = (size_bytes + 15) / 16;
    if (free_.size() <= size_class) free_.resize(size_class + 1);
    uint64_t address = next_;
    if (free_[size_class].empty()) {
      next_ += size_class * 16;
    } else {
      address = free_[size_class].back();
      free_[size_class].pop_back();
    }
    live_.push_back({address, size_class});
    return address;
  }
  bool has_any() const { return !live_.empty(); }
  // Mostly a young one.
  uint64_t give_back(Random* random) {
    const uint64_t reach = random->next() % 16 != 0 ? std::min<uint64_t>(live_.size(), 32) : live_.size();
    const size_t at = live_.size() - 1 - random->next() % reach;
    const auto [address, size_class] = live_[at];
    live_[at] = live_.back();
    live_.pop_back();
    free_[size_class].push_back(address);
    return address;
  }

 private:
  std::vector<std::pair<uint64_t, uint64_t>> live_;  // address, size class
  std::vector<std::vector<uint64_t>> free_;          // by size class
  uint64_t next_ = 0x10000000;
};

// A ring in plain memory, which goes onto the tape and is empty again.
class TapeRing {
 public:
  explicit TapeRing(uint32_t ring)
      : ring_(ring),
        words_(wire::ring_bytes(ring) / sizeof(uint64_t)),
        builder_(words_.data(), wire::ring_bytes(ring), &header_) {}
  TapeRing(const TapeRing&) = delete;
  TapeRing& operator=(const TapeRing&) = delete;

  RingBuilder& builder() { return builder_; }
  bool has_any() const { return builder_.head() != position_; }

  void put(std::FILE* file) {
    TapePart part{};
    part.head = builder_.head();
    part.ring = ring_;
    part.thread_id = header_.thread_id.load(std::memory_order_relaxed);
    const uint64_t ring_bytes = words_.size() * sizeof(uint64_t);
    const uint64_t bytes = part.head - position_;
    const uint64_t first_off = position_ & (ring_bytes - 1);
    const uint64_t first_bytes = std::min(bytes, ring_bytes - first_off);
    const TapeSegment segments[] = {{first_off, first_bytes}, {0, bytes - first_bytes}};
    part.segments = first_bytes == bytes ? 1 : 2;
    std::fwrite(&part, sizeof part, 1, file);
    std::fwrite(segments, sizeof(TapeSegment), part.segments, file);
    for (uint32_t i = 0; i < part.segments; ++i)
      std::fwrite(words_.data() + segments[i].ring_off / sizeof(uint64_t), 1, segments[i].bytes, file);
    position_ = part.head;
    header_.tail.store(part.head, std::memory_order_relaxed);
  }

 private:
  uint32_t ring_;
  std::vector<uint64_t> words_;
  wire::RingHeader header_{};
  RingBuilder builder_;
  uint64_t position_ = 0;
};

// As CPython to 3.9 has it: pairs of bytes of code and lines.
std::string table_of_lines() {
  std::string table;
  for (uint32_t line = 1; line < kPythonLines; ++line) table += "\x06\x01";
  return table;
}

struct Code {
  uint32_t number;
  std::string text;  // a wire::CodeEntry and what follows it
};

std::vector<Code> python_codes() {
  std::vector<Code> codes;
  for (uint32_t i = 0; i < 2 * kPythonFunctions; ++i) {
    const std::string file = "/srv/app/module_" + std::to_string(i / 40) + ".py";
    const std::string function = "function_" + std::to_string(i / 2);
    const std::string table = table_of_lines();
    const wire::CodeEntry entry{i / 2 % 20 * 30 + 1,
                                9,
                                static_cast<uint16_t>(file.size()),
                                static_cast<uint16_t>(function.size()),
                                0,
                                static_cast<uint32_t>(table.size())};
    Code code{i + 1, {}};
    code.text.assign(reinterpret_cast<const char*>(&entry), sizeof entry);
    code.text += file + function + table;
    codes.push_back(std::move(code));
  }
  return codes;
}

class Maker {
 public:
  Maker(const std::string& path, const Shape& shape) : shape_(shape), file_(std::fopen(path.c_str(), "w")) {
    if (file_ == nullptr) throw std::runtime_error("cannot write " + path);
    std::vector<Code> codes;
    if (shape.kind == ShapeKind::kPython) codes = python_codes();
    const TapeStart start{kTapeMagic, wire::kProtocolVersion, static_cast<uint32_t>(codes.size())};
    std::fwrite(&start, sizeof start, 1, file_);
    for (const Code& code : codes) {
      const TapeCode head{code.number, static_cast<uint32_t>(code.text.size())};
      std::fwrite(&head, sizeof head, 1, file_);
      std::fwrite(code.text.data(), 1, code.text.size(), file_);
    }
    for (uint32_t i = 0; i < shape.rings; ++i) {
      rings_.push_back(std::make_unique<TapeRing>(i));
      callers_.emplace_back(shape.kind, i + 1);
      rings_.back()->builder().open(1000 + i, stamp_);
    }
  }
  ~Maker() { std::fclose(file_); }
  Maker(const Maker&) = delete;
  Maker& operator=(const Maker&) = delete;

  void make(uint64_t records) {
    for (uint64_t i = 0; i < records; ++i) {
      if (i % kRoundRecords == 0) put_round();
      const auto ring = static_cast<uint32_t>(i / 5 % shape_.rings);
      step(&rings_[ring]->builder(), &callers_[ring]);
    }
    put_round();
  }

 private:
  void step(RingBuilder* ring, Caller* caller) {
    stamp_ += kRecordStamps;
    Random& random = caller->random();
    if (shape_.kind == ShapeKind::kScopes && random.next() % 5 == 0) return scope(ring, &random);
    const uint64_t dice = random.next() % 64;
    if (blocks_.has_any() && dice < 31) return ring->free(blocks_.give_back(&random), stamp_);
    const uint64_t size_bytes = 8 + random.next() % (dice == 63 ? 4000 : 200);
    const bool is_resize = blocks_.has_any() && dice == 62;
    if (is_resize) ring->realloc_begin(blocks_.give_back(&random), stamp_);
    const Stack& stack = caller->next_stack();
    if (shape_.kind == ShapeKind::kJit) ring->truncate_next(wire::TruncationCause::kNoUnwindInfo);
    const uint64_t address = blocks_.take(size_bytes);
    if (is_resize) return ring->realloc_end(address, size_bytes, stack, stamp_);
    ring->malloc(address, size_bytes, stack, stamp_);
  }

  void scope(RingBuilder* ring, Random* random) {
    const auto name = static_cast<uint32_t>(1 + random->next() % kScopeNames);
    const uint64_t dice = random->next() % 512;
    if (dice == 0) {
      ring->scope(wire::ScopeOperation::kMark, name, 0, stamp_);
    } else if (!scopes_.empty() && (dice < 256 || scopes_.size() == 8)) {
      ring->scope(wire::ScopeOperation::kEnd, 0, scopes_.back(), stamp_);
      scopes_.pop_back();
    } else {
      scopes_.push_back(++last_scope_);
      ring->scope(wire::ScopeOperation::kBegin, name, last_scope_, stamp_);
    }
  }

  void put_round() {
    stamp_ += kRecordStamps;
    TapeRound round{};
    round.stamp = stamp_;
    round.rings_claimed = shape_.rings;
    std::vector<unsigned char> modules;
    if (!has_modules_) {
      modules.resize(wire::kModuleTableBytes);
      const FakeModule program{"/srv/app/program", "\x01", kProgramAvma, kProgramAvma + 65536 * 32, kProgramAvma, 0};
      round.module_bytes = round.new_module_bytes = append_module(modules.data(), 0, program);
      has_modules_ = true;
    }
    for (const auto& ring : rings_) round.parts += ring->has_any() ? 1 : 0;
    std::fwrite(&round, sizeof round, 1, file_);
    std::fwrite(modules.data(), 1, round.new_module_bytes, file_);
    for (const auto& ring : rings_) {
      if (ring->has_any()) ring->put(file_);
    }
  }

  const Shape& shape_;
  std::FILE* file_;
  std::vector<std::unique_ptr<TapeRing>> rings_;
  std::vector<Caller> callers_;
  Blocks blocks_;  // of all threads: one frees what another has allocated
  std::vector<uint64_t> scopes_;
  uint64_t last_scope_ = 0;
  uint64_t stamp_ = 1'000'000;
  bool has_modules_ = false;
};

}  // namespace

bool make_tape(const std::string& path, const std::string& shape, uint64_t records) {
  for (const Shape& one : kShapes) {
    if (one.name != shape) continue;
    Maker(path, one).make(records);
    return true;
  }
  return false;
}

}  // namespace heapprof::test
