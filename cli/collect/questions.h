// cli/collect/questions.h: answers the program's questions about its own numbers (shared/include/heapprof/heapprof.h).
//
// Guarantees
//  - An answer counts every event that was published before the question, deferred events (reorder_buffer.h) included.
//    If an event is still deferred when all events published before the question are in the books, the event that it
//    waits for was not recorded.
//  - The rings are read while any question is being answered. If a thread no longer waits, its question is neither
//    answered nor carried out.
// Context:  the thread that reads the rings: look() before a round, answer() after it.
// Trust:    everything in the arena is hostile: a forged question gets a true answer, or none.
// Order:    (J) questions_asked and Question::word are acquire-loaded; (K) Question::word is release-stored.
// Cost:     a load a round while there is no question.
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

// A question whose answer needs names, which take longer than the rings can wait. An agent asks the next such question
// only when the previous one was answered, so few are under way.
struct NamesWanted {
  uint32_t index = 0;  // of the slot, which is being written until reply()
  uint32_t word = 0;
  wire::Measure measure = wire::Measure::kPeak;
  uint64_t measurement = 0;
};

class QuestionService {
 public:
  // first_measurement: the id of the first measurement.
  QuestionService(Arena* arena, uint64_t first_measurement) : arena_(*arena), measurements_(first_measurement) {}

  // True: a thread waits for an answer, so the next round has to take the records of all rings.
  bool look(Drain* drain, uint64_t now_ns);
  // Answers the questions, if the events that they count are in the books by now.
  void answer(Drain* drain, Ledger* ledger, const ThreadTable& threads);
  // When to look again, if that is sooner than `next_ns`: one question is often followed by another.
  uint64_t next_look_ns(uint64_t next_ns, uint64_t now_ns) const;

  bool wants_names() const { return !wanted_.empty(); }
  std::vector<NamesWanted> take_wanted() { return std::exchange(wanted_, {}); }
  // Answers one of these, from any process that shares the arena; an empty text: it cannot be answered. Only the first
  // reply counts.
  void reply(const NamesWanted& wanted, std::string_view text);
  // nullptr: the measurement was given up since.
  const std::vector<SiteChange>* changes_of(const NamesWanted& wanted) const {
    return measurements_.changes(wanted.measurement, wanted.measure == wire::Measure::kPeak);
  }
  // The memory of the measurements.
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
  uint64_t asked_ns_ = 0;  // when questions_asked was found to have grown; 0: never
  std::array<Waiting, wire::kQuestions> waiting_{};
  size_t waiting_count_ = 0;
  Drain::Mark mark_;  // what the answers count
  // The last stamps of the first mark, if events were deferred then; mark_ is then a later one.
  std::vector<uint64_t> deferred_until_;
  std::array<uint32_t, wire::kQuestions> words_{};  // the slots' words, and since when they have them
  std::array<uint64_t, wire::kQuestions> since_ns_{};
  Measurements measurements_;
  std::vector<NamesWanted> wanted_;
  size_t naming_ = 0;  // number of replies that are due
};

}  // namespace heapprof::cli
