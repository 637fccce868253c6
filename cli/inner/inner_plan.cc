// cli/inner/inner_plan.cc: finds functions by name, reads their code, and plans the patches.
//
// An allocator's functions call one another: mimalloc's realloc calls mi_heap_malloc and mi_free, which are hooked as
// well. Such a call must not count. Test calls cannot show which calls these are, because that depends on sizes and on
// what is free. So the address of the caller decides. The allocator's own calls come from the code that its functions
// reach by direct calls and jumps. This code may include too much, such as a template's function that the program uses
// as well. So the agent also checks whether a function of the allocator is in progress on the stack.
#include "cli/inner/inner_plan.h"

#include "cli/arch/arch.h"
#include "cli/inner/branches.h"
#include "cli/inner/code_file.h"
#include "cli/inner/function_names.h"
#include "cli/inner/planning_time.h"
#include "cli/inner/prologue.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <unordered_map>

namespace heapprof::cli {

namespace {

constexpr uint64_t kMostReachedBytes = 64 << 20;  // of code that is searched

struct Candidate {
  const CodeSymbol* symbol = nullptr;
  NamedFunction named;
};

// Finds the functions with known names. Functions of malloc's family count only if malloc and free are among them. If a
// program defines only operator new, this operator calls malloc, which is hooked anyway.
std::vector<Candidate> find_candidates(const CodeFile& file) {
  std::vector<Candidate> all;
  struct Kinds {
    bool gives = false;
    bool takes = false;
  };
  std::map<std::string, Kinds> groups;
  for (const CodeSymbol& symbol : file.functions()) {
    std::optional<NamedFunction> named = named_function(symbol.name);
    if (!named) continue;
    Kinds& kinds = groups[named->group];
    const bool counts = !named->group.empty() || symbol.name == "malloc" || symbol.name == "free";
    kinds.gives = kinds.gives || (counts && named->what.kind == wire::AllocatorKind::Allocate);
    kinds.takes = kinds.takes || (counts && named->what.kind == wire::AllocatorKind::Release);
    all.push_back({&symbol, std::move(*named)});
  }
  std::erase_if(all, [&](const Candidate& one) {
    const Kinds& kinds = groups[one.named.group];
    return !kinds.gives || !kinds.takes;
  });
  return all;
}

// Several names of one address are one function. The name that is kept is malloc's standard name, else an operator's,
// else another. If an allocator's prefixed names and malloc's are the same functions, it is one allocator.
void keep_one_of_each(std::vector<Candidate>* all) {
  const auto rank = [](const Candidate& one) { return one.named.is_family ? 0 : one.named.group.empty() ? 1 : 2; };
  std::stable_sort(all->begin(), all->end(), [&](const Candidate& a, const Candidate& b) {
    return a.symbol->start_svma != b.symbol->start_svma ? a.symbol->start_svma < b.symbol->start_svma
                                                        : rank(a) < rank(b);
  });
  const auto is_same = [](const Candidate& a, const Candidate& b) {
    return a.symbol->start_svma == b.symbol->start_svma;
  };
  std::vector<std::string> joined;
  for (size_t i = 1; i < all->size(); ++i) {
    if (is_same((*all)[i - 1], (*all)[i]) && (*all)[i - 1].named.group.empty()) joined.push_back((*all)[i].named.group);
  }
  all->erase(std::unique(all->begin(), all->end(), is_same), all->end());
  for (Candidate& one : *all) {
    if (std::find(joined.begin(), joined.end(), one.named.group) != joined.end()) one.named.group.clear();
  }
}

// The part of the code that the candidates reach.
class Reach {
 public:
  Reach(const CodeFile& file, const PlanningTime& budget) : file_(file), budget_(budget) {
    for (const CodeSymbol& symbol : file.functions()) {
      uint64_t& size_bytes = sizes_[symbol.start_svma];
      size_bytes = std::max(size_bytes, symbol.size_bytes);
      if (symbol.name.ends_with(".cold")) cold_.push_back({symbol.start_svma, symbol.start_svma + symbol.size_bytes});
    }  // cold_ is sorted, because file.functions() is
  }

  // False: it reaches more code than can be searched, or the time is spent.
  bool add(uint64_t start_svma) {
    if (!reached_.emplace(start_svma, 0).second) return true;
    std::vector<uint64_t> open = {start_svma};
    while (!open.empty()) {
      const uint64_t function_svma = open.back();
      open.pop_back();
      const uint64_t end_svma = end_of(function_svma);
      reached_[function_svma] = end_svma;
      looked_bytes_ += end_svma - function_svma;
      if (looked_bytes_ > kMostReachedBytes || reached_.size() > wire::kMostInnerRanges || budget_.is_spent())
        return false;
      follow(function_svma, end_svma, &open);
    }
    return true;
  }
  std::vector<CodeRange> ranges() const {
    std::vector<CodeRange> merged;
    for (const auto& [start_svma, end_svma] : reached_) {
      if (!merged.empty() && start_svma <= merged.back().end_svma) {
        merged.back().end_svma = std::max(merged.back().end_svma, end_svma);
      } else {
        merged.push_back({start_svma, end_svma});
      }
    }
    return merged;
  }

