// cli/flags/command_line.cc: the only file that includes CLI11, which takes longer to compile than the code that uses
// it.
#include "cli/flags/command_line.h"

#include <CLI/CLI.hpp>

namespace heapprof::cli {
namespace {

// CLI11 takes "[a,b]" for a list of two. A character appended to it, and removed again, makes it an ordinary word.
constexpr char kEndOfWord = '\x1f';

std::string with_end(std::string word) {
  if (word.ends_with(']')) word += kEndOfWord;
  return word;
}
std::string without_end(std::string word) {
  if (word.ends_with(kEndOfWord)) word.pop_back();
  return word;
}
std::vector<std::string> without_ends(std::vector<std::string> words) {
  for (std::string& word : words) word = without_end(std::move(word));
  return words;
}

}  // namespace

std::optional<std::string> take_arguments(const CommandLine& line, const std::vector<std::string>& arguments) {
  CLI::App app;
  app.set_help_flag();  // -h and --help are ordinary flags
  for (const FlagTaker& flag : line.flags) {
    if (flag.values == FlagTaker::Values::kNone) {
      app.add_flag_callback(flag.names, [&flag] { flag.take({}); });
      continue;
    }
    if (flag.values == FlagTaker::Values::kAll) {
      app.add_option_function<std::vector<std::string>>(
             flag.names, [&flag](const std::vector<std::string>& values) { flag.take(without_ends(values)); })
          ->take_all()
          ->allow_extra_args(false);
    } else {
      app.add_option_function<std::string>(flag.names,
                                           [&flag](const std::string& value) { flag.take({without_end(value)}); })
          ->take_last();
    }
  }
  if (line.positional != nullptr) app.add_option("FILE", *line.positional);
  if (line.positionals != nullptr) app.add_option("FILE", *line.positionals);
  std::vector<std::string> words;  // in the order that CLI11 wants
  for (auto argument = arguments.rbegin(); argument != arguments.rend(); ++argument)
    words.push_back(with_end(*argument));
  try {
    app.parse(words);
  } catch (const CLI::ParseError& error) {
    return error.get_name();
  }
  if (line.positional != nullptr) *line.positional = without_end(std::move(*line.positional));
  if (line.positionals != nullptr) *line.positionals = without_ends(std::move(*line.positionals));
  return std::nullopt;
}

}  // namespace heapprof::cli
