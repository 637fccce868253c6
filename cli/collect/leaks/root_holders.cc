// cli/collect/leaks/root_holders.cc: a block's holder is a number that stands for one variable, or for a set of
// variables.
//
// If the search reaches a block from another variable as well, it gives the block the set of both, and searches it once
// more. Sets have three members at most, so a block changes its holder three times at most, whatever the pointers are.
// The last of these holders, which represents all larger sets, does not depend on the order in which they were found.
#include "cli/collect/leaks/root_holders.h"

#include "cli/base/fd.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <iterator>
#include <tuple>

namespace heapprof::cli {

namespace {

constexpr RootKind kKinds[] = {RootKind::kVariable, RootKind::kThreadLocal, RootKind::kMapped, RootKind::kStack,
                               RootKind::kOther};

bool is_larger(const HeldBlocks& a, const HeldBlocks& b) {
  return std::tie(b.bytes, b.blocks, a.kind, a.is_shared, a.module, a.names) <
         std::tie(a.bytes, a.blocks, b.kind, b.is_shared, b.module, b.names);
}

}  // namespace

// Compares the first page of the file with the mapped one. Comparing inode numbers is not enough, because a file on
// overlayfs has two.
std::vector<Variable> read_mapped_variables(const LeakRoot& root, TargetMemory* memory) {
  constexpr uint64_t kPageBytes = 4096;
  if (root.start_avma == 0) return {};
  const std::string path = fmt::format("/proc/{}/root{}", memory->pid(), root.module);
  struct stat facts {};
  // opening anything else may have effects
  if (::stat(path.c_str(), &facts) != 0 || !S_ISREG(facts.st_mode)) return {};
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd.is_open() || ::fstat(fd.get(), &facts) != 0 || !S_ISREG(facts.st_mode)) return {};
  std::vector<char> on_disk(std::min(static_cast<uint64_t>(facts.st_size), kPageBytes));
  std::vector<char> mapped(on_disk.size());
  if (!read_at(fd.get(), on_disk.data(), on_disk.size(), 0) ||
      !memory->read(root.start_avma, mapped.data(), mapped.size()) || on_disk != mapped)
    return {};
  return read_variables(fd.get());
}

uint32_t RootHolders::add(RootKind kind, uint32_t module, const std::string& name) {
  if (holders_.size() > LeakMarks::kMostHolderId) return many_;
  holders_.push_back({kind, module, name, {}});
  return static_cast<uint32_t>(holders_.size() - 1);
}

std::vector<uint32_t> RootHolders::members_of(uint32_t holder) const {
  return holders_[holder].members.empty() ? std::vector<uint32_t>{holder} : holders_[holder].members;
}

uint32_t RootHolders::set_of(uint32_t holder, uint32_t other) {
  if (holder == many_ || other == many_) return many_;
  std::vector<uint32_t> members;
  const std::vector<uint32_t> left = members_of(holder);
  const std::vector<uint32_t> right = members_of(other);
  std::set_union(left.begin(), left.end(), right.begin(), right.end(), std::back_inserter(members));
  constexpr size_t kMostSets = 100'000;
  if (members.size() > kMostNames || sets_.size() >= kMostSets) return many_;
  const auto [at, is_new] = sets_.try_emplace(members);
  if (!is_new) return at->second;
  const bool are_named =
      std::none_of(members.begin(), members.end(), [this](uint32_t id) { return holders_[id].name.empty(); });
  at->second = are_named ? add(holders_[holder].kind, 0, "") : many_;
  if (are_named) holders_[at->second].members = members;
  return at->second;
}

uint32_t RootHolders::join(uint32_t holder, uint32_t other) {
  constexpr size_t kMostKept = 200'000;
  if (joined_.size() >= kMostKept) return set_of(holder, other);
  const auto [at, is_new] = joined_.try_emplace(uint64_t{holder} << 32 | other);
  if (is_new) at->second = set_of(holder, other);
  return at->second;
}

RootHolders::ModuleData& RootHolders::data_of(const LeakRoot& root) {
  const auto [at, is_new] = modules_.try_emplace(root.module);
  if (is_new) {
    at->second.index = static_cast<uint32_t>(module_names_.size());
    module_names_.push_back(root.module);
    at->second.variables = read_variables_(root);
    at->second.ids.resize(at->second.variables.size());
  }
  return at->second;
}

