// cli/collect/recorded_names.h: the books of named memory with the names' texts, for the recording.
//
// Trust:  the names are the target's, which may change at any moment: each is copied, then checked.
#pragma once

#include "cli/collect/books/name_book.h"
#include "cli/collect/rings/call_tree.h"
#include "cli/model/profile/named_memory.h"
#include "shared/scopes.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace heapprof::cli {

// Threads that make one name at the same time give it several numbers. The most that was live under it is one amount
// all the same, so the books go by the first of them.
class SameNames {
 public:
  // names: wire::kMaxNames of them
  uint32_t first_of(uint32_t number, const wire::Name* names);

 private:
  std::unordered_map<uint32_t, uint32_t> first_of_;
  std::map<std::pair<std::string, std::string>, uint32_t> by_text_;
};

// A number for a name of our own, which is told in the program's table as its names are. 0: there is no room.
uint32_t take_name(std::string_view text, wire::Name* names);

std::vector<NamedMemory> recorded_names(const NameBook& book, const CallTree& tree, const wire::Name* names);

}  // namespace heapprof::cli
