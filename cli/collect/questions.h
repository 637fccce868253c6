// cli/collect/questions.h: answers what the program asks of its own numbers (shared/include/heapprof/heapprof.h).
//
// Guarantees
//  - An answer counts every event that was published before the question, also one that waits for another (parking.h):
//    what was published before it is in the books by then, so what it waits for was not recorded.
//  - Nobody who asks keeps the rings from being read, whatever is asked. Who no longer waits is not answered, and what
//    it asked for is not done.
// Context:  the thread that reads the rings: look() before a round, answer() behind it.
// Trust:    everything in the arena is hostile: a false question gets a true answer, or none.
// Order:    (J) questions_asked and Question::word are acquire-loaded; (K) Question::word is release-stored.
// Cost:     a load a round while nobody asks.
#pragma once

#include "cli/collect/arena.h"
#include "cli/collect/books/ledger.h"
#include "cli/collect/books/measurements.h"
#include "cli/collect/drain.h"
#include "cli/collect/rings/thread_table.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace heapprof::cli {

// A question whose answer needs names, which take longer than the rings can wait. A program that asks only
// once it is answered, as agents do, has few of them under way.
struct NamesWanted {
  uint32_t index = 0;  // of the slot, which is being written until reply()
  uint32_t word = 0;
  wire::Measure measure = wire::Measure::kPeak;
  uint64_t measurement = 0;
};

class QuestionDesk {
 public:
  // first_measurement: the id of the first one.
  QuestionDesk(Arena* arena, uint64_t first_measurement) : arena_(*arena), measurements_(first_measurement) {}

  // True: somebody waits for an answer, so the next round has to take what all rings have.
  bool look(Drain* drain, uint64_t now_ns);
  // Answers, if what they count is in the books by now.
  void answer(Drain* drain, Ledger* ledger, const ThreadTable& threads);
  // When to look again, if that is sooner than `next_ns`: who has asked asks again soon.
  uint64_t next_look_ns(uint64_t next_ns, uint64_t now_ns) const;

  bool wants_names() const { return !wanted_.empty(); }
  std::vector<NamesWanted> take_wanted() { return std::exchange(wanted_, {}); }
  // Answers one of these, from whichever process shares the arena; an empty text: it cannot be answered. Only the first
  // reply counts.
  void reply(const NamesWanted& wanted, std::string_view text);
  // nullptr: it was given up since.
  const std::vector<SiteChange>* changes_of(const NamesWanted& wanted) const {
    return measurements_.changes(wanted.measurement, wanted.measure == wire::Measure::kPeak);
  }
  // Of what is kept for measurements.
  uint64_t bytes() const { return measurements_.bytes(); }

 private:
  struct Waiting {
    uint32_t index;
    uint32_t word;
  };

  bool is_settled(Drain* drain, Ledger* ledger);
  bool want_names(const NamesWanted& wanted);
  void write_text(const NamesWanted& wanted, std::string_view text);
  bool answer_of_device(wire::Question* question, Ledger* ledger, const ThreadTable& threads,
                        wire::DeviceStatistics* statistics);
  void answer_one(const Waiting& one, const Drain& drain, Ledger* ledger, const ThreadTable& threads);
  void find_waiting();
  bool is_any_asked() const;
  void free_slots_left(uint64_t now_ns);

  Arena& arena_;
  uint32_t seen_ = 0;      // questions_asked
  uint64_t asked_ns_ = 0;  // when that was found to have grown; 0: never
  std::array<Waiting, wire::kQuestions> waiting_{};
  size_t waiting_count_ = 0;
  Drain::Mark mark_;  // what they count
  // Where events were parked then: the last stamps of that; the mark is a later one.
  std::vector<uint64_t> parked_until_;
  std::array<uint32_t, wire::kQuestions> words_{};  // as they stood when
  std::array<uint64_t, wire::kQuestions> since_ns_{};
  Measurements measurements_;
  std::vector<NamesWanted> wanted_;
  size_t naming_ = 0;  // replies that are due
};

}  // namespace heapprof::cli
