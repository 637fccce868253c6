// cli/read/read_profile.cc: the top-level object, in any order of its names; then the three dialects.
//
// A file with the key "heapprof" is heapprof's. Without it, mode distinguishes Valgrind ("heap") from dhat-rs
// ("rust-heap"). Both leave out the totals, which are the sums of the points.
#include "cli/read/read_profile.h"

#include "cli/base/problems.h"
#include "cli/base/saturating.h"
#include "cli/model/profile/canonical.h"
#include "cli/model/profile/frame_text.h"
#include "cli/model/profile/invariants.h"
#include "cli/model/profile/site_fields.h"
#include "cli/model/profile/site_numbers.h"
#include "cli/read/extension_reader.h"
#include "cli/read/field_reader.h"
#include "cli/read/point_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <vector>

namespace heapprof::cli {
namespace {

constexpr uint64_t kMostProfileBytes = uint64_t{8} << 30;
constexpr size_t kMostFrames = 16 << 20;
constexpr uint64_t kNsPerUs = 1000;

class ProfileReader {
 public:
  ProfileReader(ByteSource* source, const std::string& name)
      : source_(source), json_(source), name_(name), points_(&profile_.nodes) {}

  Result<Profile> run() {
    read_top();
    if (json_.failed()) return syntax_problem();
    if (!top_.has("dhatFileVersion")) return profile_not_dhat(name_, "there is no dhatFileVersion");
    if (version_ > 2) return profile_too_new(name_, "the DHAT format", {version_, 2});
    if (version_ < 2) return profile_not_dhat(name_, fmt::format("its dhatFileVersion is {}, not 2", version_));
    if (mode_ != "heap" && mode_ != "rust-heap") {
      return profile_not_dhat(name_, fmt::format("it is a profile of mode \"{}\", not of the heap", mode_));
    }
    for (const char* name : {"mode", "bklt", "tu", "cmd", "pid", "te", "pps", "ftbl"}) {
      if (!top_.has(name)) return profile_broken(name_, fmt::format("\"{}\" is missing", name));
    }
    profile_.has_lifetimes = has_lifetimes_;
    if (has_lifetimes_ && !(top_.has("tg") && points_.all_have_lifetimes())) {
      return profile_broken(name_,
                            "it says that it has lifetimes (bklt), but tg or a program point's fields are missing");
    }
    if (!resolve_frames()) return profile_broken(name_, reason_);
    if (!(top_.has("heapprof") ? finish_ours() : finish_foreign())) return profile_broken(name_, reason_);
    const std::vector<std::string> violations = find_violations(profile_);
    if (!violations.empty()) return profile_broken(name_, violations.front());
    return std::move(profile_);
  }

 private:
  void read_top() {
    if (json_.peek_kind() == 0 && !json_.failed()) {
      json_.fail("it is empty");
      return;
    }
    if (json_.peek_kind() != '{' && !json_.failed()) {
      json_.fail("it is no JSON, or not an object of it");
      return;
    }
    top_.read();
    json_.expect_end();
  }

  void read_frame_table() {
    if (!json_.begin_array()) return;
    while (json_.next_element()) {
      if (frame_texts_.size() >= kMostFrames) {
        json_.fail("there are more frames than heapprof reads");
        return;
      }
      if (!read_text(&json_, &frame_texts_.emplace_back())) return;
    }
  }

  Problem syntax_problem() const {
    if (const uint64_t most_bytes = source_->unpacked_limit_bytes()) return profile_unpacks_too_far(name_, most_bytes);
    if (extension_.version > kExtensionVersion) {
      return profile_too_new(name_, "the heapprof extension", {extension_.version, kExtensionVersion});
    }
    if (json_.is_syntax_error()) return profile_not_json(name_, json_.offset_bytes(), json_.error());
    if (!top_.has("dhatFileVersion")) return profile_not_dhat(name_, json_.error());
    return profile_broken(name_, fmt::format("{} (at byte {})", json_.error(), json_.offset_bytes()));
  }

  bool broken(std::string reason) {
    reason_ = std::move(reason);
    return false;
  }

