// agent/process/question.h: asks the collector about this process's own numbers, and waits for the answer.
//
// Guarantees
//  - The answer counts every event that came before the question: this thread's, and other threads' events that this
//    thread knows to have ended.
//  - The wait ends with the answer, or when the collector dies. It also ends after 5 s in which the collector made no
//    progress (5 more if the collector is stopped in the middle of the answer), or after 20 s if the collector is that
//    far behind or looks up names (kExplain). No lock is taken, and the wait for another thread's question is no longer
//    than that.
//  - A question that is abandoned while it waits (the thread is cancelled, a handler jumps out) costs a slot for some
//    seconds. One that is abandoned in the few instructions that write it costs the slot permanently.
//  - If a signal handler forks during the wait, the child gets no answer, and leaves its parent's question alone.
// Context:  any thread that is not in an event and may ask the kernel (state.h). A forked child asks nothing until it
//           has an arena of its own.
// Order:    (J) Question::word is release-stored as kAsked, and acquire-loaded as kAnswered (K).
// Cost:     the time until the collector's next poll of the rings (up to 2 ms, or 0.2 ms if other threads asked
//           before), and until it has read what the program wrote.
#pragma once

#include "shared/questions.h"

#include <stddef.h>
#include <stdint.h>

namespace heapprof::agent {

enum class Answer : uint8_t {
  kNone,
  kUnknown,  // there is no such device, or nothing of that thread
  kGiven,
};

// The thread that a question of kThread is about: the owner of a ring.
struct ThreadKey {
  uint32_t ring;
  uint32_t thread_id;
};

struct Asking {
  wire::QuestionKind kind;
  const char* device = "";  // its name as in profiles ("host", "cuda:0")
  ThreadKey thread{};
  uint64_t measurement = 0;
  wire::Measure measure = wire::Measure::kPeak;
};

struct Given {
  wire::Statistics statistics{};
  uint64_t measurement = 0;
  // The answer to kExplain goes here, as many of its lines as there is room for; it ends with a zero byte.
  char* text = nullptr;
  size_t text_room = 0;
};

Answer ask(const Asking& asking, Given* given);

}  // namespace heapprof::agent
