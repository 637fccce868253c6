// cli/symbolize/call_sites.h: what an entry of a call (DW_TAG_call_site, GNU's form before DWARF 5) and those of the
// functions that it names say.
//
// Guarantees
//  - What is not said is not known: a call through a pointer has no origin.
//  - A chain of origins and specifications that never ends is given up after 16 steps.
// Cost:     1 µs an entry.
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <optional>
#include <string_view>

namespace heapprof::cli {

bool is_call_site(unsigned tag);

bool is_tail_call(Dwarf_Die* site);
// The address behind the call; 0: not said. Of a tail call nobody returns there.
Dwarf_Addr return_address(Dwarf_Die* site);
// An address inside the call's own instruction; 0: not said.
Dwarf_Addr call_address(Dwarf_Die* site);
// The entry of the function that is called; none: it is called through a pointer.
std::optional<Dwarf_Die> call_origin(Dwarf_Die* site);

// Whether all calls in this function that are tail calls have an entry.
bool describes_tail_calls(Dwarf_Die* function);

// What two entries of one function have in common.
struct FunctionIdentity {
  Dwarf_Die root;                // where its origins and specifications lead
  const char* symbol = nullptr;  // what the linker knows it by; null: nothing outside of its unit does
};
FunctionIdentity identify(Dwarf_Die function);

// Equal for entries of one function, in all units of a module; see CallKeys.
uint64_t function_key(const FunctionIdentity& function);
// The same of what is called: CallKeys::kAllocator if that is its name.
uint64_t target_key(const FunctionIdentity& function);

// A function whose calls heapprof counts, by the linker's name.
bool is_allocator_symbol(std::string_view symbol);
// One of libc's or of the C++ runtime's that calls nothing of a program's.
bool is_end_symbol(std::string_view symbol);

}  // namespace heapprof::cli
