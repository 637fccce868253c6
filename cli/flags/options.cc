// cli/flags/options.cc: messages for mistakes are our own, because CLI11's exceptions carry prose instead of facts. One
// scan finds where the flags end and what is wrong with them. Then CLI11 parses flags that are known to be right.
#include "cli/flags/options.h"

#include "cli/base/problems.h"
#include "cli/base/text.h"
#include "cli/base/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace heapprof::cli {
namespace {

constexpr const char* kHelpGroup = "help";
constexpr const char* kNoValue = "unlimited";  // given to CLI11 as the value if the user gave none

std::vector<std::string> split_names(const char* names) {
  std::vector<std::string> result(1);
  for (const char* c = names; *c != '\0'; ++c) {
    if (*c == ',') {
      result.emplace_back();
    } else {
      result.back() += *c;
    }
  }
  return result;
}

bool is_flag(const std::string& argument) { return argument.size() > 1 && argument[0] == '-'; }
bool is_long(const std::string& flag) { return flag.compare(0, 2, "--") == 0; }

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) text += (i == 0 ? "" : i + 1 == words.size() ? " or " : ", ") + words[i];
  return text;
}

}  // namespace

std::string nearest_word(const std::string& typed, const std::vector<std::string>& known) {
  std::string best;
  size_t best_distance = std::min<size_t>(3, typed.size() / 2 + 1);  // beyond that it is another word
  if (typed.size() > 100) return best;
  for (const std::string& word : known) {
    const bool abbreviation = typed.size() >= 3 && word.compare(0, typed.size(), typed) == 0;
    const size_t distance = abbreviation ? 0 : edit_distance(typed, word);
    if (distance < best_distance) {
      best = word;
      best_distance = distance;
    }
  }
  return best;
}

Options::Options(CommandText text) : text_(std::move(text)) {
  add_flag({"-h", "", kHelpGroup, "a screen of help"}, &wants_short_help_);
  add_flag({"--help", "", kHelpGroup, "all of it"}, &wants_long_help_);
}

void Options::declare(const FlagText& flag, FlagTaker::Values values,
                      std::function<void(const std::vector<std::string>&)> take) {
  flags_.push_back({flag, split_names(flag.names), ""});
  line_.flags.push_back({flag.names, values, std::move(take)});
  if (std::find(groups_.begin(), groups_.end(), flag.group) == groups_.end()) groups_.emplace_back(flag.group);
}

void Options::declare_value(const FlagText& flag, Take take) {
  declare(flag, FlagTaker::Values::kLast,
          [name = split_names(flag.names).back(), take = std::move(take)](const std::vector<std::string>& values) {
            take(name, values[0]);
          });
}

void Options::complain(Problem problem) {
  if (!first_problem_) first_problem_ = std::move(problem);
}

void Options::add_flag(const FlagText& flag, bool* target) {
  declare(flag, FlagTaker::Values::kNone, [target](const std::vector<std::string>&) { *target = true; });
}

void Options::add_text(const FlagText& flag, std::string* target) {
  declare_value(flag, [this, target, value = flag.value](const std::string& name, const std::string& text) {
    if (text.empty()) complain(missing_value(name, value));
    *target = text;
  });
}

void Options::add_texts(const FlagText& flag, std::vector<std::string>* target) {
  declare(
      flag, FlagTaker::Values::kAll,
      [this, name = split_names(flag.names).back(), target, value = flag.value](const std::vector<std::string>& texts) {
        for (const std::string& text : texts) {
          if (text.empty()) complain(missing_value(name, value));
        }
        *target = texts;
      });
}

void Options::add_wait(const FlagText& flag, uint64_t largest, std::optional<std::chrono::seconds>* target) {
  declare_value(flag, [=, this](const std::string& name, const std::string& text) {
    uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool is_number = error == std::errc{} && end == text.data() + text.size();
    if (text != kNoValue && (!is_number || number < 1 || number > largest)) {
      complain(bad_value(name, text, fmt::format("a number from 1 to {}", format_count_exact(largest))));
    }
    *target = std::chrono::seconds(number);
  });
}