uint32_t RootHolders::holder_at(const LeakRoot& root, uint64_t address) {
  ModuleData& data = data_of(root);
  const uint64_t svma = address - root.base_avma;
  const auto behind = std::upper_bound(data.variables.begin(), data.variables.end(), svma,
                                       [](uint64_t at, const Variable& one) { return at < one.start_svma; });
  const bool is_in_one = behind != data.variables.begin() && svma < std::prev(behind)->end_svma;
  const auto index = static_cast<size_t>(behind - data.variables.begin());
  uint32_t& id = is_in_one ? data.ids[index - 1] : data.rest_id;
  if (id == 0) id = add(root.kind, data.index, is_in_one ? std::prev(behind)->name : "");
  return id;
}

void RootHolders::mark(const std::vector<LeakRoot>& roots, const std::vector<std::span<const uint64_t>>& words,
                       const std::function<std::vector<Variable>(const LeakRoot&)>& read_variables, LeakMarks* marks) {
  read_variables_ = read_variables;
  for (const RootKind kind : kKinds) {
    marks->follow();  // while join() still makes the previous kind's sets, whose ids are below this kind's
    many_ = add(kind, 0, "");
    holders_[many_].members = {many_};
    marks->begin_holders(many_, [this](uint32_t holder, uint32_t other) { return join(holder, other); });
    uint32_t all = 0;  // the holder for all roots of a kind other than kVariable
    for (const LeakRoot& root : roots) {
      if (root.kind != kind) continue;
      marks->add_root(root.range, root.is_libc, [&](uint64_t address) {
        if (kind == RootKind::kVariable) return holder_at(root, address);
        if (all == 0) all = add(kind, 0, "");
        return all;
      });
    }
    if (kind != RootKind::kStack) continue;
    if (all == 0 && !words.empty()) all = add(kind, 0, "");
    for (const std::span<const uint64_t> registers : words) marks->add_root_words(registers, all);
  }
  marks->follow();
  modules_.clear();
  sets_.clear();
  joined_.clear();
  read_variables_ = nullptr;
}

HeldBlocks RootHolders::describe(uint32_t id) const {
  const Holder& holder = holders_[id];
  HeldBlocks held;
  held.kind = holder.kind;
  held.is_shared = !holder.members.empty();
  held.module = module_names_[holder.module];
  if (!holder.name.empty()) held.names = {holder.name};
  for (const uint32_t member : holder.members) {
    if (member == id) continue;  // it stands for too many holders to name
    const std::string& module = module_names_[holders_[member].module];
    held.names.push_back(holders_[member].name);
    if (held.names.size() == 1) held.module = module;
    if (held.module != module) held.module.clear();
  }
  std::sort(held.names.begin(), held.names.end());
  return held;
}

std::vector<HeldBlocks> RootHolders::sum(const std::vector<LeakBlock>& blocks) const {
  std::map<uint32_t, HeldBlocks> by_holder;
  std::unordered_map<uint64_t, LostPart> parts;  // by holder and site
  for (const LeakBlock& block : blocks) {
    if (block.holder == 0 || block.site == 0 || block.kind != LeakKind::kReachable) continue;
    LostPart& part = parts[uint64_t{block.holder} << 32 | block.site];
    part.site = block.site;
    part.bytes += block.size_bytes;
    ++part.blocks;
  }
  for (const auto& [key, part] : parts) {
    const auto id = static_cast<uint32_t>(key >> 32);
    const auto [at, is_new] = by_holder.try_emplace(id);
    if (is_new) at->second = describe(id);
    at->second.bytes += part.bytes;
    at->second.blocks += part.blocks;
    at->second.parts.push_back(part);
  }
  std::vector<HeldBlocks> held;
  for (auto& [id, one] : by_holder) {
    std::sort(one.parts.begin(), one.parts.end(), [](const LostPart& a, const LostPart& b) {
      return std::tie(b.bytes, b.blocks, a.site) < std::tie(a.bytes, a.blocks, b.site);
    });
    if (one.parts.size() > kMostParts) one.parts.resize(kMostParts);
    held.push_back(std::move(one));
  }
  std::sort(held.begin(), held.end(), is_larger);
  if (held.size() > kMostHolders) held.resize(kMostHolders);
  return held;
}

}  // namespace heapprof::cli
