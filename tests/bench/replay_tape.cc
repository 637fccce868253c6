// tests/bench/replay_tape.cc: the collector's own parts, from the drain to the books, on a tape.
//
// The tape's stamps are given to the drain as numbers of a sequence, so that it reads the clock from the arena, which
// holds the tape's: everything that depends on time is the same in each replay. A stamp between the reading of the
// clock and the look at the rings becomes that of the reading.
#include "cli/collect/arena.h"
#include "cli/collect/books/ledger.h"
#include "cli/collect/drain.h"
#include "cli/collect/process_files.h"
#include "shared/python.h"
#include "tests/bench/tape.h"
#include "tests/support/ring_builder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>

namespace heapprof::test {

namespace {

using namespace cli;

constexpr uint64_t kRepairStamps = 3'000'000;  // about a millisecond

double cpu_ns() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

uint64_t own_memory_kib() {
  std::ifstream status("/proc/self/status");
  for (std::string key; status >> key;) {
    if (key != "RssAnon:") continue;
    uint64_t kib = 0;
    status >> kib;
    return kib;
  }
  return 0;
}

// A number that is another one if any of what it was fed with is another, or comes in another order.
class Checksum {
 public:
  void add(uint64_t value) {
    sum_ = (sum_ ^ value) * 0x9E3779B97F4A7C15ull;
    sum_ ^= sum_ >> 29;
  }
  uint64_t value() const { return sum_; }

 private:
  uint64_t sum_ = 1;
};

class Tape {
 public:
  explicit Tape(const std::string& path) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat facts {};
    if (fd < 0 || ::fstat(fd, &facts) != 0) return;
    bytes_ = static_cast<size_t>(facts.st_size);
    void* memory = ::mmap(nullptr, bytes_, PROT_READ, MAP_SHARED | MAP_POPULATE, fd, 0);
    ::close(fd);
    if (memory != MAP_FAILED) base_ = static_cast<const unsigned char*>(memory);
    TapeStart start{};
    is_sound_ = base_ != nullptr && bytes_ >= sizeof start;
    if (is_sound_) start = take<TapeStart>();
    is_sound_ = start.magic == kTapeMagic && start.protocol_version == wire::kProtocolVersion;
    codes_ = is_sound_ ? start.codes : 0;
  }
  ~Tape() {
    if (base_ != nullptr) ::munmap(const_cast<unsigned char*>(base_), bytes_);
  }
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;

  bool is_sound() const { return is_sound_; }
  uint32_t codes() const { return codes_; }  // what comes first
  bool is_at_end() const { return at_ >= bytes_; }
  const unsigned char* take_bytes(size_t bytes) {
    if (bytes > bytes_ - at_) throw std::runtime_error("the tape is cut off");
    at_ += bytes;
    return base_ + at_ - bytes;
  }
  template <typename T>
  T take() {
    T value;
    std::memcpy(&value, take_bytes(sizeof value), sizeof value);
    return value;
  }

 private:
  const unsigned char* base_ = nullptr;
  size_t bytes_ = 0;
  size_t at_ = 0;
  uint32_t codes_ = 0;
  bool is_sound_ = false;
};

class Player {
 public:
  Player(Arena* arena, SecondThread* second) : arena_(*arena), agent_(arena->fd()) {
    shared_.tree = &tree_;
    shared_.modules = &modules_;
    shared_.threads = &threads_;
    shared_.devices = &ledger_.device_events();
    shared_.second = second;
    shared_.max_frames = UINT16_MAX;
    drain_.emplace(&arena_, &shared_, &ledger_, &files_,
                   DrainOptions{wire::ClockMode::kSequence, wire::FenceMode::kProducerFence, kRepairStamps,
                                UINT64_MAX / 2, second, 64 << 10, UINT64_MAX / 2});
  }

  void put_codes(Tape* tape) {
    if (tape->codes() == 0) return;
    auto* index = reinterpret_cast<uint64_t*>(agent_.bytes() + wire::kCodesOff);
    uint32_t offset = 0;
    for (uint32_t i = 0; i < tape->codes(); ++i) {
      const auto code = tape->take<TapeCode>();
      std::memcpy(agent_.bytes() + wire::kCodeTextsOff + offset, tape->take_bytes(code.text_bytes), code.text_bytes);
      index[code.number - 1] = wire::pack_code_at(offset, code.text_bytes);
      offset += code.text_bytes;
    }
    modules_.set_codes([this] { return arena_.codes(); });
  }