void Options::add_number(const FlagText& flag, uint64_t smallest, uint64_t largest, uint64_t* target) {
  declare_value(flag, [=, this](const std::string& name, const std::string& text) {
    uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size() || number < smallest || number > largest) {
      complain(
          bad_value(name, text,
                    fmt::format("a number from {} to {}", format_count_exact(smallest), format_count_exact(largest))));
    } else {
      *target = number;
    }
  });
}

void Options::add_size(const FlagText& flag, uint64_t smallest_bytes, uint64_t* target) {
  add_size(flag, smallest_bytes, UINT64_MAX, target);
}

void Options::add_size(const FlagText& flag, uint64_t smallest_bytes, uint64_t largest_bytes, uint64_t* target) {
  declare_value(flag, [=, this](const std::string& name, const std::string& text) {
    const Result<uint64_t> size_bytes = parse_size(text);
    if (!size_bytes) {
      complain(size_bytes.problem());
    } else if (*size_bytes < smallest_bytes) {
      complain(bad_value(name, text, fmt::format("a size of {} or more", format_bytes(smallest_bytes))));
    } else if (*size_bytes > largest_bytes) {
      complain(bad_value(name, text, fmt::format("a size of {} at most", format_bytes(largest_bytes))));
    } else {
      *target = *size_bytes;
    }
  });
}

void Options::add_word(const FlagText& flag, const std::vector<std::string>& words,
                       std::function<void(size_t)> choose) {
  declare_value(flag, [this, words, choose = std::move(choose)](const std::string& name, const std::string& text) {
    const auto word = std::find(words.begin(), words.end(), text);
    if (word == words.end()) {
      complain(bad_value(name, text, joined(words)));
    } else {
      choose(static_cast<size_t>(word - words.begin()));
    }
  });
  flags_.back().words = joined(words);
}

void Options::add_color(ColorMode* target) {
  add_choice<ColorMode>({"--color", "WHEN", "output", "auto (default), always or never"},
                        {{"auto", ColorMode::kAuto}, {"always", ColorMode::kAlways}, {"never", ColorMode::kNever}},
                        target);
}

void Options::add_positional(std::string* target) {
  most_positionals_ = 1;
  line_.positional = target;
}

void Options::add_positionals(std::vector<std::string>* target) {
  most_positionals_ = SIZE_MAX;
  line_.positionals = target;
}

const Options::Declared* Options::find(const std::string& name) const {
  for (const Declared& flag : flags_) {
    if (std::find(flag.names.begin(), flag.names.end(), name) != flag.names.end()) return &flag;
  }
  return nullptr;
}

std::string Options::nearest(const std::string& flag) const {
  std::vector<std::string> known;
  for (const Declared& declared : flags_) known.insert(known.end(), declared.names.begin(), declared.names.end());
  known.erase(std::remove_if(known.begin(), known.end(), [](const std::string& name) { return !is_long(name); }),
              known.end());
  return is_long(flag) ? nearest_word(flag, known) : "";
}

// Finds the mistakes that CLI11 would report in prose: unknown flags, missing or superfluous values.
Result<size_t> Options::scan(const std::vector<std::string>& arguments, Stop stop) const {
  bool only_positionals = false;
  size_t positionals = 0;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    const bool ends_flags = !only_positionals && argument == "--";
    if (stop == Stop::kAtProgram && (ends_flags || !is_flag(argument))) return i;
    if (ends_flags) {
      only_positionals = true;
      continue;
    }
    if (only_positionals || !is_flag(argument)) {
      if (++positionals > most_positionals_) return unexpected_argument(argument, text_.name);
      continue;
    }
    if (is_long(argument)) {
      const size_t equals = argument.find('=');
      const std::string name = argument.substr(0, equals);
      const Declared* flag = find(name);
      if (flag == nullptr) return unknown_flag(name, nearest(name), text_.name);
      const bool takes_value = flag->may_take_value();
      if (takes_value && equals + 1 == argument.size()) return missing_value(name, flag->text.value);
      if (!takes_value && equals != std::string::npos) return bad_value(name, argument.substr(equals + 1), "no value");
      if (!flag->must_take_value() || equals != std::string::npos) continue;
      if (++i == arguments.size() || is_flag(arguments[i])) return missing_value(name, flag->text.value);
      continue;
    }
    for (size_t at = 1; at < argument.size(); ++at) {  // -q, -qo FILE, -oFILE
      const std::string name = {'-', argument[at]};
      const Declared* flag = find(name);
      if (flag == nullptr) return unknown_flag(name, "", text_.name);
      if (!flag->may_take_value()) continue;
      if (at + 1 == argument.size() && (++i == arguments.size() || is_flag(arguments[i])))
        return missing_value(name, flag->text.value);
      break;
    }
  }
  return arguments.size();
}

