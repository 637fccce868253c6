// cli/write/text/place_text.cc: one set of column widths for all lines, so that numbers can be compared by eye.
#include "cli/write/text/place_text.h"

#include "cli/base/file_name.h"
#include "cli/base/function_name.h"
#include "cli/base/text.h"
#include "cli/base/units.h"
#include "cli/model/analysis/exception_reserve.h"
#include "cli/model/analysis/frame_name.h"
#include "cli/model/profile/frame_text.h"
#include "cli/model/profile/site_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

namespace heapprof::cli {
namespace {

std::string normal_path(const std::string& path) {
  return path.find("/.") == std::string::npos && path.find("//") == std::string::npos
             ? path
             : std::filesystem::path(path).lexically_normal().string();
}

// The deepest folder with nine tenths of the user's own frames in the main program. Files elsewhere stay absolute:
// headers of libraries that were compiled in, and sources of shared libraries. In a Python program, the program's own
// Python files count instead.
std::string find_root(const Profile& profile, const PlaceTree& tree, const PythonPaths* python) {
  std::vector<std::string> files;
  for (size_t i = 0; i < profile.frames.size(); ++i) {
    const Frame& frame = profile.frames[i];
    if (tree.kinds[i] != FrameKind::kUser || frame.file.empty() || frame.file[0] != '/') continue;
    if (python != nullptr) {
      const bool is_own = is_of_python(profile, frame) && python->origin(frame.file) == PythonOrigin::kOwn;
      if (is_own) files.push_back(normal_path(frame.file));
      continue;
    }
    const bool in_program =
        frame.module < profile.modules.size() && profile.modules[frame.module].path == profile.run.executable;
    const std::string file = normal_path(frame.file);
    const bool is_header_of_system = file.starts_with("/usr/include/") || file.starts_with("/usr/local/include/");
    if ((in_program || profile.dialect != Dialect::kHeapprof) && !is_header_of_system) files.push_back(file);
  }
  std::string root = "/";
  const size_t needed = files.size() - files.size() / 10;
  while (!files.empty()) {
    std::map<std::string, size_t> folders;  // the folders right below the root
    for (const std::string& file : files) {
      if (file.compare(0, root.size(), root) != 0) continue;
      if (const size_t slash = file.find('/', root.size()); slash != std::string::npos)
        ++folders[file.substr(0, slash + 1)];
    }
    const auto largest = std::max_element(folders.begin(), folders.end(),
                                          [](const auto& a, const auto& b) { return a.second < b.second; });
    if (largest == folders.end() || largest->second < needed) break;
    root = largest->first;
  }
  return root == "/" ? "" : root;
}

}  // namespace

FrameNames::FrameNames(const Profile& profile, const PlaceTree& tree)
    : profile_(profile), reserve_frames_(find_reserve_frames(profile)) {
  if (has_python(profile)) python_.emplace(profile);
  root_ = find_root(profile, tree, python_ ? &*python_ : nullptr);
}

bool FrameNames::is_reserve(uint32_t frame) const {
  return std::find(reserve_frames_.begin(), reserve_frames_.end(), frame) != reserve_frames_.end();
}

bool FrameNames::has_name(uint32_t frame) const {
  return !profile_.frames[frame].function.empty() || is_reserve(frame);
}

std::string FrameNames::function(uint32_t frame) const {
  const Frame& it = profile_.frames[frame];
  if (is_reserve(frame)) return std::string(kReserveName);
  if (it.function.empty()) return fmt::format("0x{:X}", it.svma);
  return escape_controls(frame_name(profile_, it)).append(it.inferred ? kInferredMark : "");
}

std::string FrameNames::file(uint32_t frame) const {
  const Frame& it = profile_.frames[frame];
  if (it.file.empty()) return short_location(frame);
  const std::string path = normal_path(it.file);
  if (python_ && is_of_python(profile_, it) && python_->shown(path).size() < path.size())
    return escape_controls(std::string(python_->shown(path)));
  const bool is_below_root = !root_.empty() && path.compare(0, root_.size(), root_) == 0;
  return escape_controls(is_below_root ? path.substr(root_.size()) : path);
}

std::string FrameNames::location(uint32_t frame) const {
  const Frame& it = profile_.frames[frame];
  return it.file.empty() || it.line == 0 ? file(frame) : fmt::format("{}:{}", file(frame), it.line);
}

std::string FrameNames::short_location(uint32_t frame) const {
  const Frame& it = profile_.frames[frame];
  if (!it.file.empty())
    return escape_controls(it.line > 0 ? fmt::format("{}:{}", base_name(it.file), it.line) : base_name(it.file));
  if (it.module >= profile_.modules.size() || is_of_python(profile_, it)) return "";
  return escape_controls(base_name(profile_.modules[it.module].path));
}

std::string FrameNames::place_function(const Place& place) const {
  return place.has_frame ? function(place.frame) : std::string(kNoStackText);
}
std::string FrameNames::place_location(const Place& place) const {
  return place.has_frame ? location(place.frame) : "";
}

namespace {

// "parse 40 %, index_all 33 %, 5 more": as many as fit; "7 callers" if none fits, or the first has no name.
std::string shares_text(const FrameNames& names, const CallerChain& chain, size_t columns) {
  const size_t count = chain.shares.size() + chain.unnamed_shares;
  const bool has_some =
      chain.unnamed_shares != 0 || std::any_of(chain.shares.begin(), chain.shares.end(),
                                               [&](const CallerShare& share) { return names.has_name(share.frame); });
  const std::string counted = format_counted(count, "caller");
  const std::string without = counted + " without names";
  const std::string only_count = has_some || display_width(without) > columns ? counted : without;
  std::string best;
  std::string text;
  for (size_t i = 0; i < chain.shares.size() && names.has_name(chain.shares[i].frame); ++i) {
    const CallerShare& share = chain.shares[i];
    text += (text.empty() ? "" : ", ") + shorten_function(last_two_parts(names.function(share.frame)), 32) + " " +
            format_percent_rounded({share.weight, chain.weight});
    const std::string whole =
        i + 1 == count ? text : fmt::format("{}, {} more", text, format_count_exact(count - i - 1));
    if (display_width(whole) <= columns) best = whole;
    if (display_width(text) > columns) break;
  }
  return !best.empty() ? best : display_width(only_count) <= columns ? only_count : "";
}

std::string join_callers(const FrameNames& names, const CallerChain& chain, bool with_locations, bool all_locations,
                         size_t columns) {
  std::string text;
  const std::string arrow = with_locations ? "" : "← ";  // on its own line the chain needs no arrow before it
  const auto append = [&](const std::string& part, bool last) {
    const std::string joint = text.empty() ? arrow : " ← ";
    const size_t reserved = last ? 0 : 4;  // " ← …"
    if (display_width(text) + display_width(joint) + display_width(part) + reserved > columns) return false;
    text += joint + part;
    return true;
  };
  constexpr size_t kShortest = 12;  // fewer columns are useless
  if (columns < kShortest) return "";
  // Addresses are useless beside names; without any name the first one is enough.
  std::vector<uint32_t> frames;
  for (const uint32_t frame : chain.frames) {
    if (names.has_name(frame)) frames.push_back(frame);
  }
  if (frames.empty() && !chain.frames.empty()) frames.push_back(chain.frames.front());
  for (size_t i = 0; i < frames.size();) {
    const std::string function = names.function(frames[i]);
    size_t next = i + 1;
    while (next < frames.size() && names.function(frames[next]) == function) ++next;
    const std::string repeated = next - i > 1 ? fmt::format(" ×{}", next - i) : "";
    const std::string shortened = shorten_function(last_two_parts(function), 32);
    const std::string part = shortened + repeated;
    const bool last = next == frames.size() && chain.shares.size() + chain.unnamed_shares == 0;
    const std::string where = names.short_location(frames[i]);  // "[small sites]" has no location
    const bool appended = (with_locations && (i == 0 || all_locations) && !where.empty() &&
                           append(fmt::format("{} ({}){}", shortened, where, repeated), last)) ||
                          append(part, last);
    if (!appended && text.empty()) return arrow + shorten_function(part, columns - display_width(arrow));
    if (!appended) return text + " ← …";
    i = next;
  }
  if (chain.shares.size() + chain.unnamed_shares == 0) return text;
  const size_t used = display_width(text) + (text.empty() ? display_width(arrow) : 3);
  const std::string shares = shares_text(names, chain, columns - std::min(columns, used));
  if (shares.empty() || !append(shares, true)) return text.empty() ? "" : text + " ← …";
  return text;
}

}  // namespace

std::string each_text(const PlaceNumbers& numbers, bool exact_bytes) {
  const auto bytes = [exact_bytes](uint64_t value) {
    return exact_bytes ? format_bytes_exact(value) : format_bytes(value);
  };
  if (numbers.total_blocks == 0) return "";
  if (!has_sizes(numbers)) return bytes(numbers.total_bytes / numbers.total_blocks) + " on average";
  if (numbers.smallest_bytes == numbers.largest_bytes) return bytes(numbers.largest_bytes) + " each";
  return bytes(numbers.smallest_bytes) + " to " + bytes(numbers.largest_bytes);
}

std::string callers_text(const FrameNames& names, const CallerChain& chain, bool with_locations, size_t columns) {
  // If not everything fits, more names are worth more than their locations.
  const std::string text = join_callers(names, chain, with_locations, true, columns);
  return with_locations && text.ends_with("…") ? join_callers(names, chain, true, false, columns) : text;
}

PlaceLine line_of(const Profile& profile, const PlaceTree& tree, const FrameNames& names, uint32_t node,
                  CallerChain* callers) {
  constexpr size_t kMostCallers = 8;
  const uint32_t place_node = node == 0 ? 0 : tree.place_node[node];
  Place place;
  place.has_frame = place_node != 0;
  if (place.has_frame) place.frame = profile.nodes[place_node].frame;
  for (uint32_t outer = place_node; outer != 0 && callers->frames.size() < kMostCallers;) {
    outer = tree.user_node[profile.nodes[outer].parent];
    if (outer != 0) callers->frames.push_back(profile.nodes[outer].frame);
  }
  return {{}, names.place_function(place), names.place_location(place), callers, ""};
}

namespace {

constexpr size_t kPlaceGap = 2;
constexpr size_t kNarrowPlaces = 34;  // columns for a function and its location: fewer, and neither would be readable

struct NarrowView {
  size_t indent = 0;
  size_t left = 0;  // column of functions
  size_t columns = 0;
};

constexpr size_t kBelow = 4;  // columns further in than the numbers

// Puts the location, and what follows, on a separate line; also the function if the numbers leave no room for it.
std::vector<std::string> lay_out_narrow(const FrameNames& names, const std::vector<PlaceLine>& lines,
                                        const NarrowView& view, const std::vector<size_t>& number_widths) {
  constexpr size_t kLeastRoom = 12;
  const bool is_function_below = view.left + kLeastRoom > view.columns;
  const std::string blank(view.indent + kBelow, ' ');
  const size_t room = view.columns - (is_function_below ? blank.size() : view.left);
  std::vector<std::string> result;
  for (const PlaceLine& line : lines) {
    std::string text(view.indent, ' ');
    for (size_t i = 0; i < number_widths.size(); ++i)
      text += pad_left(i < line.numbers.size() ? line.numbers[i] : "", number_widths[i]) + std::string(kPlaceGap, ' ');
    if (is_function_below) text = text.substr(0, text.find_last_not_of(' ') + 1) + "\n" + blank;
    text += shorten_function(line.function, room);
    std::string below = shorten_path(line.location, view.columns - blank.size());
    const size_t used = blank.size() + display_width(below) + (below.empty() ? 0 : kPlaceGap);
    const size_t rest = view.columns > used ? view.columns - used : 0;
    const std::string remark = line.callers != nullptr ? callers_text(names, *line.callers, false, rest) : line.remark;
    if (!remark.empty() && display_width(remark) <= rest) below += (below.empty() ? "" : "  ") + remark;
    result.push_back(below.empty() ? text : text + "\n" + blank + below);
  }
  return result;
}

}  // namespace

std::vector<std::string> lay_out(const FrameNames& names, const std::vector<PlaceLine>& lines, size_t indent,
                                 size_t columns, size_t* function_column) {
  std::vector<size_t> number_widths;
  size_t function_width = 0;
  size_t location_width = 0;
  bool has_callers = false;
  for (const PlaceLine& line : lines) {
    number_widths.resize(std::max(number_widths.size(), line.numbers.size()));
    for (size_t i = 0; i < line.numbers.size(); ++i)
      number_widths[i] = std::max(number_widths[i], display_width(line.numbers[i]));
    function_width = std::max(function_width, display_width(line.function));
    location_width = std::max(location_width, display_width(line.location));
    has_callers = has_callers || line.callers != nullptr;
  }
  size_t left = indent;
  for (const size_t width : number_widths) left += width + kPlaceGap;
  *function_column = left;
  const size_t room = columns > left + 16 ? columns - left : 16;
  if (room < kNarrowPlaces) {
    *function_column = indent + kBelow;  // lines below a place begin there
    return lay_out_narrow(names, lines, {indent, left, columns}, number_widths);
  }
  // One long name must not push the others' places and callers off the line: each column is limited to a share of the
  // room, and its unused space goes to the next column.
  const size_t location_share = std::min(location_width, std::max<size_t>(room * (has_callers ? 3 : 4) / 10, 14));
  const size_t rest_for_function = room - std::min(room - 1, location_share + kPlaceGap);
  const size_t function_limit =
      has_callers ? std::min(std::max<size_t>(room * 4 / 10, 20), rest_for_function) : rest_for_function;
  const size_t full_location_width = location_width;
  function_width = location_width = 0;
  for (const PlaceLine& line : lines)
    function_width = std::max(function_width, display_width(shorten_function(line.function, function_limit)));
  const size_t location_limit =
      has_callers ? location_share : std::min(full_location_width, room - std::min(room, function_width + kPlaceGap));
  for (const PlaceLine& line : lines)
    location_width = std::max(location_width, display_width(shorten_path(line.location, location_limit)));
  std::vector<std::string> result;
  for (const PlaceLine& line : lines) {
    std::string text(indent, ' ');
    for (size_t i = 0; i < number_widths.size(); ++i) {
      text += pad_left(i < line.numbers.size() ? line.numbers[i] : "", number_widths[i]) + std::string(kPlaceGap, ' ');
    }
    text += pad_right(shorten_function(line.function, function_limit), function_width) + std::string(kPlaceGap, ' ');
    text += pad_right(shorten_path(line.location, location_limit), location_width);
    const size_t used = display_width(text) + kPlaceGap + 1;
    const size_t rest = columns > used ? columns - used : 0;
    std::string remark = line.callers != nullptr ? callers_text(names, *line.callers, false, rest) : line.remark;
    if (display_width(remark) > rest) remark.clear();
    if (!remark.empty()) text += std::string(kPlaceGap + 1, ' ') + remark;
    text.erase(text.find_last_not_of(' ') + 1);
    result.push_back(text);
  }
  return result;
}

}  // namespace heapprof::cli
