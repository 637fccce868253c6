// cli/model/analysis/suppressions.cc: whether a rule fits at a node depends on the node and the frames further out, and
// parents have smaller numbers. So one pass finds for each node the first rule that fits anywhere from it outwards.
#include "cli/model/analysis/suppressions.h"

#include "cli/base/problems.h"
#include "cli/base/text.h"
#include "cli/model/analysis/frame_kind.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

namespace heapprof::cli {
namespace {

constexpr size_t kMostRules = 10'000;
constexpr size_t kLongestGlob = 1'000;
constexpr std::string_view kAllocation = "allocation";
constexpr std::string_view kCalledBy = "<-";
constexpr std::string_view kFold = "fold";
constexpr uint32_t kNoRule = 0xffffffff;

// Parses one line of a file. The text of a mistake is shown after the file and the line number.
class LineParser {
 public:
  explicit LineParser(std::string_view line) : line_(trimmed(line)) {}

  // The line's rule; nullopt if the line has no rule, or has a mistake.
  std::optional<SuppressionRule> parse() {
    if (line_.empty() || line_[0] == '#') return std::nullopt;
    if (!split()) return std::nullopt;
    if (!words_.empty() && words_[0] == kFold) return parse_fold();
    SuppressionRule rule;
    rule.text = escape_controls(trimmed(line_.substr(0, rule_end_)));
    rule.reason = escape_controls(reason_);
    bool wants_frame = true;  // at the start, and after <-
    for (const std::string& word : words_) {
      if (word == kCalledBy) {
        if (wants_frame) return fail("a frame must stand before each <-");
        wants_frame = true;
      } else if (word == kAllocation && rule.frames.empty() && !rule.is_at_allocation) {
        rule.is_at_allocation = true;
        wants_frame = false;
      } else {
        if (wants_frame) rule.frames.emplace_back();
        if (rule.frames.empty()) return fail("<- must follow the word allocation");
        wants_frame = false;
        if (!add_glob(word, &rule.frames.back())) return std::nullopt;
      }
    }
    if (wants_frame || rule.frames.empty()) return fail("a frame must follow the last <-");
    if (reason_.empty()) return fail("the reason is missing: a rule ends with # and why the leak is known");
    return rule;
  }

  const std::string& mistake() const { return mistake_; }
  const std::optional<FramePattern>& fold() const { return fold_; }
  bool is_of_fold() const { return !words_.empty() && words_[0] == kFold; }

 private:
  // Parses the globs of one frame after "fold"; a reason may follow.
  std::nullopt_t parse_fold() {
    FramePattern frame;
    for (size_t i = 1; i < words_.size(); ++i) {
      if (words_[i] == kCalledBy || words_[i] == kAllocation)
        return fail("what is folded is one function: fold function:GLOB module:GLOB file:GLOB");
      if (!add_glob(words_[i], &frame)) return std::nullopt;
    }
    if (words_.size() == 1) return fail("there is no function behind fold");
    fold_ = std::move(frame);
    return std::nullopt;
  }

  std::nullopt_t fail(std::string what) {
    mistake_ = std::move(what);
    return std::nullopt;
  }

  // Splits a line into words, and into the reason after a # that follows a blank. A text in quotes may contain blanks.
  bool split() {
    std::string word;
    bool is_quoted = false;
    const auto end_word = [&] {
      if (!word.empty()) words_.push_back(std::move(word));
      word.clear();
    };
    rule_end_ = line_.size();
    for (size_t i = 0; i < line_.size(); ++i) {
      const char c = line_[i];
      if (c == '"') {
        is_quoted = !is_quoted;
      } else if (!is_quoted && is_blank(c)) {
        end_word();
      } else if (!is_quoted && c == '#' && i > 0 && is_blank(line_[i - 1])) {
        rule_end_ = i;
        reason_ = trimmed(line_.substr(i + 1));
        break;
      } else {
        word += c;
      }
    }
    end_word();
    if (is_quoted) mistake_ = "a \" is not closed";
    return !is_quoted;
  }