  // ftbl[0] is the root; nodes refer to its entries from 1 on, frames count from 0.
  bool resolve_frames() {
    if (frame_texts_.empty()) return broken("\"ftbl\" lacks its entry for the root");
    if (points_.largest_frame() >= frame_texts_.size()) {
      return broken(fmt::format("a program point names frame {} of {}", points_.largest_frame(), frame_texts_.size()));
    }
    for (size_t i = 1; i < profile_.nodes.size(); ++i) --profile_.nodes[i].frame;
    const bool is_foreign = !top_.has("heapprof");
    if (!is_foreign) profile_.modules = std::move(extension_.modules);
    std::unordered_map<std::string_view, uint32_t> module_numbers;
    profile_.frames.reserve(frame_texts_.size() - 1);
    for (size_t i = 1; i < frame_texts_.size(); ++i) {
      const ParsedFrame parsed = parse_frame_text(frame_texts_[i], is_foreign && mode_ == "rust-heap");
      Frame& frame = profile_.frames.emplace_back();
      frame.svma = parsed.svma;
      frame.function = parsed.function;
      frame.file = parsed.file;
      frame.line = parsed.line;
      has_no_stack_ = has_no_stack_ || frame_texts_[i] == kNoStackText;
      if (extension_.has_frame_modules || parsed.module.empty()) continue;
      const auto [entry, is_new] =
          module_numbers.try_emplace(parsed.module, static_cast<uint32_t>(profile_.modules.size()));
      if (is_new) profile_.modules.push_back({std::string(parsed.module), ""});
      frame.module = entry->second;
    }
    return is_foreign || apply_frame_parts();
  }

  bool apply_frame_parts() {
    // The pseudo-frame [no stack] is in the table, but is no frame.
    const size_t frames = profile_.frames.size() - (has_no_stack_ && frame_texts_.back() == kNoStackText ? 1 : 0);
    if (extension_.has_frame_modules && extension_.frame_modules.size() != frames) {
      return broken(fmt::format("there are {} frames, but modules for {}", frames, extension_.frame_modules.size()));
    }
    for (size_t i = 0; i < extension_.frame_modules.size(); ++i) {
      const int64_t module = extension_.frame_modules[i];
      if (module < -1 || module >= static_cast<int64_t>(profile_.modules.size())) {
        return broken(fmt::format("frame {} names module {} of {}", i, module, profile_.modules.size()));
      }
      if (module >= 0) profile_.frames[i].module = static_cast<uint32_t>(module);
    }
    for (const uint64_t i : extension_.inlined_frames) {
      if (i >= frames) return broken(fmt::format("\"inlined\" names frame {} of {}", i, frames));
      profile_.frames[i].inlined = true;
    }
    for (const uint64_t i : extension_.inferred_frames) {
      if (i >= frames) return broken(fmt::format("\"inferred\" names frame {} of {}", i, frames));
      profile_.frames[i].inferred = true;
    }
    for (const ExactFrame& exact : extension_.exact_frames) {
      if (exact.frame >= frames) return broken(fmt::format("\"exact\" names frame {} of {}", exact.frame, frames));
      Frame& frame = profile_.frames[exact.frame];
      frame.svma = exact.parts.svma;
      frame.function = exact.parts.function;
      frame.file = exact.parts.file;
      frame.line = exact.parts.line;
    }
    return true;
  }

  static void scale_lifetimes(std::vector<Site>* sites, uint64_t factor) {
    for (Site& site : *sites) site.numbers.lifetime_ns = scaled(site.numbers.lifetime_ns, factor);
  }
  static uint64_t scaled(uint64_t value, uint64_t factor) {
    uint64_t product = 0;
    return __builtin_mul_overflow(value, factor, &product) ? UINT64_MAX : product;
  }

  bool finish_ours() {
    if (extension_.devices.empty()) return broken("the key \"heapprof\" holds no devices");
    profile_.dialect = extension_.dialect;
    profile_.time_unit = extension_.time_unit;
    profile_.run = std::move(extension_.run);
    profile_.devices = std::move(extension_.devices);
    profile_.api = std::move(extension_.api);
    profile_.scopes = std::move(extension_.scopes);
    profile_.snapshots = std::move(extension_.snapshots);
    profile_.trace = std::move(extension_.trace);
    profile_.merged = std::move(extension_.merged);
    profile_.devices[0].sites = std::move(sites_);
    for (size_t i = 0; i < profile_.devices.size(); ++i) {
      std::vector<Site>& sites = profile_.devices[i].sites;
      if (!has_column(extension_.columns[i], &SiteNumbers::lifetime_ns) && profile_.time_unit == "ns")
        scale_lifetimes(&sites, kNsPerUs);
      if (!apply_columns(extension_.columns[i], &profile_.devices[i], &reason_)) return false;
      profile_.has_coarse_sizes = profile_.has_coarse_sizes || extension_.columns[i].has_coarse_sizes;
    }
    if (profile_.has_coarse_sizes) coarsen_sizes(&profile_);
    return !has_no_stack_ || drop_no_stack_frame();
  }

