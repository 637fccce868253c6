// agent/process/question.cc: the word of a question goes through the states free, being written, asked, answered, free.
//
// Each step is one compare and swap on the word, which also counts the askers. If an asker does not take its answer for
// seconds, the collector frees the slot, because the asker may be gone. A thread that comes back from a long sleep then
// finds by the count that the answer is no longer its own.
#include "agent/process/question.h"

#include "agent/libc/raw.h"
#include "agent/process/arena.h"
#include "agent/process/state.h"

#include <stddef.h>
#include <string.h>

#include <atomic>

namespace heapprof::agent {

namespace {

constexpr long kSleepNs = 5'000'000;              // then check whether the collector is alive
constexpr uint64_t kMostStillNs = 5'000'000'000;  // on a busy machine it may pause without being stopped

wire::Question* questions() {
  return reinterpret_cast<wire::Question*>(reinterpret_cast<unsigned char*>(g_control) + wire::kQuestionsOff);
}

// False in a child that a handler has forked since: what it sees of the arena is its parent's, or another one.
bool is_same_session(uint32_t session) { return g_fork_page.state == AgentState::kOn && g_session == session; }

bool can_be_answered(uint32_t session) {
  return is_same_session(session) && !is_collector_dead() &&
         g_control->detach.load(std::memory_order_relaxed) == wire::Detach::kNo;
}

// Limits the wait for a collector that still has to read what came before the question. Ends when the collector has
// made no progress for too long.
class Patience {
 public:
  bool is_left() {
    const uint64_t now_ns = sys_monotonic_ns();
    const uint64_t heartbeat = g_control->heartbeat.load(std::memory_order_relaxed);
    if (heartbeat != heartbeat_) still_end_ns_ = now_ns + kMostStillNs;
    heartbeat_ = heartbeat;
    return now_ns < still_end_ns_ && now_ns < end_ns_;
  }
  uint64_t end_ns() const { return end_ns_; }

 private:
  uint64_t heartbeat_ = g_control->heartbeat.load(std::memory_order_relaxed);
  uint64_t still_end_ns_ = sys_monotonic_ns() + kMostStillNs;
  uint64_t end_ns_ = still_end_ns_ - kMostStillNs + wire::kMostAskingNs;
};

// questions that look up names take long; the other slots serve other questions beside them
constexpr uint32_t kNamingSlots = wire::kQuestions / 2;
constexpr uint32_t kTicketMask = ~uint32_t{0} >> 2;

// Claims a free slot, which only this thread writes from now on; nullptr: no slot became free in time.
wire::Question* claim(uint32_t session, uint32_t slots, Patience* patience, uint32_t* ticket) {
  for (uint32_t round = 0; can_be_answered(session) && patience->is_left(); ++round) {
    for (uint32_t i = 0; i < slots; ++i) {
      wire::Question& question = questions()[i];
      uint32_t word = question.word.load(std::memory_order_relaxed);
      if (wire::question_state(word) != wire::QuestionState::kFree) continue;
      *ticket = ((word >> 2) + 1) & kTicketMask;
      const uint32_t mine = wire::question_word(*ticket, wire::QuestionState::kWriting);
      if (question.word.compare_exchange_strong(word, mine, std::memory_order_acquire)) return &question;
    }
    g_control->questions_asked.fetch_add(1,
                                         std::memory_order_release);  // the collector looks for abandoned slots
    let_others_run(round);
  }
  return nullptr;
}

bool is_in_state(const wire::Question& question, uint32_t ticket, wire::QuestionState state) {
  return question.word.load(std::memory_order_acquire) == wire::question_word(ticket, state);  // (K)
}

// Moves the slot from one state to the next. False: the slot is no longer this thread's.
bool move(wire::Question* question, uint32_t ticket, wire::QuestionState from, wire::QuestionState to) {
  uint32_t word = wire::question_word(ticket, from);
  return question->word.compare_exchange_strong(word, wire::question_word(ticket, to), std::memory_order_acq_rel);
}

void fill_in(const Asking& asking, wire::Question* question) {
  question->kind = asking.kind;
  question->ring = asking.thread.ring;
  question->thread_id = asking.thread.thread_id;
  question->measurement = asking.measurement;
  question->measure = asking.measure;
  size_t length = 0;
  for (; asking.device[length] != 0 && length + 1 < sizeof question->device; ++length)
    question->device[length] = asking.device[length];
  question->device[length] = 0;
}

void take(const wire::Question& question, Given* given) {
  given->statistics = question.statistics;
  given->measurement = question.measurement;
  if (given->text_room == 0) return;
  const char* const text = question_text(static_cast<uint32_t>(&question - questions()));
  size_t length = question.text_bytes < wire::kTextBytes ? question.text_bytes : wire::kTextBytes;
  if (length >= given->text_room) length = given->text_room - 1;
  if (length < question.text_bytes) {
    while (length != 0 && text[length - 1] != '\n') --length;
  }
  memcpy(given->text, text, length);
  given->text[length] = 0;
}

}  // namespace

Answer ask(const Asking& asking, Given* given) {
  using State = wire::QuestionState;
  if (g_control == nullptr || !may_ask_kernel()) return Answer::kNone;
  const uint32_t session = g_session;
  const bool is_naming = asking.kind == wire::QuestionKind::kExplain;
  Patience patience;
  uint32_t ticket = 0;
  wire::Question* const question = claim(session, is_naming ? kNamingSlots : wire::kQuestions, &patience, &ticket);
  if (question == nullptr) return Answer::kNone;
  fill_in(asking, question);
  if (!is_same_session(session) || !move(question, ticket, State::kWriting, State::kAsked))
    return Answer::kNone;  // (J)
  g_control->questions_asked.fetch_add(1, std::memory_order_release);
  while (is_in_state(*question, ticket, State::kAsked) && can_be_answered(session) && patience.is_left())
    sys_futex_wait(&question->word, wire::question_word(ticket, State::kAsked), kSleepNs);
  if (!is_same_session(session) || move(question, ticket, State::kAsked, State::kFree))
    return Answer::kNone;  // taken back
  // The collector finishes an answer that it has begun: wait for that, unless it was stopped just there.
  const uint64_t last_ns = is_naming ? patience.end_ns() : sys_monotonic_ns() + kMostStillNs;
  const auto is_being_answered = [&] {
    return is_in_state(*question, ticket, State::kWriting) && can_be_answered(session);
  };
  for (uint32_t round = 0; is_being_answered() && sys_monotonic_ns() < last_ns; ++round) {
    if (is_naming) {
      sys_futex_wait(&question->word, wire::question_word(ticket, State::kWriting), kSleepNs);
    } else {
      let_others_run(round);
    }
  }
  if (!is_same_session(session) || !is_in_state(*question, ticket, State::kAnswered)) return Answer::kNone;
  const bool is_known = question->is_known != 0;
  take(*question, given);
  if (!is_same_session(session) || !move(question, ticket, State::kAnswered, State::kFree)) return Answer::kNone;
  return is_known ? Answer::kGiven : Answer::kUnknown;
}

}  // namespace heapprof::agent
