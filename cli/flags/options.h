// cli/flags/options.h: the flags of one command: declared once, parsed by CLI11 (command_line.h), shown by -h and
// --help.
//
// Guarantees
//  - Every mistake is a Problem of the catalogue, with the nearest known flag where one is near.
//  - What -h and --help show is what is parsed: both come from the same declarations.
//  - Parsing only validates: it opens nothing.
#pragma once

#include "cli/base/result.h"
#include "cli/base/terminal.h"
#include "cli/flags/command_line.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace heapprof::cli {

// The sentences around the flags.
struct CommandText {
  std::string name;                   // "report"; empty for heapprof itself
  std::string usage;                  // "heapprof report [OPTIONS] FILE"
  std::string summary;                // one line
  std::vector<std::string> examples;  // command lines with a remark
  std::vector<std::string> notes;     // the last lines of --help: exit codes, further reading
};

// What is shown of a flag: "-o, --output FILE   text".
struct FlagText {
  const char* names;  // "-o,--output"
  const char* value;  // "FILE", or "" for a flag without one
  const char* group;  // heading in --help
  const char* text;   // what it does; lower case, no full stop; {} is replaced by the words that the flag takes
};

// Groups that --help shows, and that -h leaves out, so that -h fits a screen.
inline constexpr const char* kLongHelpGroup = "more, and for other tools";
inline constexpr const char* kRareGroup = "seldom needed";

template <typename T>
using Choices = std::vector<std::pair<const char*, T>>;

class Options {
 public:
  explicit Options(CommandText text);

  void add_flag(const FlagText& flag, bool* target);
  void add_text(const FlagText& flag, std::string* target);
  void add_texts(const FlagText& flag, std::vector<std::string>* target);  // may be given several times
  void add_number(const FlagText& flag, uint64_t smallest, uint64_t largest, uint64_t* target);
  // A flag whose value is optional, and is given only after "="; flag.value is in brackets. Without a value, *target is
  // 0.
  void add_wait(const FlagText& flag, uint64_t largest, std::optional<std::chrono::seconds>* target);
  // A size with its unit, at least `smallest_bytes`.
  void add_size(const FlagText& flag, uint64_t smallest_bytes, uint64_t* target);
  void add_size(const FlagText& flag, uint64_t smallest_bytes, uint64_t largest_bytes, uint64_t* target);
  template <typename T>
  void add_choice(const FlagText& flag, const Choices<T>& choices, T* target) {
    std::vector<std::string> words;
    for (const auto& choice : choices) words.emplace_back(choice.first);
    add_word(flag, words, [choices, target](size_t index) { *target = choices[index].second; });
  }
  void add_color(ColorMode* target);
  void add_positional(std::string* target);                // at most one
  void add_positionals(std::vector<std::string>* target);  // any number

  // Parses all of `arguments`. If -h or --help is among them, problems with values are not reported.
  Result<Done> parse(const std::vector<std::string>& arguments);
  // Parses the flags before the first non-option argument (or "--"); `rest` is that argument (or what follows "--"),
  // and all after it.
  Result<Done> parse_prefix(const std::vector<std::string>& arguments, std::vector<std::string>* rest);

  // The text that -h or --help asked for, if one did.
  std::optional<std::string> help() const;
  std::string short_help() const;
  std::string long_help() const;

 private:
  struct Declared {
    FlagText text;
    std::vector<std::string> names;
    std::string words;  // "text, json or csv": what add_choice was given
    bool may_take_value() const { return text.value[0] != '\0'; }
    bool must_take_value() const { return may_take_value() && text.value[0] != '['; }
  };
  enum class Stop : unsigned char { kAtEnd, kAtProgram };
  // How many of `arguments` are the command's; a problem if one of these is an undeclared flag, or lacks its value.
  Result<size_t> scan(const std::vector<std::string>& arguments, Stop stop) const;
  Result<Done> take(std::vector<std::string> arguments);

  using Take = std::function<void(const std::string& name, const std::string& value)>;
  void declare(const FlagText& flag, FlagTaker::Values values,
               std::function<void(const std::vector<std::string>&)> take);
  void declare_value(const FlagText& flag, Take take);  // the last one that is given counts
  void add_word(const FlagText& flag, const std::vector<std::string>& words, std::function<void(size_t)> choose);
  void complain(Problem problem);
  const Declared* find(const std::string& name) const;
  std::string nearest(const std::string& flag) const;
  std::string flag_table(const std::string& group) const;
  static std::string left_side(const Declared& flag);
  static std::string right_side(const Declared& flag);

  CommandText text_;
  CommandLine line_;
  std::vector<Declared> flags_;  // in the order of line_.flags
  std::vector<std::string> groups_;
  std::optional<Problem> first_problem_;
  size_t most_positionals_ = 0;
  bool wants_short_help_ = false;
  bool wants_long_help_ = false;
};

// The known word nearest to what was typed; empty if none is near.
std::string nearest_word(const std::string& typed, const std::vector<std::string>& known);

}  // namespace heapprof::cli
