// cli/symbolize/unit_frames.cc: functions and inlined copies look up their addresses; addresses do not search
// functions.
//
// A unit has many entries, and a profile needs few addresses in it: a tree of all scopes would be searched only a few
// times. Here one walk visits every entry once. An entry that covers a wanted address becomes its innermost one,
// because the walk goes from outer to inner. An entry that covers none costs a comparison, and its inlined copies
// nothing.
//
// Debug information may contradict itself: two functions at one address (the smaller is used), an inlined copy at an
// address that a sibling copy already has (it is left out there). No such file can make the walk loop: it follows the
// order of the file, and parents only upwards.
#include "cli/symbolize/unit_frames.h"

#include "cli/symbolize/call_sites.h"
#include "cli/symbolize/source_path.h"

#include <dwarf.h>

#include <algorithm>
#include <optional>
#include <string>
#include <unordered_map>

namespace heapprof::cli {
namespace {

constexpr uint32_t kNone = 0xffffffff;
// Instead of a target's key: a call through a pointer, or two entries that disagree.
constexpr uint64_t kContradiction = ~uint64_t{0};
// Inlining is at most a few dozen levels deep in real code.
constexpr int kMaxInlineDepth = 1024;

// A function, or an inlined copy of one.
struct Node {
  Dwarf_Die die;
  uint32_t parent = kNone;  // the node into which it was inlined
  uint64_t bytes = 0;       // functions: size of the code
  uint64_t low = 0;         // functions: begin of its first range
};

// An open entry during the walk: its children are deeper.
struct CodeScope {
  int depth;
  uint32_t node;  // kNone: neither the entry nor its inlined copies cover an address
};

class Walk {
 public:
  Walk(Dwarf_Die unit, std::span<const uint64_t> addresses, const std::vector<AddressRange>& executable,
       UnitReading* reading)
      : addresses_(addresses),
        executable_(executable),
        reading_(reading),
        innermost_(addresses.size(), kNone),
        targets_(addresses.size(), 0) {
    find_directory(unit);
  }

  void run();
  UnitFrames frames_of(size_t index);

 private:
  void find_directory(const Dwarf_Die& unit);
  void add_call(Dwarf_Die site);
  uint64_t key_of_function(const Dwarf_Die& die);
  uint32_t add_function(Dwarf_Die die);
  uint32_t add_inlined(Dwarf_Die die, uint32_t parent);
  uint32_t function_of(uint32_t node) const;
  bool is_inside(uint32_t node, uint32_t outer) const;
  void set_line(uint64_t address, SourceFrame* frame);
  void set_call_site(Dwarf_Die* inlined, SourceFrame* frame);
  std::string path_of(const char* file);

  // [first, last) of the addresses in a range.
  std::pair<size_t, size_t> covered(const AddressRange& range) const {
    auto first = std::lower_bound(addresses_.begin(), addresses_.end(), range.low);
    auto last = std::lower_bound(first, addresses_.end(), range.high);
    return {static_cast<size_t>(first - addresses_.begin()), static_cast<size_t>(last - addresses_.begin())};
  }

