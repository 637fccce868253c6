// cli/collect/recorded_scopes.h: the books of scopes with names and times, for the recording.
//
// Trust:  the names are the target's, which may change at any moment: each is copied, then checked.
#pragma once

#include "cli/collect/books/scope_book.h"
#include "cli/collect/clock.h"
#include "cli/model/profile/scopes.h"
#include "shared/scopes.h"

#include <string>

namespace heapprof::cli {

struct NameText {
  std::string category;
  std::string text;
};
// Of a name's number in a record; names as below.
NameText name_of(uint32_t number, const wire::Name* names);

// names: wire::kMaxNames of them; lost_names: how many more had no room
Scopes recorded_scopes(const ScopeBook& book, const wire::Name* names, uint64_t lost_names, const TickScale& scale);

}  // namespace heapprof::cli
