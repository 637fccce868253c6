// tests/bench/record_tape.cc: plays the collector towards a real program, and only copies.
//
// The rings are read by the protocol's rules (shared/README.md), with the arena that the collector itself makes, but
// nothing is looked up or counted: so the program runs nearly as it would alone, and the tape has its own rhythm.
#include "cli/base/clock.h"
#include "cli/collect/clock.h"
#include "cli/collect/process_collector.h"
#include "cli/target/agent_files.h"
#include "cli/target/launch.h"
#include "cli/target/server.h"
#include "shared/env.h"
#include "tests/bench/tape.h"
#include "tests/support/ring_builder.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bit>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>

namespace heapprof::test {

namespace {

using namespace cli;

class TapeWriter {
 public:
  explicit TapeWriter(const std::string& path) : file_(std::fopen(path.c_str(), "w")) {
    if (file_ == nullptr) throw std::runtime_error("cannot write " + path);
    std::setvbuf(file_, nullptr, _IOFBF, 8 << 20);
    const TapeStart start{kTapeMagic, wire::kProtocolVersion, 0};
    put(&start, sizeof start);
  }
  ~TapeWriter() { std::fclose(file_); }
  TapeWriter(const TapeWriter&) = delete;
  TapeWriter& operator=(const TapeWriter&) = delete;

  void put(const void* from, size_t bytes) {
    if (bytes != 0 && std::fwrite(from, bytes, 1, file_) != 1) throw std::runtime_error("the tape cannot be written");
  }

 private:
  std::FILE* file_;
};

// One ring as far as it was copied.
class RingCopier {
 public:
  RingCopier(FakeAgent* agent, uint32_t ring)
      : words_(agent->words(ring)), header_(agent->header(ring)), mask_(wire::ring_bytes(ring) - 1), ring_(ring) {}

  // Copies what is there. False: nothing new.
  bool copy(std::vector<unsigned char>* out) {
    TapePart part{};
    part.in_event = header_.in_event.load(std::memory_order_acquire);
    part.head = header_.head.load(std::memory_order_acquire);
    part.ring = ring_;
    part.thread_id = header_.thread_id.load(std::memory_order_relaxed);
    part.is_shared = header_.shared.load(std::memory_order_relaxed);
    if (part.head == position_) return false;
    segments_.clear();
    bytes_.clear();
    while (position_ != part.head) take_record();
    part.segments = static_cast<uint32_t>(segments_.size());
    const auto append = [out](const void* from, size_t bytes) {
      const auto* first = static_cast<const unsigned char*>(from);
      out->insert(out->end(), first, first + bytes);
    };
    append(&part, sizeof part);
    append(segments_.data(), segments_.size() * sizeof(TapeSegment));
    append(bytes_.data(), bytes_.size() * sizeof(uint64_t));
    release();
    return true;
  }

 private:
  uint64_t word(uint64_t ring_off) const {
    return __atomic_load_n(&words_[ring_off / sizeof(uint64_t)], __ATOMIC_RELAXED);
  }

  wire::Record take_unit() {
    const uint64_t ring_off = (position_ + shift_) & mask_;
    if (segments_.empty() || segments_.back().ring_off + segments_.back().bytes != ring_off)
      segments_.push_back({ring_off, 0});
    segments_.back().bytes += wire::kUnitBytes;
    const wire::Record unit{word(ring_off), word(ring_off + sizeof(uint64_t))};
    bytes_.push_back(unit.w0);
    bytes_.push_back(unit.w1);
    position_ += wire::kUnitBytes;
    return unit;
  }
  void take_record() {
    const wire::Record record = take_unit();
    const wire::RecordType type = wire::record_type(record.w0);
    if (wire::has_stack(type)) {
      const uint64_t end = position_ + wire::payload_bytes(wire::record_fresh(record.w1));
      while (position_ != end) take_unit();
    } else if (type == wire::RecordType::kControl && wire::control_kind(record.w0) == wire::ControlKind::kChunk) {
      const uint64_t left = (position_ - wire::kUnitBytes + shift_) & mask_;
      finished_ |= uint64_t{1} << left / wire::kChunkBytes;
      shift_ = record.w1 - position_;
    }
  }
  void release() {
    header_.tail.store(position_, std::memory_order_seq_cst);
    if (finished_ != 0) header_.chunks.fetch_and(~finished_, std::memory_order_seq_cst);
    finished_ = 0;
    if (header_.waiting.load(std::memory_order_seq_cst) == 0) return;
    header_.wake_sequence.fetch_add(1, std::memory_order_release);
    ::syscall(SYS_futex, &header_.wake_sequence, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
  }

  const uint64_t* words_;
  wire::RingHeader& header_;
  uint64_t mask_;
  uint32_t ring_;
  uint64_t position_ = 0;
  uint64_t shift_ = 0;
  uint64_t finished_ = 0;
  std::vector<TapeSegment> segments_;
  std::vector<uint64_t> bytes_;
};

class Recorder {
 public:
  Recorder(const std::string& path, int arena_fd) : agent_(arena_fd), tape_(path) { agent_.control().attached = 0; }