  bool add_glob(const std::string& word, FramePattern* frame) {
    const size_t colon = word.find(':');
    const std::string kind = word.substr(0, colon);
    std::string* const glob = kind == "function" ? &frame->function
                              : kind == "module" ? &frame->module
                              : kind == "file"   ? &frame->file
                                                 : nullptr;
    if (colon == std::string::npos || glob == nullptr) {
      fail(fmt::format("'{}' is not function:GLOB, module:GLOB or file:GLOB", escape_controls(word)));
    } else if (!glob->empty()) {
      fail(fmt::format("one frame has two globs for its {}", kind));
    } else if (colon + 1 == word.size()) {
      fail(fmt::format("there is no glob behind {}:", kind));
    } else if (word.size() > kLongestGlob) {
      fail("a glob is longer than 1,000 bytes");
    } else {
      *glob = word.substr(colon + 1);
      return true;
    }
    return false;
  }

  std::string_view line_;
  size_t rule_end_ = 0;
  std::vector<std::string> words_;
  std::string reason_;
  std::string mistake_;
  std::optional<FramePattern> fold_;
};

class Matcher {
 public:
  Matcher(const Suppressions& rules, const Profile& profile) : rules_(rules), profile_(profile), frames_(profile) {
    fitting_.resize(profile.frames.size());
    kinds_.resize(profile.frames.size());
    const std::vector<std::vector<uint32_t>> by_first = find_candidates();
    for (uint32_t frame = 0; frame < profile.frames.size(); ++frame) {
      for (const uint32_t rule : by_first[first_of(frames_.plain_name(frame), profile.frames[frame].function)]) {
        if (frames_.fits(rules[rule].frames[0], frame)) fitting_[frame].push_back(rule);
      }
    }
    first_rule_.assign(std::max<size_t>(profile.nodes.size(), 1), kNoRule);
    for (uint32_t node = 1; node < profile.nodes.size(); ++node) {
      first_rule_[node] = std::min(first_rule_[profile.nodes[node].parent], first_fitting(node, false));
    }
  }

  uint32_t rule_of(uint32_t node) {
    const uint32_t anywhere = first_rule_[node];
    while (node != 0 && is_allocator(profile_.nodes[node].frame)) node = profile_.nodes[node].parent;
    return node == 0 ? anywhere : std::min(anywhere, first_fitting(node, true));
  }

 private:
  static constexpr size_t kAnyFirst = 256;

  // The first byte of a function's name, by which its rules are looked up; kAnyFirst if the two forms of the name begin
  // differently.
  static size_t first_of(const std::string& plain, const std::string& full) {
    const auto byte = [](const std::string& name) { return name.empty() ? 0u : static_cast<unsigned char>(name[0]); };
    return byte(plain) == byte(full) ? byte(full) : kAnyFirst;
  }

  // Indexes rules by the first letter of their function: of forty rules, two or three have the same.
  std::vector<std::vector<uint32_t>> find_candidates() const {
    std::vector<std::vector<uint32_t>> by_first(kAnyFirst + 1);
    for (uint32_t rule = 0; rule < rules_.size(); ++rule) {
      if (rules_[rule].frames.empty()) continue;  // what Python keeps is recognised differently
      const std::string& glob = rules_[rule].frames[0].function;
      const bool is_any = glob.empty() || glob[0] == '*' || glob[0] == '?';
      for (size_t first = 0; first <= kAnyFirst; ++first) {
        if (is_any || first == kAnyFirst || first == static_cast<unsigned char>(glob[0]))
          by_first[first].push_back(rule);
      }
    }
    return by_first;
  }

  bool is_allocator(uint32_t frame) {
    std::optional<FrameKind>& kind = kinds_[frame];
    if (!kind) kind = frame_kind(profile_, profile_.frames[frame]);
    return *kind == FrameKind::kAllocator;
  }

  uint32_t first_fitting(uint32_t node, bool is_at_allocation) const {
    for (const uint32_t rule : fitting_[profile_.nodes[node].frame]) {
      if (rules_[rule].is_at_allocation == is_at_allocation && fits_outwards(rules_[rule], node)) return rule;
    }
    return kNoRule;
  }

