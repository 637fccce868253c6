// cli/collect/coverage.h: what the agent can see of a process, and how. The agent reports it when it connects.
#pragma once

#include "cli/collect/process_collector.h"

#include <cstring>
#include <string>

namespace heapprof::cli {

// A string field of the handshake, within its bounds: the agent may leave out the terminating zero.
template <size_t n>
std::string hello_text(const char (&field)[n]) {
  return std::string(field, ::strnlen(field, n));
}

// executable: the object that serves malloc if the agent names no other. Later notes are not included.
Coverage coverage_of(const wire::Hello& hello, const CollectorOptions& options, const std::string& executable);

// version: Control::python_version. Names an interpreter only if its frames cannot be read.
void add_unread_interpreter(uint32_t version, Coverage* coverage);
// If recording of Python objects was asked for, says why those of an interpreter that was found are not recorded.
void add_unrecorded_objects(const wire::Control& control, Coverage* coverage);
// If operators of PyTorch were asked for, says why they are not scopes.
void add_unrecorded_operators(const wire::Control& control, Coverage* coverage);

// Adds which allocators inside the executable were hooked, and which were not, and why.
void add_inner_allocators(const wire::Control& control, const InnerProgram& inner, Coverage* coverage);

}  // namespace heapprof::cli