  // True: there was something.
  bool round() {
    wire::Control& control = agent_.control();
    control.heartbeat.fetch_add(1, std::memory_order_seq_cst);
    TapeRound round{};
    round.stamp = read_ticks(wire::ClockMode::kTsc);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    round.rings_claimed = std::min(control.rings_claimed.load(std::memory_order_acquire), wire::kMaxRings);
    while (rings_.size() < round.rings_claimed) rings_.emplace_back(&agent_, static_cast<uint32_t>(rings_.size()));
    parts_.clear();
    for (RingCopier& ring : rings_) round.parts += ring.copy(&parts_) ? 1 : 0;
    if (round.parts == 0) return false;
    // Behind the rings: an address is in the table before it is in a record.
    round.module_bytes = control.module_bytes.load(std::memory_order_acquire);
    round.new_module_bytes = round.module_bytes - module_bytes_;
    tape_.put(&round, sizeof round);
    for (; module_bytes_ != round.module_bytes; module_bytes_ += 8)
      tape_.put(agent_.bytes() + wire::kModuleTableOff + module_bytes_ % wire::kModuleTableBytes, 8);
    control.modules_read.store(module_bytes_, std::memory_order_release);
    tape_.put(parts_.data(), parts_.size());
    return true;
  }

 private:
  FakeAgent agent_;
  TapeWriter tape_;
  std::vector<RingCopier> rings_;
  std::vector<unsigned char> parts_;
  uint32_t module_bytes_ = 0;
};

Result<Launched> start(const std::vector<std::string>& command, const std::string& socket_path) {
  const Result<AgentFiles> files = find_agent_files();
  if (!files) return files.problem();
  LaunchOptions options;
  options.command = command;
  options.file = command[0];
  options.preload = {files->agent};
  options.socket_variable = wire::kNoFollow + socket_path;
  return launch(options);
}

}  // namespace

int record_tape(const std::string& path, const std::vector<std::string>& command) {
  Result<Server> server = Server::open();
  if (!server) return 125;
  CollectorOptions options;
  options.fence_mode = wire::FenceMode::kProducerFence;  // no other need be asked for
  Result<std::unique_ptr<ProcessCollector>> arena = ProcessCollector::create(options);
  if (!arena) return 125;
  Recorder recorder(path, (*arena)->arena_fd());
  Result<Launched> program = start(command, server->path());
  if (!program) {
    std::fprintf(stderr, "bench_collect: %s\n", program.problem().what.c_str());
    return 125;
  }
  bool is_answered = false;
  for (uint64_t quiet = 0;;) {
    if (const std::optional<Caller> caller = server->accept_caller()) {
      const bool is_first = !is_answered && caller->pid == program->pid;
      Server::answer(*caller, is_first ? wire::Answer::kRecord : wire::Answer::kStayOut,
                     is_first ? (*arena)->arena_fd() : -1);
      is_answered = is_answered || is_first;
    }
    quiet = recorder.round() ? 0 : quiet + 1;
    if (quiet == 0) continue;
    int status = 0;
    if (::waitpid(program->pid, &status, WNOHANG) == program->pid) {
      while (recorder.round()) {
      }
      return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
    ::usleep(500);  // a fraction of what fills a ring
  }
}

}  // namespace heapprof::test
