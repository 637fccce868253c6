// agent/nvtx/registered.h: what a program registers with NVTX: domains, names of categories, strings.
//
// Registrations are kept: a destroyed domain that is registered again by its name is the same domain. A forked child
// has its parent's registrations.
//
// Guarantees
//  - Nothing is allocated: the tables are the agent's own. All domains for which there is no room share one domain, and
//    all such strings one string.
//  - A handle of another tool, to which the agent forwards calls, is known if note_domain or note_string got it.
// Context:  threads, signal handlers and forked children, without a lock.
// Trust:    texts are the program's, and read as it passes them. A handle is compared, never dereferenced.
// Order:    (N) a slot's state is release-stored as ready after the rest.
#pragma once

#include "agent/nvtx/abi.h"

namespace heapprof::agent::nvtx {

inline constexpr uint32_t kMostDomains = 1024;  // [0] is the default one; the last one is for all further ones
inline constexpr uint32_t kMostStrings = 4096;
inline constexpr size_t kTextRoom = 128;  // for a text that is kept or made, with its zero byte: names keep 120

// Converts a wide string to UTF-8, as much of it as there is room for; an invalid character becomes U+FFFD. Returns
// `to`.
const char* narrow(char (&to)[kTextRoom], const wchar_t* from);

// Registers a domain by that name. nullptr: the default one.
Domain* register_domain(const char* name);
// A handle's index in the table. An unknown handle is the default domain.
uint32_t domain_of(const Domain* handle);
// "" for the default one.
const char* domain_name(uint32_t domain);
// Records another tool's handle for one that register_domain returned.
void note_domain(const Domain* theirs, const Domain* ours);

// Names a category of the default domain; only a category's first name counts.
void name_category(uint32_t category, const char* name);
// nullptr: it has no name
const char* category_name(uint32_t category);

String* register_string(uint32_t domain, const char* text);
void note_string(const String* theirs, const String* ours);
// The number of the string's name (process/names.h). The string caches it, if it is of this domain and there is no
// category. pre: an arena is mapped.
uint32_t number_of_string(const String* handle, uint32_t domain, const char* category);

// The number of a name that is not a registered string. category: as category_name
uint32_t number_of_text(uint32_t domain, const char* category, const char* text);

// Records another tool's id of a range for the agent's (not 0), until take_range takes it. False: no room.
bool note_range(uint32_t domain, uint64_t theirs, uint64_t ours);
// 0: unknown
uint64_t take_range(uint32_t domain, uint64_t theirs);

}  // namespace heapprof::agent::nvtx