 private:
  uint64_t end_of(uint64_t start_svma) const {
    const auto known = sizes_.find(start_svma);
    const uint64_t next_svma = file_.next_start_svma(start_svma);
    if (known == sizes_.end() || known->second == 0) return next_svma;
    return std::max(std::min(start_svma + known->second, file_.limit_svma()), start_svma + 1);
  }

  void note(uint64_t target_svma, std::vector<uint64_t>* open) {
    uint64_t start_svma = target_svma;
    if (!file_.is_start(target_svma)) {
      // A part that the compiler split off as unlikely (.cold) may be entered anywhere.
      auto part = std::upper_bound(cold_.begin(), cold_.end(), target_svma,
                                   [](uint64_t svma, const CodeRange& range) { return svma < range.start_svma; });
      if (part == cold_.begin() || !(--part)->holds(target_svma)) return;
      start_svma = part->start_svma;
    }
    if (reached_.emplace(start_svma, 0).second) open->push_back(start_svma);
  }

  // Follows every byte that may begin a direct call or jump. A false match hits the exact start of a function once in
  // ten thousand times.
  void follow(uint64_t start_svma, uint64_t end_svma, std::vector<uint64_t>* open) {
    constexpr unsigned char kCall = 0xe8;
    constexpr unsigned char kJump = 0xe9;
    const std::span<const unsigned char> code = file_.code_at(start_svma, end_svma - start_svma);
    for (size_t at = 0; at + 5 <= code.size(); ++at) {
      const bool is_condition = at > 0 && code[at - 1] == 0x0f && (code[at] & 0xf0) == 0x80;
      if (code[at] != kCall && code[at] != kJump && !is_condition) continue;
      int32_t distance;
      std::memcpy(&distance, code.data() + at + 1, sizeof distance);
      note(start_svma + at + 5 + static_cast<uint64_t>(static_cast<int64_t>(distance)), open);
    }
  }