  // heapprof's pseudo-frame is the table's last; its only node is a leaf below the root, and its sites have no stack.
  bool drop_no_stack_frame() {
    const auto pseudo = static_cast<uint32_t>(profile_.frames.size() - 1);
    uint32_t gone = 0;
    for (uint32_t i = 1; i < profile_.nodes.size(); ++i) {
      const FrameNode& node = profile_.nodes[i];
      if (gone != 0 && node.parent == gone) return broken("the frame [no stack] is in a stack");
      if (node.frame != pseudo) continue;
      if (node.parent != 0) return broken("the frame [no stack] is in a stack");
      gone = i;
    }
    if (frame_texts_.back() != kNoStackText) return broken("the frame [no stack] is not the last");
    profile_.frames.pop_back();
    if (gone == 0) return true;
    profile_.nodes.erase(profile_.nodes.begin() + gone);
    for (FrameNode& node : profile_.nodes) node.parent -= node.parent > gone ? 1 : 0;
    const auto renumber = [gone](uint32_t& node) { node = node == gone ? 0 : node - (node > gone ? 1 : 0); };
    for (Device& device : profile_.devices) {
      for (Site& site : device.sites) renumber(site.node);
    }
    for_each_other_node(profile_, renumber);
    return true;
  }

  bool finish_foreign() {
    const bool is_microseconds = time_unit_ == "µs" || time_unit_ == "us";
    const uint64_t factor = is_microseconds ? kNsPerUs : 1;
    profile_.dialect = mode_ == "rust-heap" ? Dialect::kDhatRs : Dialect::kValgrind;
    profile_.time_unit = is_microseconds ? "ns" : time_unit_;
    profile_.run.command = split_words(command_);
    profile_.run.executable = profile_.run.command.empty() ? "" : profile_.run.command[0];
    profile_.run.pid = pid_;
    profile_.run.duration_ns = scaled(end_time_, factor);
    scale_lifetimes(&sites_, factor);
    mark_inlined();
    Device& host = profile_.devices.emplace_back();
    host.name = "host";
    host.totals.peak_ns = scaled(peak_time_, factor);
    host.sites = std::move(sites_);
    sum_totals(&host);
    canonicalize(&profile_);
    profile_.run.counters.allocations = host.totals.total_blocks;
    return true;
  }

  // Both tools join the arguments with spaces; arguments that contain spaces cannot be recovered.
  static std::vector<std::string> split_words(std::string_view text) {
    std::vector<std::string> words;
    while (!text.empty()) {
      const size_t space = std::min(text.find(' '), text.size());
      if (space > 0) words.emplace_back(text.substr(0, space));
      text.remove_prefix(std::min(space + 1, text.size()));
    }
    return words;
  }

  // Inlined functions share the address of the frame that contains them.
  void mark_inlined() {
    for (size_t i = 1; i < profile_.nodes.size(); ++i) {
      const FrameNode& node = profile_.nodes[i];
      if (node.parent == 0) continue;
      Frame& inner = profile_.frames[node.frame];
      const Frame& outer = profile_.frames[profile_.nodes[node.parent].frame];
      if (inner.svma != 0 && inner.svma == outer.svma && &inner != &outer) inner.inlined = true;
    }
  }

  static void sum_totals(Device* device) {
    DeviceTotals& totals = device->totals;
    for (const Site& site : device->sites) {
      for (const SiteField& field : kSiteFields) {
        if (field.total != nullptr)
          totals.*field.total = add_saturating(totals.*field.total, site.numbers.*field.number);
      }
    }
    totals.max_blocks = totals.peak_blocks;
    totals.max_blocks_ns = totals.peak_ns;
  }

  ByteSource* source_;
  JsonPull json_;
  std::string name_;
  Profile profile_;
  PointReader points_;
  MemberReader top_{&json_,
                    {{"dhatFileVersion", [this] { json_.read_unsigned(&version_); }},
                     {"mode", [this] { read_text(&json_, &mode_); }},
                     {"bklt", [this] { json_.read_bool(&has_lifetimes_); }},
                     {"tu", [this] { read_text(&json_, &time_unit_); }},
                     {"cmd", [this] { read_text(&json_, &command_); }},
                     {"pid", [this] { json_.read_unsigned(&pid_); }},
                     {"te", [this] { json_.read_unsigned(&end_time_); }},
                     {"tg", [this] { json_.read_unsigned(&peak_time_); }},
                     {"pps", [this] { points_.read(&json_, &sites_); }},
                     {"ftbl", [this] { read_frame_table(); }},
                     {"heapprof", [this] { read_extension(&json_, &points_, &extension_); }}}};
  Extension extension_;
  std::vector<Site> sites_;
  std::vector<std::string> frame_texts_;
  std::string mode_;
  std::string time_unit_;
  std::string command_;
  std::string reason_;
  uint64_t version_ = 0;
  uint64_t pid_ = 0;
  uint64_t end_time_ = 0;
  uint64_t peak_time_ = 0;
  bool has_lifetimes_ = false;
  bool has_no_stack_ = false;
};

}  // namespace

Result<Profile> read_profile(ByteSource* source, const std::string& name) { return ProfileReader(source, name).run(); }

Result<Profile> read_profile(const std::string& path) {
  Result<std::unique_ptr<ByteSource>> source = open_source(path, kMostProfileBytes);
  if (!source) return source.problem();
  return read_profile(source->get(), path);
}

}  // namespace heapprof::cli
