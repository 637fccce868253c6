// cli/collect/coverage.h: what of a process is seen, and how, as its agent says when it arrives.
#pragma once

#include "cli/collect/process_collector.h"

#include <cstring>
#include <string>

namespace heapprof::cli {

// A string field of the handshake, within its bounds: whether it ends is up to the agent.
template <size_t n>
std::string hello_text(const char (&field)[n]) {
  return std::string(field, ::strnlen(field, n));
}

// executable: who serves malloc where the agent names no other object. What notes say later is not here.
Coverage coverage_of(const wire::Hello& hello, const CollectorOptions& options, const std::string& executable);

// version: Control::python_version. Names an interpreter whose frames cannot be read; one that can is not named.
void add_unread_interpreter(uint32_t version, Coverage* coverage);
// Says why the objects of an interpreter that was found are not recorded, where that was asked for.
void add_unrecorded_objects(const wire::Control& control, Coverage* coverage);
// Why operators of PyTorch are no scopes, where that was asked for.
void add_unrecorded_operators(const wire::Control& control, Coverage* coverage);

// Which allocators inside of the executable were hooked in place, and which were not, and why.
void add_inner_allocators(const wire::Control& control, const InnerProgram& inner, Coverage* coverage);

}  // namespace heapprof::cli
