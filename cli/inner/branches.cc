// cli/inner/branches.cc: any byte may begin a branch. If the bytes there look like a branch to a function's first
// bytes, the code around them is decoded from the start of its function, to see whether they are an instruction.
//
// Short branches reach 127 bytes, so they are decoded only around each function.
#include "cli/inner/branches.h"

#include "cli/inner/decoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace heapprof::cli {

namespace {

constexpr const char* kLeadsInto = "has a branch into its first bytes";
constexpr const char* kLeadsBack = "has a branch back to its entry";
constexpr const char* kHasTable = "jumps to its first bytes by a table";
constexpr const char* kIsAddressed = "has its first bytes addressed by code";

constexpr unsigned char kCallOpcode = 0xe8;
constexpr unsigned char kJumpOpcode = 0xe9;
constexpr unsigned char kTwoBytes = 0x0f;
constexpr unsigned char kAddressOf = 0x8d;  // lea
constexpr uint64_t kDistanceBytes = 4;
constexpr uint64_t kShortReach = 130;
constexpr uint64_t kMostDecoded = 1 << 20;  // bytes of one function, to find its instructions
constexpr size_t kLookBytes = 1 << 20;      // between checks of the clock

bool is_condition(unsigned char opcode) { return (opcode & 0xf0) == 0x80; }
bool is_by_rip(unsigned char modrm) { return (modrm & 0xc7) == 0x05; }

int32_t distance_at(const unsigned char* at) {
  int32_t distance;
  std::memcpy(&distance, at, sizeof distance);
  return distance;
}
uint64_t moved_by(uint64_t svma, int32_t distance) { return svma + static_cast<uint64_t>(int64_t{distance}); }

enum class Way { kCall, kBranch, kAddress };

struct Watched {
  uint64_t start_svma;
  uint64_t end_svma;
  size_t index;  // of a function; after the functions: of a clone
};

class Search {
 public:
  Search(const CodeFile& file, const std::vector<HookedFunction>& functions, const std::vector<FunctionClone>& clones,
         const std::vector<CodeRange>& own, const PlanningTime& budget)
      : file_(file),
        functions_(functions),
        clones_(clones),
        own_(own),
        budget_(budget),
        reasons_(functions.size() + clones.size()) {
    for (size_t i = 0; i < functions.size(); ++i)
      watched_.push_back({functions[i].parts.front().start_svma, functions[i].patch_end_svma, i});
    for (size_t i = 0; i < clones.size(); ++i)
      watched_.push_back({clones[i].start_svma, clones[i].start_svma + 1, functions.size() + i});
    std::sort(watched_.begin(), watched_.end(),
              [](const Watched& a, const Watched& b) { return a.start_svma < b.start_svma; });
  }

  FoundBranches run() {
    FoundBranches found;
    if (watched_.empty()) return found;
    bool is_whole = true;
    for (const CodeFile::Code& code : file_.all_code()) is_whole = is_whole && look_through(code);
    for (size_t i = 0; i < functions_.size() && is_whole; ++i) {
      look_around(functions_[i]);
      look_at_tables(i);
      is_whole = !budget_.is_spent();
    }
    if (!is_whole) found.refusals.emplace_back("looking through its code takes too long");
    for (size_t i = 0; i < reasons_.size(); ++i) {
      if (reasons_[i] == nullptr) continue;
      const bool is_clone = i >= functions_.size();
      const std::string_view name = is_clone ? clones_[i - functions_.size()].name : functions_[i].name;
      const bool is_unseen = is_clone && !clones_[i - functions_.size()].ends_blocks;
      (is_unseen ? found.unseen : found.refusals).push_back(fmt::format("{} {}", name, reasons_[i]));
    }
    return found;
  }