Result<Done> Options::take(std::vector<std::string> arguments) {
  for (std::string& argument : arguments) {
    const Declared* flag = is_long(argument) ? find(argument) : nullptr;
    if (flag != nullptr && flag->may_take_value() && !flag->must_take_value()) argument += "=" + std::string(kNoValue);
  }
  if (const std::optional<std::string> mistake = take_arguments(line_, arguments))
    return bad_value("the command line", *mistake, "flags and values as -h shows them");
  if (help()) return Done{};
  if (first_problem_) return *first_problem_;
  return Done{};
}

Result<Done> Options::parse(const std::vector<std::string>& arguments) {
  const Result<size_t> scanned = scan(arguments, Stop::kAtEnd);
  return scanned ? take(arguments) : Result<Done>(scanned.problem());
}

Result<Done> Options::parse_prefix(const std::vector<std::string>& arguments, std::vector<std::string>* rest) {
  const Result<size_t> scanned = scan(arguments, Stop::kAtProgram);
  if (!scanned) return scanned.problem();
  const auto end = arguments.begin() + static_cast<ptrdiff_t>(*scanned);
  rest->assign(end == arguments.end() || *end != "--" ? end : end + 1, arguments.end());
  return take({arguments.begin(), end});
}

std::optional<std::string> Options::help() const {
  if (wants_long_help_) return long_help();
  if (wants_short_help_) return short_help();
  return std::nullopt;
}

std::string Options::left_side(const Declared& flag) {
  std::string text = flag.names.front().size() == 2 ? "" : "    ";
  for (const std::string& name : flag.names) text += (name == flag.names.front() ? "" : ", ") + name;
  if (!flag.may_take_value()) return text;
  return fmt::format("{}{}{}", text, flag.must_take_value() ? " " : "", flag.text.value);
}

std::string Options::right_side(const Declared& flag) {
  std::string text = flag.text.text;
  if (const size_t at = text.find("{}"); at != std::string::npos) text.replace(at, 2, flag.words);
  return text;
}

std::string Options::flag_table(const std::string& group) const {
  constexpr size_t kHelpColumns = 80;
  size_t column = 0;
  for (const Declared& flag : flags_) column = std::max(column, left_side(flag).size() + 2);
  std::string table;
  for (const Declared& flag : flags_) {
    if (group != flag.text.group) continue;
    std::string right = right_side(flag);  // a list of words may be long
    if (column + 2 + display_width(right) > kHelpColumns)
      right = wrapped(right, {column + 2, column + 2, kHelpColumns});
    table += fmt::format("  {}{}\n", pad_right(left_side(flag), column), right);
  }
  return table;
}

std::string Options::short_help() const {
  std::string help = fmt::format("usage: {}\n{}\n\n", text_.usage, text_.summary);
  for (const std::string& group : groups_) {
    if (group != kHelpGroup && group != "testing" && group != kLongHelpGroup && group != kRareGroup)
      help += flag_table(group);
  }
  return help + flag_table(kHelpGroup);
}

std::string Options::long_help() const {
  std::string help = fmt::format("usage: {}\n\n{}\n\nexamples\n", text_.usage, text_.summary);
  for (const std::string& example : text_.examples) help += fmt::format("  {}\n", example);
  for (const std::string& group : groups_) {
    if (group != kHelpGroup) help += fmt::format("\n{}\n{}", group, flag_table(group));
  }
  help += fmt::format("\n{}\n{}\n", kHelpGroup, flag_table(kHelpGroup));
  for (const std::string& note : text_.notes) help += note + "\n";
  return help;
}

}  // namespace heapprof::cli
