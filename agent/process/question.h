// agent/process/question.h: asks the collector about this process's own numbers, and waits for the answer.
//
// Guarantees
//  - The answer counts every event that came before the question: this thread's, and those of other threads that it
//    knows to be over.
//  - The wait ends: with the answer, with the collector's death, or after a second. No lock is taken, and none of
//    another thread's questions is waited for longer than that.
//  - What was left half way (a thread that was cancelled, a handler that jumped out) costs a slot for some seconds.
// Context:  any thread outside of an event, that may ask the kernel (state.h). A forked child asks nothing until it has
//           an arena of its own.
// Order:    (J) Question::word is release-stored as kAsked, and acquire-loaded as kAnswered (K).
// Cost:     as long as the collector's next look at the rings takes: up to 2 ms for the first of several, else 0.2 ms.
#pragma once

#include "shared/wire.h"

#include <stdint.h>

namespace heapprof::agent {

enum class Answer : uint8_t {
  kNone,
  kUnknownDevice,
  kGiven,
};

// device: its name as in profiles ("host", "cuda:0"); ring: the thread's, for kThread.
Answer ask(wire::QuestionKind kind, const char* device, uint32_t ring, wire::Statistics* statistics);

}  // namespace heapprof::agent
