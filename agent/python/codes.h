// agent/python/codes.h: tells the collector of each code object once: its file, its function, its table of lines.
//
// Guarantees
//  - What is said of a number stands in the arena before the number is given out.
//  - A code object that came to the address of another one is told from it by its names and its table, which are other
//    objects. (Where all of these and the first line are the same, too, so is what is shown.)
//  - No lock. What finds no room has the number 0, and is counted.
// Context:  inside hooks, signal handlers and forked children included.
// Order:    (O) an index word is release-stored behind its entry.
// Cost:     some ns for one that is known; some µs at first sight.
#pragma once

#include "agent/process/known_pages.h"
#include "agent/python/interpreter.h"

#include <cstdint>

namespace heapprof::agent {

// Maps what is needed. False: there is no memory. pre: the agent's lock is held, signals are blocked.
bool prepare_codes();
// A new life, whose collector knows of none.
void forget_codes();

inline constexpr uint32_t kNoCode = ~uint32_t{0};
// The number of the code object at that address; kNoCode: there is none, or it cannot be read.
uint32_t number_of_code(const Python& python, KnownPages* pages, uint64_t code_avma);

}  // namespace heapprof::agent
