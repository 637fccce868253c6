// cli/collect/drain.h: moves events from the rings of one process to its ledger, in order.
//
// One ring, which most programs have, goes straight through in batches. Several are decoded up to their heads first, so
// that their producers have space again, and then merged by stamp up to the watermark; events beyond it wait here.
//
// While there is a backlog, a second thread may merge and apply what was decoded before, as this one decodes (stages
// one and two). It is idle whenever round() returns, but some decoded events may then wait for the next round.
//
// Guarantees
//  - No event is lost or taken twice. If a ring has a record that no agent writes, the rest of it is skipped unread,
//    and that is reported.
//  - Waiting events take 8 MiB and 8 KiB a ring at most: beyond that, rings stay full and their producers wait.
//  - No fence interrupts a process while its rings are idle (process_collector_test.cc).
// Trust:    everything in the arena is hostile.
// Order:    (A) head, (B) in_event, (C) rings_claimed, (D) module_bytes are acquire-loaded, (E) chunks and (G)
//           modules_read are released here; shared/README.md has the pairs.
// Context:  one thread, which lends the queues and the ledger to the second one within round().
#pragma once

#include "cli/collect/arena.h"
#include "cli/collect/books/ledger.h"
#include "cli/collect/process_files.h"
#include "cli/collect/rings/event_queue.h"
#include "cli/collect/rings/pace.h"
#include "cli/collect/rings/ring_decoder.h"
#include "cli/collect/rings/ring_merge.h"
#include "cli/collect/rings/second_thread.h"
#include "cli/collect/rings/watermark.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace heapprof::cli {

struct DrainOptions {
  wire::ClockMode clock_mode;
  wire::FenceMode fence_mode;
  uint64_t repair_window_stamps;
  uint64_t patience_ns;        // see watermark.h
  SecondThread* second;        // nullptr: none
  uint64_t second_from_bytes;  // how many bytes of records must wait before it is used
  uint64_t trim_interval_ns;   // chunks that were not used for so long are given back to the system
};

class Drain {
 public:
  Drain(Arena* arena, DecodeShared* shared, Ledger* ledger, ProcessFiles* files, const DrainOptions& options);

  // Takes what is published. Returns the number of events taken from the rings.
  size_t round(RoundKind kind = RoundKind::kAll);
  // When the next round is due, by monotonic_ns(): before a ring runs full.
  uint64_t next_round_ns() const { return pace_.next_ns(); }
  // The same when no thread writes any more: no event has to wait for the watermark.
  size_t final_round();

  // Whether every published event was taken and applied.
  bool is_quiet();

  // What was published at some moment.
  struct Mark {
    std::vector<uint64_t> heads;        // by ring
    std::vector<uint64_t> last_stamps;  // of the events up to `heads`; filled in when these are decoded
  };
  Mark mark();
  // Whether the books have all events up to the mark. pre: a round of kAll
  bool has_applied(Mark* mark) const;
  // Slot of the thread that wrote to this ring last; 0: none.
  uint32_t thread_of(uint32_t ring) const { return ring < rings_.size() ? rings_[ring]->decoder.thread() : 0; }

  // Applies the decoded events that are known to be in order.
  void apply_ready();

  void set_repair_window(uint64_t stamps);
  uint64_t watermark_skips() const;
  bool has_unreadable_rings() const { return unreadable_rings_ != 0; }
  uint64_t events_lost() const;                // by all rings
  UnwinderCounters unwinder_counters() const;  // of all rings
  uint64_t kernel_launches() const;            // likewise
  Amount counted_down() const;                 // exact: what began in all rings while blocks were sampled

 private:
  // In events of 32 bytes. If a thread loses its core inside an event, the other threads' events wait here, and a
  // question (questions.h) is answered only when all of them are applied. A limit eight times as large made `stress` no
  // faster, with 2 to 64 threads on two cores.
  static constexpr size_t kMaxWaiting = 1u << 18;
  static constexpr size_t kMinWaiting = 256;      // of one ring, so that each ring can always be read further
  static constexpr size_t kChunkEvents = 16'384;  // decoded while the second thread applies the previous ones

  struct Ring {
    Ring(const uint64_t* words, uint64_t bytes, DecodeShared* shared, uint64_t patience_ns)
        : decoder(words, bytes, shared), watermark(patience_ns) {}

    RingDecoder decoder;
    RingWatermark watermark;
    EventQueue queue;
    uint64_t head = 0;        // as seen in this round
    uint64_t released = 0;    // the value last stored in `tail`
    uint64_t seen_stamp = 0;  // W of the previous round: records beyond the head of that round are younger
    bool in_event = false;
    bool is_readable = true;
    bool has_new = false;  // in this round
    size_t queued = 0;     // the queue's size when the second thread got it
    size_t fresh = 0;      // events in fresh_
    uint64_t swept_ns = 0;
  };

  uint64_t read_stamp() const;
  void fence(uint32_t rings);
  void add_rings();
  bool is_alone() const;
  bool has_news(uint64_t round_stamp, uint64_t now_ns);
  uint64_t look(uint64_t round_stamp, uint64_t now_ns);
  uint64_t observe(uint32_t index, uint64_t round_stamp, uint64_t now_ns);
  size_t pass_through(uint32_t index, const DecodeLimits& limits, uint64_t bound);
  size_t decode_all(uint32_t index, const DecodeLimits& limits);
  uint64_t backlog_bytes() const;
  size_t decode_beside_merge(uint64_t ceiling, bool is_lone);
  void start_merge();
  bool decode_chunk(uint64_t ceiling, size_t waiting);
  void queue_fresh();
  void apply_run(Ring& ring, uint32_t index, uint64_t bound);
  void queue_rest(Ring& ring, std::span<const Event> events);
  void merge(uint64_t bound);
  void apply_front(Ring& ring, uint32_t index);
  void release(uint32_t index);
  // Releases space in eighths of a ring while many records are decoded.
  void release_some(uint32_t index) {
    const Ring& ring = *rings_[index];
    if (ring.decoder.position() - ring.released >= wire::ring_bytes(index) / 8) release(index);
  }
  void wake(wire::RingHeader* header);
  void trim(uint64_t now_ns);
  void sweep_shared(uint32_t index, uint64_t now_ns);

  Arena& arena_;
  DecodeShared& shared_;
  Ledger& ledger_;
  ProcessFiles& files_;
  DrainOptions options_;
  std::vector<std::unique_ptr<Ring>> rings_;
  std::vector<uint32_t> active_;  // rings with new records or waiting events in this round
  std::vector<Event> batch_;
  MergeHeap heap_;
  size_t waiting_ = 0;        // events in all queues
  uint64_t ready_bound_ = 0;  // everything up to this stamp has been decoded
  std::vector<Event> fresh_;  // decoded while the second thread has the queues, by ring in the order of active_
  size_t fresh_count_ = 0;
  uint64_t unreadable_rings_ = 0;
  uint64_t next_trim_ns_ = 0;
  Pace pace_;
  bool is_final_ = false;
};

}  // namespace heapprof::cli