  // Plays a round; *cost_ns becomes what the collector took for it.
  void round(Tape* tape, double* cost_ns) {
    const auto round = tape->take<TapeRound>();
    put_modules(tape, round);
    agent_.control().rings_claimed.store(round.rings_claimed, std::memory_order_release);
    agent_.control().sequence.store(round.stamp, std::memory_order_release);
    if (!has_started_) ledger_.start(round.stamp);
    has_started_ = true;
    last_stamp_ = round.stamp;
    rings_.clear();
    for (uint32_t i = 0; i < round.parts; ++i) put_part(tape);
    const double before = cpu_ns();
    while (std::any_of(rings_.begin(), rings_.end(), [this](uint32_t ring) { return is_behind(ring); }))
      records_ += drain_->round();
    ledger_.set_bound(round.stamp);
    *cost_ns = std::min(*cost_ns, cpu_ns() - before);
  }

  // Settles everything; returns the nanoseconds that took.
  double finish() {
    const double before = cpu_ns();
    while (drain_->final_round() != 0) {
    }
    ledger_.finish(last_stamp_);
    return cpu_ns() - before;
  }

  uint64_t records() const { return records_; }
  const CallTree& tree() const { return tree_; }
  Ledger& ledger() { return ledger_; }
  uint64_t checksum();

 private:
  bool is_behind(uint32_t ring) {
    const wire::RingHeader& header = arena_.header(ring);
    return header.tail.load(std::memory_order_relaxed) != header.head.load(std::memory_order_relaxed);
  }
  void put_modules(Tape* tape, const TapeRound& round) {
    uint32_t at = round.module_bytes - round.new_module_bytes;
    for (; at != round.module_bytes; at += 8)
      std::memcpy(agent_.bytes() + wire::kModuleTableOff + at % wire::kModuleTableBytes, tape->take_bytes(8), 8);
    agent_.control().module_bytes.store(round.module_bytes, std::memory_order_release);
  }
  void put_part(Tape* tape) {
    const auto part = tape->take<TapePart>();
    std::vector<TapeSegment> segments;
    for (uint32_t i = 0; i < part.segments; ++i) segments.push_back(tape->take<TapeSegment>());
    auto* words = reinterpret_cast<unsigned char*>(agent_.words(part.ring));
    for (const TapeSegment& segment : segments)
      std::memcpy(words + segment.ring_off, tape->take_bytes(segment.bytes), segment.bytes);
    wire::RingHeader& header = agent_.header(part.ring);
    header.thread_id.store(part.thread_id, std::memory_order_relaxed);
    header.shared.store(part.is_shared, std::memory_order_relaxed);
    header.in_event.store(part.in_event, std::memory_order_relaxed);
    header.head.store(part.head, std::memory_order_release);
    rings_.push_back(part.ring);
  }

