// shared/questions.h: how a program asks for its own statistics, in slots of the control page.
#pragma once

#include "shared/wire.h"

namespace heapprof::wire {

// What the program asks for (heapprof/heapprof.h).
enum class QuestionKind : uint32_t {
  kDevice = 1,       // the statistics of a device
  kDevicePhase = 2,  // the same, and a new phase begins
  kThread = 3,       // the statistics of the thread whose ring is Question::ring
  // As kDevice and kDevicePhase; from here on the collector keeps the numbers of each site.
  kBeginMeasurement = 4,
  kBeginMeasuredPhase = 5,
  kEndMeasurement = 6,  // as kDevice, and the measurement ends
  kExplain = 7,         // the sites of a measurement that has ended, by Question::measure, as text
};

// What a measurement counts for each site, in bytes or blocks, between its begin and its end. Numbers are part of
// heapprof/heapprof.h.
enum class Measure : uint32_t {
  kPeak = 1,         // live at the peak beyond those that were live at the begin
  kTotalBytes = 2,   // allocated
  kTotalBlocks = 3,  // the number of allocations
  kLive = 4,         // live at the end beyond those that were live at the begin
};

// The low two bits of Question::word; the rest counts the claims of the slot.
enum class QuestionState : uint32_t {
  kFree = 0,
  kWriting = 1,   // a thread writes the question, or the collector the answer
  kAsked = 2,     // the collector's turn
  kAnswered = 3,  // the asking thread's turn
};
constexpr QuestionState question_state(uint32_t word) { return static_cast<QuestionState>(word & 3); }
constexpr uint32_t question_word(uint32_t ticket, QuestionState state) {
  return ticket << 2 | static_cast<uint32_t>(state);
}

struct DeviceStatistics {
  uint64_t live_bytes;
  uint64_t live_blocks;
  uint64_t peak_bytes;
  uint64_t peak_blocks;       // at the peak of bytes
  uint64_t phase_peak_bytes;  // since the phase began, including what was live then
  uint64_t phase_peak_blocks;
  uint64_t total_bytes;
  uint64_t total_blocks;
};
struct ThreadStatistics {
  uint64_t total_bytes;
  uint64_t total_blocks;
  uint64_t freed_blocks;
};

union Statistics {
  DeviceStatistics device;
  ThreadStatistics thread;
};

struct alignas(128) Question {
  std::atomic<uint32_t> word;  // both sides, by compare and swap: a QuestionState and a ticket; pairs with (J), (K)
  QuestionKind kind;           // agent
  uint32_t ring;               // agent
  uint32_t thread_id;          // agent: as in the ring's header
  uint32_t is_known;           // collector: 0: no such device, or nothing is known of that thread
  char device[28];             // agent: its name; ends with a zero byte
  Statistics statistics;       // collector
  uint64_t measurement;        // its id: collector, in the answer to its begin (0: no measurement); else agent
  Measure measure;             // agent
  uint32_t text_bytes;         // collector: of the text, in the slot of this index at kTextsOff
};
static_assert(sizeof(Question) == 128 && offsetof(Question, statistics) == 48 &&
              offsetof(Question, measurement) == 112);
static_assert(kQuestionsOff + kQuestions * sizeof(Question) == kControlBytes);

}  // namespace heapprof::wire