 private:
  bool look_through(const CodeFile::Code& code) {
    const uint64_t low_svma = watched_.front().start_svma;
    uint64_t high_svma = 0;
    for (const Watched& one : watched_) high_svma = std::max(high_svma, one.end_svma);
    const uint64_t span = high_svma - low_svma;
    const unsigned char* const bytes = code.bytes.data();
    const size_t size = code.bytes.size();
    for (size_t at = 0; at + 1 + kDistanceBytes <= size; ++at) {
      if (at % kLookBytes == 0 && budget_.is_spent()) return false;
      const unsigned char opcode = bytes[at];
      if (opcode == kCallOpcode || opcode == kJumpOpcode ||
          (is_condition(opcode) && at > 0 && bytes[at - 1] == kTwoBytes)) {
        const uint64_t end_svma = code.start_svma + at + 1 + kDistanceBytes;
        const uint64_t target_svma = moved_by(end_svma, distance_at(bytes + at + 1));
        if (target_svma - low_svma < span)
          note(code.start_svma + at, target_svma, opcode == kCallOpcode ? Way::kCall : Way::kBranch, true);
      } else if (opcode == kAddressOf && is_by_rip(bytes[at + 1]) && at + 2 + kDistanceBytes <= size) {
        const uint64_t end_svma = code.start_svma + at + 2 + kDistanceBytes;
        const uint64_t target_svma = moved_by(end_svma, distance_at(bytes + at + 2));
        if (target_svma - low_svma < span) note(code.start_svma + at, target_svma, Way::kAddress, true);
      }
    }
    return true;
  }

  // is_guess: the bytes look like such an instruction, but may not be one.
  void note(uint64_t from_svma, uint64_t target_svma, Way way, bool is_guess) {
    auto one = std::upper_bound(watched_.begin(), watched_.end(), target_svma,
                                [](uint64_t svma, const Watched& watched) { return svma < watched.start_svma; });
    if (one == watched_.begin() || target_svma >= (--one)->end_svma || reasons_[one->index] != nullptr) return;
    const char* const why = reason(*one, from_svma, target_svma, way);
    if (why != nullptr && (!is_guess || is_instruction(from_svma, target_svma, way))) reasons_[one->index] = why;
  }

  // Why the branch prevents relocating the code; nullptr: it does not.
  const char* reason(const Watched& one, uint64_t from_svma, uint64_t target_svma, Way way) const {
    if (one.index >= functions_.size())
      return is_own(from_svma) ? nullptr : "is a copy that the compiler made, and is called past the function";
    if (target_svma != one.start_svma) return way == Way::kAddress ? kIsAddressed : kLeadsInto;
    return way == Way::kBranch && is_in(functions_[one.index].parts, from_svma) ? kLeadsBack : nullptr;
  }
  static bool is_in(const std::vector<CodeRange>& ranges, uint64_t svma) {
    return std::any_of(ranges.begin(), ranges.end(), [&](const CodeRange& range) { return range.holds(svma); });
  }

  bool is_own(uint64_t svma) const {
    auto range = std::upper_bound(own_.begin(), own_.end(), svma,
                                  [](uint64_t at_svma, const CodeRange& one) { return at_svma < one.start_svma; });
    return range != own_.begin() && (--range)->holds(svma);
  }

  // True if there is such an instruction, or if that cannot be determined.
  bool is_instruction(uint64_t opcode_svma, uint64_t target_svma, Way way) {
    const uint64_t start_svma = file_.start_before(opcode_svma);
    if (start_svma == 0 || opcode_svma - start_svma > kMostDecoded) return true;
    constexpr uint64_t kLongest = 16;
    std::span<const unsigned char> code = file_.code_at(start_svma, opcode_svma - start_svma + kLongest);
    if (code.empty()) code = file_.code_at(start_svma, opcode_svma - start_svma + 1 + kDistanceBytes);
    for (uint64_t at = 0; at < code.size();) {
      const cs_insn* const instruction = decoder_.at(code, at, start_svma + at);
      if (instruction == nullptr) return true;
      at += instruction->size;
      if (start_svma + at <= opcode_svma) continue;
      if (way == Way::kAddress) return instruction->id == X86_INS_LEA;
      return is_relative_branch(*instruction) && branch_target(*instruction) == target_svma;
    }
    return true;
  }

