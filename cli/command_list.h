// cli/command_list.h: the commands of heapprof, and what heapprof prints when no command is given.
//
// A new command is one file, one line in command_list.cc, one man page.
#pragma once

#include "cli/flags/options.h"

#include <span>
#include <string>
#include <vector>

namespace heapprof::cli {

struct Command {
  const char* name;
  CommandText (*text)();
  int (*main)(const std::vector<std::string>& arguments);
};

std::span<const Command> commands();
const Command* find_command(const std::string& name);  // nullptr: unknown name

// `heapprof` alone and -h: examples first. --help: the commands and their summaries.
std::string overview();
std::string long_overview();
std::string version_text();

// What main() does: runs the command, or shows help. Returns the exit code.
int heapprof_main(const std::vector<std::string>& arguments);

}  // namespace heapprof::cli
