// cli/collect/drain.cc: a round takes the records of the rings, and applies the events whose order is known.
//
// README.md explains how the order is found. Cost decides the shape of this file. A process with one thread has one
// ring, and its events go from the decoder to the ledger in batches, without a queue, a fence or a merge. Several rings
// are all decoded first, so that their writers have room again, and then merged up to the watermark; events beyond it
// wait in a queue for each ring.
//
// Space is given back in eighths of a ring. If every record gave its space back, the cache line with `tail` would
// bounce between two cores. If only the end of a round did, a writer that fills its ring during the round would wait
// for no reason.
//
// Chunks that have not been needed for a while go back to the system (trim): the memory is charged to the program. A
// page that is needed again costs the program a fault of about half a microsecond, so each chunk is given back at most
// once in an interval, not after every read.
#include "cli/collect/drain.h"

#include "cli/base/clock.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <climits>

namespace heapprof::cli {

namespace {

constexpr uint64_t kSweepNs = 1'000'000'000;
constexpr size_t kSweepFrom = 256;  // threads in a shared ring
constexpr size_t kMergeBlockLookAhead = 8;
constexpr size_t kMergeSiteLookAhead = 3;
// Threads write in turns, so events of one ring often follow one another. This many or more are applied as a batch.
constexpr size_t kFewInRun = 6;
constexpr size_t kMostInRun = 256;

}  // namespace

Drain::Drain(Arena* arena, DecodeShared* shared, Ledger* ledger, ProcessFiles* files, const DrainOptions& options)
    : arena_(*arena),
      shared_(*shared),
      ledger_(*ledger),
      files_(*files),
      options_(options),
      batch_(DecodeShared::kBatchEvents) {}

void Drain::set_repair_window(uint64_t stamps) {
  options_.repair_window_stamps = stamps;
  if (rings_.size() > 1) ledger_.set_repair_window(stamps);
}

uint64_t Drain::watermark_skips() const {
  uint64_t skips = 0;
  for (const auto& ring : rings_) skips += ring->watermark.skips();
  return skips;
}

uint64_t Drain::events_lost() const {
  uint64_t lost = 0;
  for (uint32_t i = 0; i < rings_.size(); ++i) lost += arena_.header(i).events_lost.load(std::memory_order_relaxed);
  return lost;
}

uint64_t Drain::kernel_launches() const {
  uint64_t launches = arena_.control().kernel_launches.load(std::memory_order_relaxed);
  for (uint32_t i = 0; i < rings_.size(); ++i)
    launches += arena_.header(i).kernel_launches.load(std::memory_order_relaxed);
  return launches;
}

// The agent replaces `granted` and `until` by one instruction, but the collector reads them one after the other, so
// they may be of two moments while the thread runs. After 100 failed attempts the reader gives up.
Amount Drain::counted_down() const {
  Amount sum{};
  for (uint32_t i = 0; i < rings_.size(); ++i) {
    const wire::Countdown& countdown = arena_.header(i).countdown;
    uint64_t granted = countdown.granted.load(std::memory_order_acquire);
    uint64_t until = 0;
    uint64_t seen = granted + 1;
    for (int tries = 0; seen != granted && tries < 100; ++tries) {
      seen = granted;
      until = static_cast<uint64_t>(countdown.until.load(std::memory_order_acquire));
      granted = countdown.granted.load(std::memory_order_acquire);
    }
    sum.bytes += granted - until;
    sum.blocks += countdown.allocations.load(std::memory_order_relaxed);
  }
  return sum;
}

UnwinderCounters Drain::unwinder_counters() const {
  UnwinderCounters sum;
  for (uint32_t i = 0; i < rings_.size(); ++i) {
    const wire::UnwindCounters& ring = arena_.header(i).unwind;
    const auto add = [](uint64_t* to, const std::atomic<uint64_t>& counter) {
      *to += counter.load(std::memory_order_relaxed);
    };
    add(&sum.changed_stacks, ring.changed_stacks);
    add(&sum.second_walks, ring.second_walks);
    add(&sum.whole_walks, ring.whole_walks);
    add(&sum.register_walks, ring.register_walks);
    add(&sum.special_frames, ring.special_frames);
    add(&sum.guessed_frames, ring.guessed_frames);
    add(&sum.shared_rules, ring.shared_rules);
    add(&sum.made_rules, ring.made_rules);
    add(&sum.unkept_rules, ring.unkept_rules);
    add(&sum.forgotten_rules, ring.forgotten_rules);
  }
  return sum;
}

size_t Drain::round(RoundKind kind) {
  const uint64_t round_stamp = read_stamp();
  const uint64_t now_ns = monotonic_ns();
  if (!is_final_) {
    if (now_ns >= next_trim_ns_) trim(now_ns);
    const bool has_any = has_news(round_stamp, now_ns);
    if (has_any && kind == RoundKind::kIfDue && rings_.size() > 1 && pace_.is_early()) {
      pace_.put_off();
      return 0;
    }
    pace_.accept();
    if (!has_any) return 0;
  }
  uint64_t bound = 0;
  bool is_lone_round = false;
  if (rings_.size() == 1 && !is_final_) {
    look(round_stamp, now_ns);
    is_lone_round = is_alone();
    bound = UINT64_MAX;
  }
  if (!is_lone_round) {
    fence(arena_.control().rings_claimed.load(std::memory_order_relaxed));
    add_rings();
    bound = look(round_stamp, now_ns);
  }
  if (active_.empty()) return 0;
  shared_.modules->read(arena_.module_table(), arena_.control().module_bytes.load(std::memory_order_acquire));  // (D)
  arena_.control().modules_read.store(shared_.modules->bytes_read(), std::memory_order_release);                // (G)
  const uint64_t ceiling = read_stamp();
  for (const uint32_t index : active_) sweep_shared(index, now_ns);

  size_t taken = 0;
  if (options_.second != nullptr && !is_final_ && backlog_bytes() >= options_.second_from_bytes) {
    taken = decode_beside_merge(ceiling, is_lone_round);
    for (const uint32_t index : active_) {
      if (rings_[index]->has_new) bound = std::min(bound, observe(index, round_stamp, now_ns));
    }
    if (!is_lone_round) ready_bound_ = bound;
    return taken;
  }
  if (active_.size() == 1) {
    const uint32_t index = active_.front();
    taken = pass_through(index, {rings_[index]->seen_stamp, ceiling}, bound);
    observe(index, round_stamp, now_ns);
    return taken;
  }
  for (const uint32_t index : active_) {
    Ring& ring = *rings_[index];
    if (!ring.has_new) continue;
    taken += decode_all(index, {ring.seen_stamp, ceiling});
    bound = std::min(bound, observe(index, round_stamp, now_ns));
  }
  ledger_.grow_sites(shared_.tree->site_count());
  merge(bound);
  return taken;
}

bool Drain::is_quiet() {
  if (waiting_ != 0 || arena_.control().rings_claimed.load(std::memory_order_acquire) > rings_.size()) return false;
  for (uint32_t i = 0; i < rings_.size(); ++i) {
    const Ring& ring = *rings_[i];
    if (ring.is_readable && arena_.header(i).head.load(std::memory_order_acquire) != ring.decoder.position())
      return false;
  }
  return true;
}

Drain::Mark Drain::mark() {
  Mark mark;
  const uint32_t claimed =
      std::min(arena_.control().rings_claimed.load(std::memory_order_acquire), wire::kMaxRings);  // (C)
  mark.heads.reserve(claimed);
  for (uint32_t i = 0; i < claimed; ++i)
    mark.heads.push_back(arena_.header(i).head.load(std::memory_order_acquire));  // (A)
  return mark;
}

// A queue is ordered by stamp: if the stamp of its first event is larger than the mark's, that event was decoded later.
bool Drain::has_applied(Mark* mark) const {
  if (rings_.size() < mark->heads.size()) return false;
  if (mark->last_stamps.empty()) {
    for (size_t i = 0; i < mark->heads.size(); ++i) {
      const Ring& ring = *rings_[i];
      const auto left = static_cast<int64_t>(mark->heads[i] - ring.decoder.position());
      if (ring.is_readable && !ring.decoder.has_stopped() && left > 0) return false;
    }
    for (size_t i = 0; i < mark->heads.size(); ++i) mark->last_stamps.push_back(rings_[i]->decoder.last_stamp());
  }
  for (size_t i = 0; i < mark->last_stamps.size(); ++i) {
    const EventQueue& queue = rings_[i]->queue;
    if (!queue.empty() && queue.front().stamp <= mark->last_stamps[i]) return false;
  }
  return true;
}

size_t Drain::final_round() {
  is_final_ = true;
  size_t taken = round();
  if (taken == 0 && waiting_ != 0) {  // only if stamps decrease within a ring, which no agent writes
    taken = waiting_;
    merge(UINT64_MAX);
  }
  is_final_ = false;
  return taken;
}

// For the only ring with events: those up to `bound` need no queue.
size_t Drain::pass_through(uint32_t index, const DecodeLimits& limits, uint64_t bound) {
  Ring& ring = *rings_[index];
  ledger_.grow_sites(shared_.tree->site_count());  // waiting events may name new sites
  apply_run(ring, index, bound);
  size_t taken = 0;
  while (ring.decoder.position() != ring.head) {
    if (waiting_ >= kMaxWaiting && ring.queue.size() >= kMinWaiting) break;
    const size_t count = ring.decoder.decode(ring.head, limits, batch_);
    const std::span<const Event> events(batch_.data(), count);
    taken += count;
    ledger_.grow_sites(shared_.tree->site_count());
    size_t ready = 0;
    if (ring.queue.empty()) {
      ready = count;
      while (ready != 0 && events[ready - 1].stamp > bound) --ready;
      ledger_.apply(events.first(ready), index);
    }
    queue_rest(ring, events.subspan(ready));
    release_some(index);
  }
  release(index);
  return taken;
}

size_t Drain::decode_all(uint32_t index, const DecodeLimits& limits) {
  Ring& ring = *rings_[index];
  size_t taken = 0;
  while (ring.decoder.position() != ring.head) {
    if (waiting_ >= kMaxWaiting && ring.queue.size() >= kMinWaiting) break;
    const size_t count = ring.decoder.decode(ring.head, limits, batch_);
    queue_rest(ring, std::span<const Event>(batch_.data(), count));
    taken += count;
    release_some(index);
  }
  release(index);
  return taken;
}

void Drain::queue_rest(Ring& ring, std::span<const Event> events) {
  ring.queue.push(events);
  waiting_ += events.size();
}

// Applies the events of one ring up to `bound`. pre: no other ring has events up to there
void Drain::apply_run(Ring& ring, uint32_t index, uint64_t bound) {
  const std::span<const Event> events = ring.queue.up_to(bound);
  ledger_.apply(events, index);
  waiting_ -= events.size();
  ring.queue.pop(events.size());
}

void Drain::apply_front(Ring& ring, uint32_t index) {
  if (const Event* event = ring.queue.ahead(kMergeBlockLookAhead)) ledger_.prefetch_block(*event);
  if (const Event* event = ring.queue.ahead(kMergeSiteLookAhead)) ledger_.prefetch_site(*event);
  const Event event = ring.queue.front();
  ring.queue.pop();
  --waiting_;
  ledger_.apply(event, index);
}

void Drain::merge(uint64_t bound) {
  heap_.clear();
  for (const uint32_t index : active_) {
    const EventQueue& queue = rings_[index]->queue;
    if (!queue.empty() && queue.front().stamp <= bound) heap_.push({queue.front().stamp, index});
  }
  while (!heap_.empty()) {
    const uint32_t index = heap_.top().ring;
    Ring& ring = *rings_[index];
    if (heap_.size() == 1) return apply_run(ring, index, bound);
    const uint64_t last_stamp = std::min(bound, heap_.last_stamp_of_run());
    const std::span<const Event> run = ring.queue.run_up_to(last_stamp, kMostInRun);
    if (run.size() >= kFewInRun) {
      ledger_.apply(run, index);
      waiting_ -= run.size();
      ring.queue.pop(run.size());
    } else {
      for (size_t i = run.size(); i != 0; --i) apply_front(ring, index);
    }
    if (ring.queue.empty() || ring.queue.front().stamp > bound) {
      heap_.pop();
    } else {
      heap_.replace_top({ring.queue.front().stamp, index});
    }
  }
}

// Threads of a shared ring record nothing when they end; without this sweep their slots would pile up.
void Drain::sweep_shared(uint32_t index, uint64_t now_ns) {
  Ring& ring = *rings_[index];
  ring.decoder.set_shared(arena_.header(index).shared.load(std::memory_order_relaxed) != 0);
  if (ring.decoder.sharing_threads() < kSweepFrom || now_ns - ring.swept_ns < kSweepNs) return;
  ring.swept_ns = now_ns;
  const size_t count = ring.decoder.leave_gone(batch_, [this](uint32_t id) { return files_.is_thread_gone(id); });
  queue_rest(ring, std::span<const Event>(batch_.data(), count));
}

// Gives the space of decoded records back to the producer.
void Drain::release(uint32_t index) {
  Ring& ring = *rings_[index];
  if (ring.released == ring.decoder.position()) return;
  ring.released = ring.decoder.position();
  wire::RingHeader& header = arena_.header(index);
  header.tail.store(ring.released, std::memory_order_seq_cst);
  if (const uint32_t finished = ring.decoder.take_finished())
    header.chunks.fetch_and(~uint64_t{finished}, std::memory_order_seq_cst);  // (E)
  wake(&header);
}

// The producer stores `waiting`, fences, then loads `chunks` and `tail`. So either the producer sees the new space, or
// the collector sees `waiting`.
void Drain::wake(wire::RingHeader* header) {
  if (header->waiting.load(std::memory_order_seq_cst) == 0) return;
  header->wake_sequence.fetch_add(1, std::memory_order_release);
  ::syscall(SYS_futex, &header->wake_sequence, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

// Gives chunks that are empty and were not used in the last interval back to the system. While a chunk's bit is set in
// the high half of `chunks`, no producer takes the chunk. If a producer changes the bits at that moment, the ring is
// busy, and a later trim tries again.
void Drain::trim(uint64_t now_ns) {
  next_trim_ns_ = now_ns + options_.trim_interval_ns;
  for (uint32_t i = 0; i < rings_.size(); ++i) {
    wire::RingHeader& header = arena_.header(i);
    const uint32_t used = rings_[i]->decoder.take_used();
    const uint32_t unused = header.resident.load(std::memory_order_relaxed) & wire::ring_chunks(i) & ~used;
    uint64_t chunks = header.chunks.load(std::memory_order_acquire);
    const uint32_t given = unused & ~static_cast<uint32_t>(chunks | chunks >> 32);
    if (given == 0 || !rings_[i]->is_readable) continue;
    if (!header.chunks.compare_exchange_strong(chunks, chunks | uint64_t{given} << 32, std::memory_order_acq_rel))
      continue;
    if (arena_.give_back(i, given)) {
      header.resident.fetch_and(~given, std::memory_order_relaxed);
      arena_.control().resident_chunks.fetch_sub(static_cast<uint32_t>(std::popcount(given)),
                                                 std::memory_order_relaxed);
    }
    header.chunks.fetch_and(~(uint64_t{given} << 32), std::memory_order_seq_cst);  // (E)
    wake(&header);
  }
}

}  // namespace heapprof::cli
