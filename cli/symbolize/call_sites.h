// cli/symbolize/call_sites.h: reads the entry (DIE) of a call (DW_TAG_call_site, GNU's form before DWARF 5), and those
// of the functions that it names.
//
// Guarantees
//  - It infers nothing: a call through a pointer has no origin.
//  - A chain of origins and specifications is followed for at most 16 steps.
// Cost:     1 µs an entry.
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <optional>
#include <string_view>

namespace heapprof::cli {

bool is_call_site(unsigned tag);

bool is_tail_call(Dwarf_Die* site);
// The address after the call; 0: not stated. A tail call never returns there.
Dwarf_Addr return_address(Dwarf_Die* site);
// An address inside the call's own instruction; 0: not stated.
Dwarf_Addr call_address(Dwarf_Die* site);
// The entry of the called function; nullopt: the call is through a pointer, or states no function.
std::optional<Dwarf_Die> call_origin(Dwarf_Die* site);

// Whether every tail call in this function has an entry.
bool describes_tail_calls(Dwarf_Die* function);

// What all entries of one function have in common.
struct FunctionIdentity {
  Dwarf_Die root;                // the last entry in the chain of its origins and specifications
  const char* symbol = nullptr;  // its linker symbol; null: not visible outside its unit
};
FunctionIdentity identify(Dwarf_Die function);

// Equal for entries of one function, in all units of a module; see CallKeys.
uint64_t function_key(const FunctionIdentity& function);
// The key of a called function: CallKeys::kAllocator if its name is that of an allocator's function, else
// function_key().
uint64_t target_key(const FunctionIdentity& function);

// Whether heapprof counts calls of this function, by its linker symbol.
bool is_allocator_symbol(std::string_view symbol);
// Whether the symbol is a function of libc or the C++ runtime that calls no function of a program.
bool is_end_symbol(std::string_view symbol);

}  // namespace heapprof::cli
