// cli/collect/leaks/root_holders.h: finds what keeps blocks reachable (their *holders*): the variable, or other memory,
// in which a pointer to them was found.
//
// Variables of the program and its libraries come before thread-local ones, and these before pages that the program
// mapped and before stacks: if a variable leads to a block, the variable holds it, whichever function's stack points to
// it as well. A variable holds what it alone leads to. If two or three lead to a block, such as the head and the tail
// of a list, they hold it together; if more do, or some without a name, the holder is "several".
//
// Guarantees: a variable that has no name, or whose file's first page is not the one that is mapped, counts as data of
//             its module.
// Context:    one thread; the process does not change.
// Trust:      everything is the target's.
// Cost:       reads the symbol tables of a module when its first pointer to a block is found; some 10 MiB for sets.
#pragma once

#include "cli/collect/leaks/leak_marks.h"
#include "cli/collect/leaks/leak_roots.h"
#include "cli/collect/leaks/target_memory.h"

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace heapprof::cli {

// ---- module_variables.cc: the variables of an ELF file, as its symbol tables name them
//
// Guarantees: of .symtab and .dynsym; they are in the order of their addresses, do not overlap, and have one name each.
// Not provided: thread-local variables; names from a separate debug file.
// Trust:      any bytes: every offset, size and count is checked before it is used.

struct Variable {
  uint64_t start_svma = 0;
  uint64_t end_svma = 0;
  std::string name;  // the linker's name
};
// Empty: there are no variables, or it is not a readable 64-bit ELF file.
std::vector<Variable> read_variables(int fd);

// ---- root_holders.cc

// The variables of the file that is mapped there, as the process sees it.
std::vector<Variable> read_mapped_variables(const LeakRoot& root, TargetMemory* memory);

// What one holder holds.
struct HeldBlocks {
  RootKind kind = RootKind::kVariable;
  bool is_shared = false;          // several variables lead there
  std::vector<std::string> names;  // the linker's; empty: data of the module, or too many
  std::string module;              // path; empty: of no module, or of several
  uint64_t bytes = 0;
  uint64_t blocks = 0;
  std::vector<LostPart> parts;  // by site, the largest first, kMostParts at most
};

class RootHolders {
 public:
  static constexpr size_t kMostHolders = 64;
  static constexpr size_t kMostParts = 8;
  static constexpr size_t kMostNames = 3;

  // Marks from all roots, one kind after the other, and follows their pointers. words: of registers. read_variables:
  // returns those of a root's module; called once for each.
  void mark(const std::vector<LeakRoot>& roots, const std::vector<std::span<const uint64_t>>& words,
            const std::function<std::vector<Variable>(const LeakRoot&)>& read_variables, LeakMarks* marks);
  // After LeakMarks::finish(): the largest first; without holders of no recorded block. If there are more than
  // kMostHolders, the smallest are left out.
  std::vector<HeldBlocks> sum(const std::vector<LeakBlock>& blocks) const;

 private:
  struct Holder {
    RootKind kind = RootKind::kVariable;
    uint32_t module = 0;  // in module_names_
    std::string name;
    std::vector<uint32_t> members;  // if several hold together: their ids, ascending
  };
  struct ModuleData {
    uint32_t index = 0;  // in module_names_
    std::vector<Variable> variables;
    std::vector<uint32_t> ids;  // of each; 0: none yet
    uint32_t rest_id = 0;       // of data without a variable; likewise
  };

  uint32_t add(RootKind kind, uint32_t module, const std::string& name);
  uint32_t join(uint32_t holder, uint32_t other);
  uint32_t set_of(uint32_t holder, uint32_t other);
  std::vector<uint32_t> members_of(uint32_t holder) const;
  HeldBlocks describe(uint32_t holder) const;
  uint32_t holder_at(const LeakRoot& root, uint64_t address);
  ModuleData& data_of(const LeakRoot& root);

  std::function<std::vector<Variable>(const LeakRoot&)> read_variables_;
  std::vector<Holder> holders_ = {Holder{}};  // by id; 0: no holder
  uint32_t many_ = 0;                         // of the kind being marked: more holders than are named together
  std::map<std::vector<uint32_t>, uint32_t> sets_;
  std::unordered_map<uint64_t, uint32_t> joined_;  // by two ids
  std::vector<std::string> module_names_ = {""};
  std::map<std::string, ModuleData> modules_;  // by path
};

}  // namespace heapprof::cli