  void look_around(const HookedFunction& function) {
    const uint64_t entry_svma = function.parts.front().start_svma;
    uint64_t at_svma = file_.start_before(entry_svma - kShortReach);
    if (at_svma == 0 || entry_svma - at_svma > kMostDecoded) at_svma = entry_svma;
    while (at_svma < function.patch_end_svma + kShortReach) {
      const uint64_t end_svma = file_.next_start_svma(at_svma);
      if (end_svma <= at_svma) return;
      const std::span<const unsigned char> code = file_.code_at(at_svma, end_svma - at_svma);
      for (uint64_t at = 0; at < code.size() && at_svma + at < function.patch_end_svma + kShortReach;) {
        const cs_insn* const instruction = decoder_.at(code, at, at_svma + at);
        if (instruction == nullptr) break;
        const bool is_call = decoder_.is_in_group(*instruction, X86_GRP_CALL);
        const bool is_branch = is_call || is_loop(*instruction) || decoder_.is_in_group(*instruction, X86_GRP_JUMP);
        if (is_branch && is_relative_branch(*instruction))
          note(instruction->address, branch_target(*instruction), is_call ? Way::kCall : Way::kBranch, false);
        at += instruction->size;
      }
      at_svma = end_svma;
    }
  }

  // If the function jumps by a register or an indexed word (ff /4), tables may lead to its first bytes.
  void look_at_tables(size_t index) {
    const HookedFunction& function = functions_[index];
    if (reasons_[index] != nullptr || !jumps_by_value(function)) return;
    const uint64_t entry_svma = function.parts.front().start_svma;
    const auto is_first = [&](uint64_t svma) { return svma >= entry_svma && svma < function.patch_end_svma; };
    for (const CodeRange& part : function.parts) {
      const std::span<const unsigned char> code = file_.code_at(part.start_svma, part.end_svma - part.start_svma);
      for (size_t at = 0; at + 2 + kDistanceBytes <= code.size(); ++at) {
        if (code[at] != kAddressOf || !is_by_rip(code[at + 1])) continue;
        const uint64_t table_svma =
            moved_by(part.start_svma + at + 2 + kDistanceBytes, distance_at(code.data() + at + 2));
        constexpr uint64_t kTableBytes = 4096;
        const std::vector<unsigned char> table = file_.bytes_at(table_svma, kTableBytes);
        for (size_t i = 0; i + kDistanceBytes <= table.size(); i += kDistanceBytes) {
          const uint64_t target_svma = moved_by(table_svma, distance_at(table.data() + i));
          if (!is_in(function.parts, target_svma)) break;
          if (is_first(target_svma)) reasons_[index] = kHasTable;
        }
      }
    }
    // If a word holds the entry's address, and no word next to it holds another address in the function, it is a
    // pointer to the function. Otherwise it is part of a table.
    const CodeRange& body = function.parts.front();
    const auto pointers = file_.pointers_between(body.start_svma, body.end_svma);
    if (!pointers) reasons_[index] = "jumps by tables that cannot be read";
    for (const CodeFile::Pointer& one : pointers.value_or(std::vector<CodeFile::Pointer>())) {
      const auto is_beside = [&](const CodeFile::Pointer& other) {
        return other.value_svma != entry_svma && (other.at_svma == one.at_svma + 8 || other.at_svma + 8 == one.at_svma);
      };
      if (is_first(one.value_svma) &&
          (one.value_svma != entry_svma || std::any_of(pointers->begin(), pointers->end(), is_beside)))
        reasons_[index] = kHasTable;
    }
  }
  bool jumps_by_value(const HookedFunction& function) const {
    constexpr unsigned char kIndirect = 0xff;
    for (const CodeRange& part : function.parts) {
      const std::span<const unsigned char> code = file_.code_at(part.start_svma, part.end_svma - part.start_svma);
      for (size_t at = 0; at + 1 < code.size(); ++at) {
        if (code[at] == kIndirect && (code[at + 1] >> 3 & 7) == 4 && !is_by_rip(code[at + 1])) return true;
      }
    }
    return false;
  }

  const CodeFile& file_;
  const std::vector<HookedFunction>& functions_;
  const std::vector<FunctionClone>& clones_;
  const std::vector<CodeRange>& own_;
  const PlanningTime& budget_;
  std::vector<const char*> reasons_;
  std::vector<Watched> watched_;  // sorted
  Decoder decoder_;
};

}  // namespace

FoundBranches find_branches(const CodeFile& file, const std::vector<HookedFunction>& functions,
                            const std::vector<FunctionClone>& clones, const std::vector<CodeRange>& own,
                            const PlanningTime& budget) {
  return Search(file, functions, clones, own, budget).run();
}

}  // namespace heapprof::cli
