// cli/flags/command_line.cc: the only file that includes CLI11, which takes longer to compile than all that it is
// used for.
#include "cli/flags/command_line.h"

#include <CLI/CLI.hpp>

namespace heapprof::cli {

std::optional<std::string> take_arguments(const CommandLine& line, const std::vector<std::string>& arguments) {
  CLI::App app;
  app.set_help_flag();  // -h and --help are flags like all others
  for (const FlagTaker& flag : line.flags) {
    if (flag.values == FlagTaker::Values::kNone) {
      app.add_flag_callback(flag.names, [&flag] { flag.take({}); });
      continue;
    }
    if (flag.values == FlagTaker::Values::kAll) {
      app.add_option_function<std::vector<std::string>>(flag.names, flag.take)->take_all()->allow_extra_args(false);
    } else {
      app.add_option_function<std::string>(flag.names, [&flag](const std::string& value) { flag.take({value}); })
          ->take_last();
    }
  }
  if (line.positional != nullptr) app.add_option("FILE", *line.positional);
  if (line.positionals != nullptr) app.add_option("FILE", *line.positionals);
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));  // as CLI11 wants them
  } catch (const CLI::ParseError& error) {
    return error.get_name();
  }
  return std::nullopt;
}

}  // namespace heapprof::cli