  const CodeFile& file_;
  const PlanningTime& budget_;
  std::map<uint64_t, uint64_t> sizes_;
  std::map<uint64_t, uint64_t> reached_;  // start, end
  std::vector<CodeRange> cold_;
  uint64_t looked_bytes_ = 0;
};

uint64_t end_of_function(const CodeFile& file, const CodeSymbol& symbol) {
  const uint64_t next_svma = file.next_start_svma(symbol.start_svma);
  return symbol.size_bytes == 0 ? next_svma : std::min(symbol.start_svma + symbol.size_bytes, next_svma);
}

// Finds the parts and copies that compilers made of the functions: "free.cold" is a part of free; "free.part.0",
// "free.isra.0", "free.constprop.0" are functions with parameters of their own. Blocks that a copy returns are not
// seen; if a copy ends blocks whose begin was seen, they would be false leaks.
std::vector<FunctionClone> find_parts(const CodeFile& file, std::vector<HookedFunction>* hooked) {
  std::unordered_map<uint64_t, HookedFunction*> by_entry;
  for (HookedFunction& one : *hooked) by_entry[one.parts.front().start_svma] = &one;
  std::unordered_map<std::string_view, HookedFunction*> by_name;
  for (const CodeSymbol& symbol : file.functions()) {
    if (const auto found = by_entry.find(symbol.start_svma); found != by_entry.end())
      by_name[symbol.name] = found->second;
  }
  std::vector<FunctionClone> clones;
  for (const CodeSymbol& symbol : file.functions()) {
    const size_t dot = symbol.name.find('.');
    if (dot == std::string_view::npos || by_entry.contains(symbol.start_svma)) continue;
    const auto of = by_name.find(symbol.name.substr(0, dot));
    if (of == by_name.end()) continue;
    if (symbol.name.substr(dot).starts_with(".cold")) {
      of->second->parts.push_back({symbol.start_svma, symbol.start_svma + symbol.size_bytes});
    } else {
      const std::optional<NamedFunction> named = named_function(symbol.name.substr(0, dot));
      const bool gives_alone = named && (named->what.kind == wire::AllocatorKind::Allocate ||
                                         named->what.kind == wire::AllocatorKind::AllocateInto);
      clones.push_back({symbol.name, symbol.start_svma, !gives_alone});
    }
  }
  return clones;
}

// The name of a group's allocator. If the group has no prefix, other functions of the file show which allocator it is.
std::string name_of_group(const std::string& group, const CodeFile& file) {
  if (!group.empty()) return allocator_of(group);
  for (const CodeSymbol& symbol : file.functions()) {
    if (std::string name = allocator_of(symbol.name); !name.empty()) return name;
  }
  return "malloc";
}

// 0: no such function.
uint64_t start_of(const CodeFile& file, std::string_view name) {
  for (const CodeSymbol& symbol : file.functions()) {
    if (symbol.name == name) return symbol.start_svma;
  }
  return 0;
}

void append(std::vector<unsigned char>* to, const void* bytes, size_t count) {
  const auto* const first = static_cast<const unsigned char*>(bytes);
  to->insert(to->end(), first, first + count);
}

}  // namespace

InnerPlanning plan_inner_hooks(int fd, int debug_fd, uint64_t most_ns) {
  const PlanningTime budget(most_ns);
  InnerPlanning planning;
  std::optional<CodeFile> file = CodeFile::read(fd, debug_fd);
  if (!file || !file->has_loader()) return planning;  // the loader itself, or a static program
  std::vector<Candidate> candidates = find_candidates(*file);
  if (candidates.empty()) return planning;
  keep_one_of_each(&candidates);

  std::vector<wire::InnerFunction> functions;
  const bool has_code = kRelocatesPrologues && file->read_code();
  if (!kRelocatesPrologues) {
    planning.refusals.push_back(fmt::format("heapprof does not change the code of a program for {}", kProgramKind));
  } else if (!has_code) {
    planning.refusals.emplace_back("its code cannot be read");
  }
  if (candidates.size() > wire::kMostInnerFunctions || file->limit_svma() - file->base_svma() > UINT32_MAX)
    planning.refusals.emplace_back("it has more functions, or more code, than heapprof knows an allocator to have");
  Reach reach(*file, budget);
  std::vector<HookedFunction> hooked;
  for (const Candidate& one : candidates) {
    size_t group = 0;
    while (group < planning.allocators.size() && planning.allocators[group].group != one.named.group) ++group;
    if (group == planning.allocators.size())
      planning.allocators.push_back({name_of_group(one.named.group, *file), one.named.group, 0});
    ++planning.allocators[group].functions;
    if (!has_code || candidates.size() > wire::kMostInnerFunctions) continue;
    if (one.symbol->is_indirect) {
      planning.refusals.push_back(fmt::format("{} is chosen when the program starts", one.symbol->name));
      continue;
    }
    Prologue prologue = move_prologue(*file, one.symbol->start_svma, one.symbol->size_bytes);
    if (!prologue.refusal.empty()) {
      planning.refusals.push_back(fmt::format("{} {}", one.symbol->name, prologue.refusal));
      continue;
    }
    prologue.function.what = one.named.what;
    prologue.function.group = static_cast<uint8_t>(std::min<size_t>(group, UINT8_MAX));
    prologue.function.is_small = one.symbol->name.find("_small") != std::string_view::npos;
    functions.push_back(prologue.function);
    hooked.push_back({one.symbol->name,
                      {{one.symbol->start_svma, end_of_function(*file, *one.symbol)}},
                      prologue.function.patch_svma + prologue.function.patch_bytes});
    if (!reach.add(one.symbol->start_svma))
      planning.refusals.push_back(fmt::format("{} reaches too much of the program", one.symbol->name));
    if (budget.is_spent()) planning.refusals.emplace_back("looking through its code takes too long");
    if (!planning.refusals.empty() && budget.is_spent()) break;
  }
  const std::vector<CodeRange> ranges = reach.ranges();
  if (ranges.size() > wire::kMostInnerRanges) planning.refusals.emplace_back("it reaches too much of the program");
  if (!planning.refusals.empty()) return planning;
  const std::vector<FunctionClone> clones = find_parts(*file, &hooked);
  FoundBranches branches = find_branches(*file, hooked, clones, ranges, budget);
  planning.refusals = std::move(branches.refusals);
  planning.unseen = std::move(branches.unseen);
  if (!planning.refusals.empty()) return planning;

  const wire::InnerPlan head{static_cast<uint32_t>(functions.size()),
                             static_cast<uint32_t>(ranges.size()),
                             file->base_svma(),
                             file->limit_svma(),
                             start_of(*file, "mi_heap_visit_blocks"),
                             start_of(*file, "mi_heap_get_backing")};
  append(&planning.plan, &head, sizeof head);
  append(&planning.plan, functions.data(), functions.size() * sizeof functions[0]);
  for (const CodeRange& range : ranges) {
    const wire::InnerRange one{static_cast<uint32_t>(range.start_svma - head.base_svma),
                               static_cast<uint32_t>(std::min(range.end_svma, head.limit_svma) - head.base_svma)};
    append(&planning.plan, &one, sizeof one);
  }
  return planning;
}

}  // namespace heapprof::cli
