// cli/collect/questions.cc: questions that come at the same time are answered together, after one round.
//
// The collector sleeps for up to 2 ms between two rounds, and the program cannot wake it. So while questions come, the
// collector sleeps for less time, because programs ask before and after the work that they measure.
#include "cli/collect/questions.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

namespace heapprof::cli {

namespace {

constexpr uint64_t kBusyNs = 20'000'000;    // for how long questions are expected after a question
constexpr uint64_t kBusySleepNs = 150'000;  // the longest sleep in that time
constexpr uint64_t kLeftNs = 3'000'000'000;
constexpr size_t kMostNaming = 2 * wire::kQuestions;  // replies that are due, including those to questions that were
                                                      // taken back

// The wire's number of a device; kHostDevice: no device has that name.
uint32_t device_number(std::string_view name) {
  for (uint32_t device = wire::kHostDevice + 1; device <= wire::kLastCudaDevice; ++device) {
    if ((wire::is_device(device) || wire::is_mapping(device)) && device_name(device) == name) return device;
    if (wire::has_inner(device) && device_name(inner_number(device)) == name) return inner_number(device);
  }
  return wire::kHostDevice;
}

wire::DeviceStatistics statistics_of(const SiteBook& sites, const Amount& total) {
  const SiteBook::Totals& totals = sites.totals();
  const Amount phase_peak = sites.phase_peak();
  return {totals.live.bytes, totals.live.blocks, totals.peak.bytes, totals.peak.blocks,
          phase_peak.bytes,  phase_peak.blocks,  total.bytes,       total.blocks};
}

// The books of a device; nullptr: it has had no memory.
SiteBook* sites_of(uint32_t device, Ledger* ledger) {
  if (wire::is_mapping(device)) {
    DeviceBook* const book = ledger->mappings().book(device);
    return book == nullptr ? nullptr : &book->sites;
  }
  const auto at = ledger->devices().books().find(device);
  return at == ledger->devices().books().end() ? nullptr : &at->second->sites;
}

}  // namespace

void QuestionService::find_waiting() {
  waiting_count_ = 0;
  for (uint32_t i = 0; i < wire::kQuestions; ++i) {
    const uint32_t word = arena_.question(i).word.load(std::memory_order_acquire);  // (J)
    if (wire::question_state(word) == wire::QuestionState::kAsked) waiting_[waiting_count_++] = {i, word};
  }
}

// Whether any thread that asked has not taken its question back.
bool QuestionService::is_any_asked() const {
  const std::span<const Waiting> waiting = std::span(waiting_).first(waiting_count_);
  return std::any_of(waiting.begin(), waiting.end(), [this](const Waiting& one) {
    return arena_.question(one.index).word.load(std::memory_order_relaxed) == one.word;
  });
}

// Frees slots whose answer was not fetched for 3 s: the thread that asked is gone. A slot that is being written is left
// alone.
void QuestionService::free_slots_left(uint64_t now_ns) {
  for (uint32_t i = 0; i < wire::kQuestions; ++i) {
    std::atomic<uint32_t>& slot = arena_.question(i).word;
    uint32_t word = slot.load(std::memory_order_relaxed);
    if (word != words_[i] || since_ns_[i] == 0) {
      words_[i] = word;
      since_ns_[i] = now_ns;
    } else if (wire::question_state(word) == wire::QuestionState::kAnswered && now_ns - since_ns_[i] > kLeftNs) {
      slot.compare_exchange_strong(word, wire::question_word(word >> 2, wire::QuestionState::kFree),
                                   std::memory_order_relaxed);
    }
  }
}

bool QuestionService::look(Drain* drain, uint64_t now_ns) {
  if (waiting_count_ != 0) {
    if (now_ns - asked_ns_ < wire::kMostAskingNs && is_any_asked()) return true;
    waiting_count_ = 0;  // no thread waits for these any more
  }
  const uint32_t asked = arena_.control().questions_asked.load(std::memory_order_acquire);  // (J)
  if (asked == seen_) return false;
  seen_ = asked;
  asked_ns_ = now_ns;
  find_waiting();
  free_slots_left(now_ns);
  if (waiting_count_ == 0) return false;
  mark_ = drain->mark();
  deferred_until_.clear();
  return true;
}

// A deferred event waits for one that was published before it, in a ring that was perhaps read earlier than its own. So
// everything that is published until now is applied as well. If the deferred event still waits then, there is no such
// event.
bool QuestionService::is_settled(Drain* drain, Ledger* ledger) {
  if (!drain->has_applied(&mark_)) return false;
  if (!ledger->has_parked()) return true;
  if (deferred_until_.empty()) {
    deferred_until_ = mark_.last_stamps;
    mark_ = drain->mark();
    return false;
  }
  ledger->give_up_until(deferred_until_);
  return true;
}

// False: there is no device of that name.
bool QuestionService::answer_of_device(wire::Question* question, Ledger* ledger, const ThreadTable& threads,
                                       wire::DeviceStatistics* statistics) {
  std::array<char, sizeof question->device> text{};
  std::memcpy(text.data(), question->device, text.size() - 1);
  const std::string_view name = text.data();
  const wire::QuestionKind kind = question->kind;
  const uint64_t measurement = question->measurement;
  uint32_t device = wire::kHostDevice;
  SiteBook* sites = nullptr;
  Amount total{};
  if (name == "host") {
    sites = &ledger->host_sites();
    const ThreadSlot sum = threads.sum();  // there are fewer threads than sites
    total = {sum.total_bytes, sum.allocations};
  } else {
    device = device_number(name);
    if (device == wire::kHostDevice) return false;
    sites = sites_of(device, ledger);
    if (sites != nullptr) total = sites->total();
  }
  if (sites != nullptr) *statistics = statistics_of(*sites, total);
  question->measurement = 0;
  switch (kind) {
    case wire::QuestionKind::kDevicePhase:
      if (sites != nullptr) measurements_.begin_phase(device, sites);
      break;
    case wire::QuestionKind::kBeginMeasurement:
    case wire::QuestionKind::kBeginMeasuredPhase:
      question->measurement = measurements_.begin(device, sites, kind == wire::QuestionKind::kBeginMeasuredPhase);
      break;
    case wire::QuestionKind::kEndMeasurement: measurements_.end(measurement, device, sites); break;
    default: break;
  }
  return true;
}

// False: the measurement is unknown, or more questions are under way than an agent asks.
bool QuestionService::want_names(const NamesWanted& wanted) {
  if (wanted.measure > wire::Measure::kLive || naming_ >= kMostNaming || changes_of(wanted) == nullptr) return false;
  try {
    wanted_.push_back(wanted);
  } catch (const std::bad_alloc&) {
    return false;
  }
  ++naming_;
  return true;
}

void QuestionService::reply(const NamesWanted& wanted, std::string_view text) {
  --naming_;
  write_text(wanted, text);
}

void QuestionService::write_text(const NamesWanted& wanted, std::string_view text) {
  const auto [index, word, measure, measurement] = wanted;
  wire::Question& question = arena_.question(index);
  if (question.word.load(std::memory_order_relaxed) != word) return;
  const size_t length = std::min<size_t>(text.size(), wire::kTextBytes);
  std::memcpy(arena_.text(index), text.data(), length);
  question.text_bytes = static_cast<uint32_t>(length);
  question.is_known = text.empty() ? 0 : 1;
  uint32_t expected = word;
  const uint32_t answered = wire::question_word(word >> 2, wire::QuestionState::kAnswered);
  question.word.compare_exchange_strong(expected, answered, std::memory_order_release);  // (K)
  ::syscall(SYS_futex, &question.word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void QuestionService::answer_one(const Waiting& one, const Drain& drain, Ledger* ledger, const ThreadTable& threads) {
  wire::Question& question = arena_.question(one.index);
  uint32_t word = one.word;
  const uint32_t taken = wire::question_word(word >> 2, wire::QuestionState::kWriting);
  if (!question.word.compare_exchange_strong(word, taken, std::memory_order_acq_rel)) return;  // it was taken back
  const wire::QuestionKind kind = question.kind;
  const uint32_t ring = question.ring;
  const uint32_t thread_id = question.thread_id;
  if (kind == wire::QuestionKind::kExplain) {
    const NamesWanted wanted = {one.index, taken, question.measure, question.measurement};
    if (!want_names(wanted)) write_text(wanted, "");
    return;
  }
  wire::Statistics statistics{};
  bool is_known = true;
  if (kind == wire::QuestionKind::kThread) {
    const ThreadSlot slot = threads.at(drain.thread_of(ring));
    is_known = slot.id == thread_id;
    if (is_known) statistics.thread = {slot.total_bytes, slot.allocations, slot.frees};
  } else {
    is_known = answer_of_device(&question, ledger, threads, &statistics.device);
  }
  question.statistics = statistics;
  question.is_known = is_known ? 1 : 0;
  const uint32_t answered = wire::question_word(one.word >> 2, wire::QuestionState::kAnswered);
  word = taken;
  question.word.compare_exchange_strong(word, answered, std::memory_order_release);  // (K)
  ::syscall(SYS_futex, &question.word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void QuestionService::answer(Drain* drain, Ledger* ledger, const ThreadTable& threads) {
  if (waiting_count_ == 0 || !is_settled(drain, ledger)) return;
  for (const Waiting& one : std::span(waiting_).first(waiting_count_)) answer_one(one, *drain, ledger, threads);
  waiting_count_ = 0;
}

uint64_t QuestionService::next_look_ns(uint64_t next_ns, uint64_t now_ns) const {
  const bool is_busy = waiting_count_ != 0 || (asked_ns_ != 0 && now_ns - asked_ns_ < kBusyNs);
  return is_busy ? std::min(next_ns, now_ns + kBusySleepNs) : next_ns;
}

}  // namespace heapprof::cli
