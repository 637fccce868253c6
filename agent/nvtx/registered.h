// agent/nvtx/registered.h: what a program registers with NVTX: domains, names of categories, strings.
//
// What is registered stays: a domain that is destroyed may be registered again by its name, and is the same then. A
// forked child has its parent's.
//
// Guarantees
//  - Nothing is allocated: the tables are the agent's own, and what finds no room is one domain and one string.
//  - A handle that is not ours (another tool's, which the agent stands before) is known if it was said to be one.
// Context:  threads, signal handlers and forked children, without a lock.
// Trust:    texts are the program's, and read as it gives them. A handle is compared, and not followed.
// Order:    (N) a slot's state is release-stored as ready behind the rest.
#pragma once

#include "agent/nvtx/abi.h"

namespace heapprof::agent::nvtx {

inline constexpr uint32_t kMostDomains = 1024;  // [0] is the default one; the last one stands for all that are more
inline constexpr uint32_t kMostStrings = 4096;
inline constexpr size_t kTextRoom = 128;  // of a text that is kept or made, with its zero byte: names keep 120

// UTF-8 of a wide string, as much of it as there is room for; a number that is no character is U+FFFD. Returns `to`.
const char* narrow(char (&to)[kTextRoom], const wchar_t* from);

// The domain of that name, from now on. nullptr: the default one.
Domain* register_domain(const char* name);
// What a handle stands for: its index in the table. One that nobody knows is the default domain.
uint32_t domain_of(const Domain* handle);
// "" of the default one.
const char* domain_name(uint32_t domain);
// Another tool's handle, for what register_domain gave.
void note_domain(const Domain* theirs, const Domain* ours);

// Of the default domain; the first name that a category gets counts.
void name_category(uint32_t category, const char* name);
// nullptr: it has none
const char* category_name(uint32_t category);

String* register_string(uint32_t domain, const char* text);
void note_string(const String* theirs, const String* ours);
// Its name's number (process/names.h), which it keeps, if it is of this domain and of no category. pre: an arena is
// mapped.
uint32_t number_of_string(const String* handle, uint32_t domain, const char* category);

// The number of a name that is no registered string. category: as category_name
uint32_t number_of_text(uint32_t domain, const char* category, const char* text);

// Another tool's id of a range, for ours (not 0), until it is taken. False: there is no room.
bool note_range(uint32_t domain, uint64_t theirs, uint64_t ours);
// 0: it is not known
uint64_t take_range(uint32_t domain, uint64_t theirs);

}  // namespace heapprof::agent::nvtx
