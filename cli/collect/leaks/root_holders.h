// cli/collect/leaks/root_holders.h: finds what keeps blocks reachable (their *holders*): the variable, or other memory,
// in which a pointer to them was found.
//
// Variables of the program and its libraries take precedence over thread-local ones, and these over pages that the
// program mapped, and these over stacks. So if a variable leads to a block, the variable holds it, even if a function's
// stack points to it as well. A variable holds the blocks to which it alone leads. If two or three variables lead to a
// block, such as the head and the tail of a list, they hold it together. If more than three lead to it, or one of them
// has no name, the holder is "several".
//
// Guarantees: a variable counts as data of its module if it has no name, or if the first page of its file differs from
//             the one that is mapped.
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
// Guarantees: the variables are those of .symtab and .dynsym, in the order of their addresses. They do not overlap, and
//             have one name each.
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

  // Marks from all roots, one kind after the other, and follows their pointers. words: the contents of registers.
  // read_variables: returns the variables of a root's module; it is called once for each module.
  void mark(const std::vector<LeakRoot>& roots, const std::vector<std::span<const uint64_t>>& words,
            const std::function<std::vector<Variable>(const LeakRoot&)>& read_variables, LeakMarks* marks);
  // Call it after LeakMarks::finish(). The largest holders come first; those of no recorded block are left out. If
  // there are more than kMostHolders, the smallest are left out.
  std::vector<HeldBlocks> sum(const std::vector<LeakBlock>& blocks) const;

 private:
  struct Holder {
    RootKind kind = RootKind::kVariable;
    uint32_t module = 0;  // in module_names_
    std::string name;
    std::vector<uint32_t> members;  // if several holders hold blocks together: their ids, ascending
  };
  struct ModuleData {
    uint32_t index = 0;  // in module_names_
    std::vector<Variable> variables;
    std::vector<uint32_t> ids;  // the holder of each variable; 0: none yet
    uint32_t rest_id = 0;       // the holder of data without a variable; 0: none yet
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
  uint32_t many_ = 0;                         // stands for more holders of the current kind than are named together
  std::map<std::vector<uint32_t>, uint32_t> sets_;
  std::unordered_map<uint64_t, uint32_t> joined_;  // by two ids
  std::vector<std::string> module_names_ = {""};
  std::map<std::string, ModuleData> modules_;  // by path
};

}  // namespace heapprof::cli
