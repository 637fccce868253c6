// agent/python/codes.h: tells the collector of each code object once: its file, its function, its table of lines.
//
// Guarantees
//  - What is said of a number stands in the arena before the number is given out.
//  - A code object that came to the address of another one is told from it by its names and its table of lines: by
//    where these are, and by what is in them. Of a table of more than 24 bytes, beginning, middle and end are looked
//    at. (tests/integration/stacks/python_oracle.sh makes thousands at the same addresses.)
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

// What tells a code object from others at its address.
struct CodeIdentity {
  uint64_t file_avma, function_avma, table_avma;
  uint64_t file_bytes, table_bytes;  // lengths; of the file's name in characters
  uint64_t content;
  uint32_t first_line;
};

// Whether it is code of the interpreter's own, by which it calls __init__ from 3.12 on: it has no file and no line.
inline bool is_trampoline(const CodeIdentity& identity) {
  return identity.first_line == 0 && identity.file_avma == identity.function_avma;
}

// False: what is there is no code object, or cannot be read.
bool read_identity(const Python& python, KnownPages* pages, uint64_t code_avma, CodeIdentity* identity);
// Whether it is still what read_identity() said, all of it. pre: no page was unmapped since
bool is_still(const Python& python, uint64_t code_avma, const CodeIdentity& identity);
// Whether it seems to be still that code object: by where its names and its table are. pre: its identity was read, and
// no page was unmapped since.
inline bool seems_same_code(const PythonLayout& layout, uint64_t code_avma, const CodeIdentity& identity) {
  const auto* const at = reinterpret_cast<const volatile unsigned char*>(code_avma);
  return *reinterpret_cast<const volatile uint64_t*>(at + layout.code_table) == identity.table_avma &&
         *reinterpret_cast<const volatile uint64_t*>(at + layout.code_function) == identity.function_avma &&
         *reinterpret_cast<const volatile uint32_t*>(at + layout.code_first_line) == identity.first_line;
}
// The code object's number; 0: there is no room for it.
uint32_t number_of_code(const Python& python, uint64_t code_avma, const CodeIdentity& identity);

}  // namespace heapprof::agent
