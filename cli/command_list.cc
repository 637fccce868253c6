// cli/command_list.cc: the commands by name, and what heapprof prints when no command is given.
//
// This is the only list of all commands. Help, suggestions for a mistyped name, and the calls of commands use it.
#include "cli/command_list.h"

#include "cli/base/output.h"
#include "cli/base/problems.h"
#include "cli/base/text.h"
#include "cli/commands/check.h"
#include "cli/commands/commands.h"
#include "cli/commands/report.h"
#include "cli/commands/run.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>

namespace heapprof::cli {

std::span<const Command> commands() {
  static constexpr std::array<Command, 19> kCommands = {{{"run", run_text, run_main},
                                                         {"attach", attach_text, attach_main},
                                                         {"detach", detach_text, detach_main},
                                                         {"report", report_text, report_main},
                                                         {"diff", diff_text, diff_main},
                                                         {"snapshot", snapshot_text, snapshot_main},
                                                         {"pause", pause_text, pause_main},
                                                         {"resume", resume_text, resume_main},
                                                         {"mark", mark_text, mark_main},
                                                         {"top", top_text, top_main},
                                                         {"serve", serve_command_text, serve_main},
                                                         {"merge", merge_text, merge_main},
                                                         {"symbolize", symbolize_text, symbolize_main},
                                                         {"export", export_text, export_main},
                                                         {"push", push_text, push_main},
                                                         {"history", history_text, history_main},
                                                         {"check", check_text, check_main},
                                                         {"estimate", estimate_text, estimate_main},
                                                         {"doctor", doctor_text, doctor_main}}};
  return kCommands;
}

const Command* find_command(const std::string& name) {
  const std::span<const Command> all = commands();
  const auto found = std::find_if(all.begin(), all.end(), [&](const Command& command) { return name == command.name; });
  return found == all.end() ? nullptr : &*found;
}

std::string overview() {
  return "heapprof: an exact memory profiler for Linux programs, heap and CUDA\n"
         "\n"
         "  heapprof run ./render scene.usd          profile it, show a summary\n"
         "  heapprof run -o r.json -- ./render -x    to r.json; -x is render's own flag\n"
         "  heapprof report r.json                   where the memory comes from\n"
         "  heapprof report --tree --sort total r.json\n"
         "  heapprof report --format csv r.json >r.csv\n"
         "  heapprof report dhat.out.4711            of valgrind --tool=dhat or dhat-rs\n"
         "  heapprof diff old.json new.json          what changed, and where\n"
         "\n"
         "help: heapprof COMMAND -h (a screen), heapprof COMMAND --help (all)\n"
         "      heapprof --help, heapprof --version, man heapprof\n";
}

std::string long_overview() {
  std::string text = overview() + "\ncommands\n";
  for (const Command& command : commands()) text += fmt::format("  {:<11}{}\n", command.name, command.text().summary);
  text +=
      "\nhelp\n"
      "  -h          a screen of help\n"
      "      --help  all of it\n"
      "  -V, --version\n"
      "\n"
      "exit status: 0, 2 for wrong usage; each command has its own besides\n";
  return text;
}

std::string version_text() { return "heapprof " HEAPPROF_VERSION "\n"; }

namespace {

// A user who has not read the help may type a program or a profile where a command should be.
Problem no_such_command(const std::string& word) {
  std::vector<std::string> names = {"help", "version"};
  for (const Command& command : commands()) names.emplace_back(command.name);
  const std::string nearest = nearest_word(word, names);
  struct stat facts {};
  const bool is_file = stat(word.c_str(), &facts) == 0 && S_ISREG(facts.st_mode);
  if (nearest.empty() && (word.ends_with(".json") || (is_file && access(word.c_str(), X_OK) != 0)))
    return command_is_file(word, "heapprof report " + shell_quoted(word), "to read the profile");
  if (nearest.empty() && is_file) {
    const std::string program = word.find('/') == std::string::npos ? "./" + word : word;
    return command_is_file(word, "heapprof run " + shell_quoted(program), "to profile the program");
  }
  return unknown_command(word, nearest);
}

// heapprof help [COMMAND]
int print_help(const std::vector<std::string>& arguments) {
  if (arguments.size() == 1) return print_output(long_overview());
  if (const Command* command = find_command(arguments[1])) return command->main({"--help"});
  const Problem problem = no_such_command(arguments[1]);
  print_problem(problem);
  return problem.exit_code;
}

}  // namespace

int heapprof_main(const std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments[0] == "-h") return print_output(overview());
  const std::string& first = arguments[0];
  if (first == "--help") return print_output(long_overview());
  if (first == "--version" || first == "-V" || first == "version") return print_output(version_text());
  if (first == "help") return print_help(arguments);
  if (const Command* command = find_command(first)) return command->main({arguments.begin() + 1, arguments.end()});
  Problem problem;
  if (first.size() > 1 && first[0] == '-') {
    problem = unknown_flag(first, nearest_word(first, {"--help", "--version"}), "");
  } else {
    problem = no_such_command(first);
  }
  print_problem(problem);
  return problem.exit_code;
}

}  // namespace heapprof::cli