  Arena& arena_;
  FakeAgent agent_;
  ThreadTable threads_;
  CallTree tree_;
  ProcessFiles files_{::getpid()};
  ModuleMap modules_{"", [](const std::string&, uint64_t) { return nullptr; }};
  Ledger ledger_{&threads_, Ledger::TimeSource::kStamps};
  DecodeShared shared_{};
  std::optional<Drain> drain_;
  std::vector<uint32_t> rings_;  // with something new in this round
  bool has_started_ = false;
  uint64_t last_stamp_ = 0;
  uint64_t records_ = 0;
};

// Of all that the books hold: every number of every site, the stacks, the live blocks, the totals, the counts, the
// timeline. The order of the live blocks is the table's own affair.
uint64_t Player::checksum() {
  Checksum sum;
  const SiteBook& sites = ledger_.sites();
  for (uint32_t i = 1; i < sites.size(); ++i) {
    const SiteEntry& site = sites[i];
    const Amount peak = sites.at_peak(i);
    for (const uint64_t value :
         {site.live.bytes, site.live.blocks, site.max.bytes, site.max.blocks, peak.bytes, peak.blocks, site.total.bytes,
          site.total.blocks, site.temporary_blocks, uint64_t{site.lifetime_high_ticks}, site.lifetime_low_ticks,
          site.resized_blocks, site.moved_bytes, site.smallest_bytes, site.largest_bytes})
      sum.add(value);
    const SizeHistogram sizes = sites.sizes(i);
    for (int bucket = 0; bucket < kSizeBuckets; ++bucket) sum.add(sizes[bucket]);
  }
  for (const SiteKey& site : tree_.sites()) sum.add(uint64_t{site.stack} << 1 | site.truncated);
  for (const StackNode& node : tree_.nodes()) sum.add(uint64_t{node.parent} << 32 | node.location);
  for (const Location& location : modules_.locations()) sum.add(location.svma ^ uint64_t{location.module} << 48);
  uint64_t blocks = 0;
  ledger_.for_each_live([&blocks](const Block& block) {
    Checksum one;
    for (const uint64_t value :
         {block.address, block.size_bytes, block.birth, uint64_t{block.site}, uint64_t{block.thread}})
      one.add(value);
    blocks += one.value();
  });
  sum.add(blocks);
  uint64_t stays = 0;
  const std::vector<StayBound>& bounds = ledger_.bounds().bounds();
  ledger_.stays().for_each([&](const KeptStay& stay) {
    Checksum one;
    for (const uint64_t value :
         {uint64_t{stay.site}, uint64_t{stretch_index(bounds, stay.begin)}, uint64_t{stretch_index(bounds, stay.end)}})
      one.add(value);
    stays += one.value() * stay.bytes + one.value() * 3 * stay.blocks;
  });
  sum.add(stays);
  const SiteBook::Totals& totals = sites.totals();
  const LedgerCounts& counts = ledger_.counts();
  for (const uint64_t value :
       {totals.live.bytes, totals.live.blocks, totals.peak.bytes, totals.peak.blocks, totals.peak_ticks,
        totals.max_blocks, totals.max_blocks_ticks, totals.temporary_blocks, counts.allocations, counts.frees,
        counts.reallocs, counts.failed_reallocs, counts.reordered, counts.foreign, counts.unseen_frees})
    sum.add(value);
  for (const LiveTimeline::Bucket& bucket : ledger_.timeline().buckets(last_stamp_)) {
    sum.add(bucket.min_bytes);
    sum.add(bucket.max_bytes);
  }
  return sum.value();
}

}  // namespace

bool replay_tape(const std::string& path, int repeats, int threads) {
  std::vector<double> costs_ns;  // of each round, the least of all repeats
  double finish_ns = 1e18;
  for (int i = 0; i < repeats; ++i) {
    Tape tape(path);
    if (!tape.is_sound()) return false;
    Result<std::unique_ptr<Arena>> arena = Arena::create();
    if (!arena) return false;
    SecondThread second;
    const uint64_t before_kib = own_memory_kib();
    Player player(arena->get(), threads == 2 ? &second : nullptr);
    player.put_codes(&tape);
    for (size_t round = 0; !tape.is_at_end(); ++round) {
      if (round == costs_ns.size()) costs_ns.push_back(1e18);
      player.round(&tape, &costs_ns[round]);
    }
    const uint64_t after_kib = own_memory_kib();
    finish_ns = std::min(finish_ns, player.finish());
    if (i + 1 != repeats) continue;
    double spent_ns = 0;
    for (const double cost_ns : costs_ns) spent_ns += cost_ns;
    const Ledger& ledger = player.ledger();
    size_t stays = 0;
    player.ledger().stays().for_each([&stays](const KeptStay&) { ++stays; });
    std::printf("%s: %.1f ns/record (slowest round %.1f ms, finish %.1f ms), %" PRIu64 " records, %zu rounds, %" PRIu64
                " MiB (live blocks %.1f, most %" PRIu64 "; stacks %.1f), %u sites, %zu stays, books %016" PRIx64 "\n",
                path.substr(path.rfind('/') + 1).c_str(), spent_ns / static_cast<double>(player.records()),
                *std::max_element(costs_ns.begin(), costs_ns.end()) / 1e6, finish_ns / 1e6, player.records(),
                costs_ns.size(), (after_kib - before_kib) / 1024, static_cast<double>(ledger.block_bytes()) / (1 << 20),
                ledger.sites().totals().max_blocks, static_cast<double>(player.tree().slot_bytes()) / (1 << 20),
                player.tree().site_count() - 1, stays, player.checksum());
    for (const std::string& error : ledger.check()) std::printf("  %s\n", error.c_str());
  }
  return true;
}

}  // namespace heapprof::test
