// cli/collect/recorded_names.cc: see recorded_parts.h.
#include "cli/collect/recorded_parts.h"
#include "cli/collect/recorded_scopes.h"

namespace heapprof::cli {

uint32_t SameNames::first_of(uint32_t number, const wire::Name* names) {
  if (const auto known = first_of_.find(number); known != first_of_.end()) return known->second;
  const NameText text = name_of(number, names);
  const uint32_t first = by_text_.try_emplace({text.category, text.text}, number).first->second;
  first_of_.emplace(number, first);
  return first;
}

// Searches from the end: the program looks for a free slot from a position that the name determines.
uint32_t take_name(std::string_view text, wire::Name* names) {
  for (uint32_t number = wire::kMaxNames; number != 0; --number) {
    wire::Name& name = names[number - 1];
    wire::NameState state = wire::NameState::kFree;
    if (!name.state.compare_exchange_strong(state, wire::NameState::kWriting, std::memory_order_acquire)) continue;
    name.category_bytes = 0;
    name.text_bytes = static_cast<uint16_t>(text.copy(name.characters, sizeof name.characters));
    name.state.store(wire::NameState::kReady, std::memory_order_release);  // (L)
    return number;
  }
  return 0;
}

std::vector<NamedMemory> recorded_names(const NameBook& book, const CallTree& tree, const wire::Name* names) {
  std::vector<NamedMemory> recorded;
  auto site = book.sites().begin();
  for (const auto& [number, sum] : book.sums()) {
    NamedMemory& named = recorded.emplace_back();
    const NameText text = name_of(number, names);
    named.category = text.category;
    named.name = text.text;
    named.total_bytes = sum.total.bytes;
    named.total_blocks = sum.total.blocks;
    named.max_bytes = sum.max.bytes;
    named.max_blocks = sum.max.blocks;
    named.leaked_bytes = sum.live.bytes;
    named.leaked_blocks = sum.live.blocks;
    for (; site != book.sites().end() && site->first.first == number; ++site) {
      const NameOfSite& numbers = site->second;
      named.sites.push_back({tree.sites()[site->first.second].stack, numbers.total.bytes, numbers.total.blocks,
                             numbers.live.bytes, numbers.live.blocks});
    }
  }
  return recorded;
}

}  // namespace heapprof::cli
