// cli/flags/command_line.h: gives each flag of a command line its values; the only user of CLI11.
//
// CLI11 is a header of ten thousand lines: only command_line.cc includes it, so that it is compiled once.
//
// Guarantees
//  - A command line is parsed once. Flags take their values in the order of CommandLine::flags, not in the order in
//    which they were typed.
// Not provided: messages for mistakes. Options (options.h) finds the mistakes for which it has a message, before it
//               calls take_arguments().
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace heapprof::cli {

struct FlagTaker {
  enum class Values : unsigned char { kNone, kLast, kAll };
  std::string names;  // "-o,--output"
  Values values = Values::kNone;
  std::function<void(const std::vector<std::string>&)> take;  // called if the flag was given; kLast: with one value
};

struct CommandLine {
  std::vector<FlagTaker> flags;
  std::string* positional = nullptr;                // takes the one non-option argument
  std::vector<std::string>* positionals = nullptr;  // takes all of them
};

// The name of the mistake in `arguments`; nothing if all of them were taken.
std::optional<std::string> take_arguments(const CommandLine& line, const std::vector<std::string>& arguments);

}  // namespace heapprof::cli
