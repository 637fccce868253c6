// agent/python/codes.h: reports each code object to the collector once: its file, its function, its line table.
//
// Guarantees
//  - A number's entry is in the arena before the number is given out.
//  - A code object at the address of an earlier one is distinguished from it by the addresses and the contents of its
//    names and its line table. If a table has more than 24 bytes, its beginning, middle and end are compared.
//    (tests/integration/stacks/python_oracle.sh makes thousands at the same addresses.)
//  - No lock. A code object without room gets the number 0, and is counted.
// Context:  inside hooks, signal handlers and forked children included.
// Order:    (O) an index word is release-stored after its entry.
// Cost:     some ns for a known one; some µs when first seen.
#pragma once

#include "agent/process/known_pages.h"
#include "agent/python/interpreter.h"

#include <cstdint>

namespace heapprof::agent {

// Maps the tables of code objects. False: no memory. pre: the agent's lock is held, signals are blocked.
bool prepare_codes();
// Call at the start of a session, whose collector knows no code object.
void forget_codes();

// Distinguishes a code object from others at its address.
struct CodeIdentity {
  uint64_t file_avma, function_avma, table_avma;
  uint64_t file_bytes, table_bytes;  // lengths; that of the file's name in characters
  uint64_t content;
  uint32_t first_line;
};

// True for the interpreter's own code, by which it calls __init__ from 3.12 on: it has no file and no line.
inline bool is_trampoline(const CodeIdentity& identity) {
  return identity.first_line == 0 && identity.file_avma == identity.function_avma;
}

// False: there is no code object at that address, or it cannot be read.
bool read_identity(const Python& python, KnownPages* pages, uint64_t code_avma, CodeIdentity* identity);
// True if all that read_identity() returned is unchanged. pre: no page was unmapped since
bool is_still(const Python& python, uint64_t code_avma, const CodeIdentity& identity);
// True if it seems to be the same code object, judged by the addresses of its names and its table. pre: its identity
// was read, and no page was unmapped since.
inline bool seems_same_code(const PythonLayout& layout, uint64_t code_avma, const CodeIdentity& identity) {
  const auto* const at = reinterpret_cast<const volatile unsigned char*>(code_avma);
  return *reinterpret_cast<const volatile uint64_t*>(at + layout.code_table) == identity.table_avma &&
         *reinterpret_cast<const volatile uint64_t*>(at + layout.code_function) == identity.function_avma &&
         *reinterpret_cast<const volatile uint32_t*>(at + layout.code_first_line) == identity.first_line;
}
// The code object's number; 0: no room.
uint32_t number_of_code(const Python& python, uint64_t code_avma, const CodeIdentity& identity);

}  // namespace heapprof::agent