  // pre: the rule's first frame fits the node.
  bool fits_outwards(const SuppressionRule& rule, uint32_t node) const {
    for (size_t i = 1; i < rule.frames.size(); ++i) {
      node = profile_.nodes[node].parent;
      if (node == 0 || !frames_.fits(rule.frames[i], profile_.nodes[node].frame)) return false;
    }
    return true;
  }

  const Suppressions& rules_;
  const Profile& profile_;
  FrameMatcher frames_;
  std::vector<std::vector<uint32_t>> fitting_;   // by frame: rules whose first frame it may be
  std::vector<uint32_t> first_rule_;             // by node: first rule (not `allocation`) that fits from it outwards
  std::vector<std::optional<FrameKind>> kinds_;  // by frame, as far as computed
};

// The rules for what Python keeps.
class PythonRules {
 public:
  explicit PythonRules(const Suppressions& rules) {
    rules_.fill(kNoRule);
    for (uint32_t rule = 0; rule < rules.size(); ++rule) {
      if (rules[rule].python == PythonKeep::kNone) continue;
      rules_[static_cast<size_t>(rules[rule].python)] = rule;
      has_any_ = true;
    }
  }
  bool has_any() const { return has_any_; }
  uint32_t rule_of(PythonKeep keep) const { return rules_[static_cast<size_t>(keep)]; }

 private:
  std::array<uint32_t, kPythonKeeps.size() + 1> rules_;
  bool has_any_ = false;
};

}  // namespace

Result<Done> parse_suppressions(std::string_view text, const std::string& source, Suppressions* rules,
                                std::vector<FramePattern>* folds) {
  for (uint32_t number = 1; !text.empty(); ++number) {
    const size_t end = text.find('\n');
    LineParser parser(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    std::optional<SuppressionRule> rule = parser.parse();
    if (!parser.mistake().empty()) return suppression_broken({source, number}, parser.mistake(), parser.is_of_fold());
    if (parser.fold()) folds->push_back(*parser.fold());
    if (rules->size() + folds->size() + (rule ? 1 : 0) > kMostRules)
      return suppression_broken({source, number}, "there are more than 10,000 rules", false);
    if (!rule) continue;
    rule->source = source;
    rule->line = number;
    rules->push_back(std::move(*rule));
  }
  return Done{};
}

void mark_suppressed(const Suppressions& rules, Profile* profile) {
  if (rules.empty()) return;
  Matcher matcher(rules, *profile);
  const PythonRules python(rules);
  for (Device& device : profile->devices) {
    const std::vector<PythonKeep> keeps =
        python.has_any() ? find_python_keeps(*profile, device) : std::vector<PythonKeep>();
    for (size_t i = 0; i < device.sites.size(); ++i) {
      Site& site = device.sites[i];
      site.suppressed_by = 0;
      const bool leaks = site.numbers.leaked_bytes > 0 || site.numbers.leaked_blocks > 0;
      uint32_t rule = leaks ? matcher.rule_of(site.node) : kNoRule;
      if (leaks && !keeps.empty()) rule = std::min(rule, python.rule_of(keeps[i]));
      if (rule != kNoRule) site.suppressed_by = rule + 1;
    }
    const std::vector<SuppressedLeaks> sums = sum_by_rule(rules, device);
    const auto parts = std::count_if(profile->merged.begin(), profile->merged.end(),
                                     [&](const MergedPart& part) { return part.device == device.name; });
    const uint64_t processes = std::max<uint64_t>(static_cast<uint64_t>(parts), 1);
    for (Site& site : device.sites) {
      if (site.suppressed_by == 0) continue;
      const size_t rule = site.suppressed_by - 1;
      if (sums[rule].blocks / processes > rules[rule].most_blocks) site.suppressed_by = 0;
    }
  }
}

std::vector<SuppressedLeaks> sum_by_rule(const Suppressions& rules, const Device& device) {
  std::vector<SuppressedLeaks> sums(rules.size());
  for (const Site& site : device.sites) {
    if (site.suppressed_by == 0 || site.suppressed_by > rules.size()) continue;
    SuppressedLeaks& sum = sums[site.suppressed_by - 1];
    sum.bytes += site.numbers.leaked_bytes;
    sum.blocks += site.numbers.leaked_blocks;
  }
  return sums;
}

}  // namespace heapprof::cli