  std::span<const uint64_t> addresses_;
  const std::vector<AddressRange>& executable_;
  UnitReading* reading_;
  Dwarf_Die entries_{};  // the unit with the entries: the split one, if it exists
  Dwarf_Die lines_{};    // the unit with the line table and the compilation directory: the skeleton
  std::vector<Node> nodes_;
  std::vector<uint32_t> innermost_;  // by address: the node found so far
  std::vector<uint64_t> targets_;    // by address: the key of the called function, as CallKeys::target
  bool has_missing_entries_ = false;
  std::string directory_;
  std::unordered_map<const char*, std::string> paths_;  // by the name's address in libdw's file table
};

void Walk::find_directory(const Dwarf_Die& unit) {
  const UnitParts parts = find_parts(unit);
  entries_ = parts.entries;
  lines_ = parts.lines;
  has_missing_entries_ = !parts.missing_file.empty();
  if (reading_->missing_unit.empty()) reading_->missing_unit = parts.missing_file;
  Dwarf_Attribute memory;
  Dwarf_Attribute* found = dwarf_attr(&lines_, DW_AT_comp_dir, &memory);
  const char* directory = found == nullptr ? nullptr : dwarf_formstring(found);
  if (directory != nullptr) directory_ = directory;
}

void Walk::run() {
  DieReader reader(entries_, &reading_->shapes);
  DieNames::ScopeWalk naming(&reading_->names, entries_.cu);
  std::vector<CodeScope> open;
  while (reader.next()) {
    naming.enter(reader);
    while (!open.empty() && open.back().depth >= reader.depth()) open.pop_back();
    if (reader.tag() == DW_TAG_subprogram) {
      open.push_back({reader.depth(), reader.has_code() ? add_function(reader.die()) : kNone});
    } else if (reader.tag() == DW_TAG_inlined_subroutine && reader.has_code() && !open.empty() &&
               open.back().node != kNone && open.size() < kMaxInlineDepth) {
      uint32_t node = add_inlined(reader.die(), open.back().node);
      if (node != kNone) open.push_back({reader.depth(), node});
    } else if (is_call_site(reader.tag()) && !open.empty() && open.back().node != kNone) {
      add_call(reader.die());
    }
  }
}

uint32_t Walk::add_function(Dwarf_Die die) {
  std::vector<AddressRange> ranges = code_ranges(&die, executable_);
  uint64_t bytes = 0;
  for (const AddressRange& range : ranges) bytes += range.high - range.low;
  uint32_t node = kNone;
  for (const AddressRange& range : ranges) {
    auto [first, last] = covered(range);
    for (size_t i = first; i < last; ++i) {
      // Two functions at one address: the smaller one says more.
      if (innermost_[i] != kNone && nodes_[function_of(innermost_[i])].bytes <= bytes) continue;
      if (node == kNone) {
        node = static_cast<uint32_t>(nodes_.size());
        nodes_.push_back({die, kNone, bytes, ranges.front().low});
      }
      innermost_[i] = node;
    }
  }
  return node;
}

uint32_t Walk::add_inlined(Dwarf_Die die, uint32_t parent) {
  uint32_t node = kNone;
  for (const AddressRange& range : code_ranges(&die, executable_)) {
    auto [first, last] = covered(range);
    for (size_t i = first; i < last; ++i) {
      // Skips addresses at which a sibling copy, or another function, was found.
      if (innermost_[i] == kNone || !is_inside(parent, innermost_[i])) continue;
      if (node == kNone) {
        node = static_cast<uint32_t>(nodes_.size());
        nodes_.push_back({die, parent, 0, 0});
      }
      innermost_[i] = node;
    }
  }
  return node;
}

// If a call returns just after one of the addresses, its function is the target at that address.
void Walk::add_call(Dwarf_Die site) {
  const Dwarf_Addr behind = return_address(&site);
  const auto at = std::lower_bound(addresses_.begin(), addresses_.end(), behind - 1);
  if (behind == 0 || at == addresses_.end() || *at != behind - 1 || is_tail_call(&site)) return;
  uint64_t& target = targets_[static_cast<size_t>(at - addresses_.begin())];
  const std::optional<Dwarf_Die> origin = call_origin(&site);
  const uint64_t key = origin ? target_key(identify(*origin)) : kContradiction;
  target = target == 0 || target == key ? key : kContradiction;
}

uint64_t Walk::key_of_function(const Dwarf_Die& die) {
  auto [entry, is_new] = reading_->function_keys.try_emplace(die.addr);
  if (is_new) entry->second = function_key(identify(die));
  return entry->second;
}

uint32_t Walk::function_of(uint32_t node) const {
  while (nodes_[node].parent != kNone) node = nodes_[node].parent;
  return node;
}

bool Walk::is_inside(uint32_t node, uint32_t outer) const {
  while (node != outer && nodes_[node].parent != kNone) node = nodes_[node].parent;
  return node == outer;
}

std::string Walk::path_of(const char* file) {
  if (file == nullptr) return {};
  auto [entry, is_new] = paths_.try_emplace(file);
  if (is_new) entry->second = source_path(directory_, file);
  return entry->second;
}

void Walk::set_line(uint64_t address, SourceFrame* frame) {
  Dwarf_Line* line = dwarf_getsrc_die(&lines_, address);
  if (line == nullptr) return;
  int number = 0;
  if (dwarf_lineno(line, &number) == 0 && number > 0) frame->line = static_cast<uint32_t>(number);
  frame->file = path_of(dwarf_linesrc(line, nullptr, nullptr));
}

void Walk::set_call_site(Dwarf_Die* inlined, SourceFrame* frame) {
  Dwarf_Attribute memory;
  Dwarf_Word value = 0;
  Dwarf_Attribute* found = dwarf_attr(inlined, DW_AT_call_line, &memory);
  if (found != nullptr && dwarf_formudata(found, &value) == 0 && value <= 0xffffffff) {
    frame->line = static_cast<uint32_t>(value);
  }
  found = dwarf_attr(inlined, DW_AT_call_file, &memory);
  Dwarf_Files* files = nullptr;
  size_t count = 0;
  if (found == nullptr || dwarf_formudata(found, &value) != 0) return;
  if (dwarf_getsrcfiles(&entries_, &files, &count) != 0 || value >= count) return;
  frame->file = path_of(dwarf_filesrc(files, value, nullptr, nullptr));
}

UnitFrames Walk::frames_of(size_t index) {
  UnitFrames result;
  SourceFrame frame;
  set_line(addresses_[index], &frame);
  for (uint32_t node = innermost_[index]; node != kNone; node = nodes_[node].parent) {
    const DieName& name = reading_->names.name(nodes_[node].die);
    frame.function = name.text;
    frame.inlined = nodes_[node].parent != kNone;
    result.frames.push_back(std::move(frame));
    frame = SourceFrame();
    if (nodes_[node].parent != kNone) {
      set_call_site(&nodes_[node].die, &frame);
    } else {
      result.function_bytes = nodes_[node].bytes;
      result.function_low = nodes_[node].low;
      result.has_bare_name = !name.is_mangled;
      result.call.function = key_of_function(nodes_[node].die);
      if (targets_[index] != kContradiction) result.call.target = targets_[index];
    }
  }
  // Without the entries the function is unknown, and the line may belong to a function inlined into it.
  if (result.frames.empty() && !frame.file.empty() && !has_missing_entries_) result.frames.push_back(std::move(frame));
  return result;
}

// The file in which the compiler put the rest of a skeleton: "/home/me/build/render.dwo".
std::string split_file_of(Dwarf_Die skeleton) {
  Dwarf_Attribute memory;
  const auto text_of = [&](unsigned name) {
    Dwarf_Attribute* const found = dwarf_attr(&skeleton, name, &memory);
    const char* const text = found == nullptr ? nullptr : dwarf_formstring(found);
    return std::string(text == nullptr ? "" : text);
  };
  std::string file = text_of(DW_AT_dwo_name);
  if (file.empty()) file = text_of(DW_AT_GNU_dwo_name);
  return file.empty() ? "a .dwo file" : source_path(text_of(DW_AT_comp_dir), file);
}

}  // namespace

UnitParts find_parts(const Dwarf_Die& unit) {
  UnitParts parts{unit, unit, ""};
  uint8_t type = 0;
  Dwarf_Die split{};
  if (dwarf_cu_info(unit.cu, nullptr, &type, nullptr, &split, nullptr, nullptr, nullptr) == 0 &&
      type == DW_UT_skeleton) {
    if (split.addr != nullptr) parts.entries = split;
    if (split.addr == nullptr) parts.missing_file = split_file_of(parts.entries);
  }
  return parts;
}

std::vector<UnitFrames> read_unit_frames(Dwarf_Die unit, std::span<const uint64_t> addresses,
                                         const std::vector<AddressRange>& executable, UnitReading* reading) {
  Walk walk(unit, addresses, executable, reading);
  walk.run();
  std::vector<UnitFrames> all;
  all.reserve(addresses.size());
  for (size_t i = 0; i < addresses.size(); ++i) all.push_back(walk.frames_of(i));
  return all;
}

}  // namespace heapprof::cli
