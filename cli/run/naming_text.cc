// cli/run/naming_text.cc: the lines come in the order of their use: what was found, what is left, and last the
// commands, each on a line that can be pasted into a shell. If debuginfod's answer is the same for all modules, as it
// mostly is, it is printed once.
#include "cli/run/naming_text.h"

#include "cli/base/file_name.h"
#include "cli/base/text.h"
#include "cli/base/units.h"
#include "cli/run/names_advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace heapprof::cli {
namespace {

constexpr size_t kMostShown = 4;  // modules without names

std::string found_text(const NamedFrames& sum) {
  std::string text;
  if (sum.functions_missing != 0)
    text = fmt::format("{} of {} functions without a name", format_count(sum.functions_found),
                       format_count(sum.functions_missing));
  if (sum.lines_missing != 0)
    text += fmt::format("{}{} of {} without a source line", text.empty() ? "" : ", ", format_count(sum.lines_found),
                        format_count(sum.lines_missing));
  return text.empty() ? "nothing: all functions have their names" : text;
}

// Lines that begin with a word in a column of its own; on a terminal, they are wrapped at its width.
class Said {
 public:
  explicit Said(const Terminal& terminal) : terminal_(terminal) {}

  void line(const std::string& front, const std::string& text) {
    const std::string shown = escape_controls(text);
    const auto columns = static_cast<size_t>(terminal_.columns);
    text_ += fmt::format("{:<7}{}\n", front, terminal_.is_tty ? wrapped(shown, {7, 7, columns}) : shown);
  }
  // Breaks the lines after && and |, where a shell reads on, so that all lines can be pasted together.
  void commands(const std::string& front, std::string_view text) {
    const char* word = front.c_str();
    while (terminal_.is_tty) {
      const size_t end = std::min(text.find(" && "), text.find(" | "));
      if (end == text.npos) break;
      const size_t next = text.find(' ', end + 1);
      line(word, std::string(text.substr(0, next)));
      text.remove_prefix(next + 1);
      word = "";
    }
    line(word, std::string(text));
  }
  void add(const std::string& lines) { text_ += lines; }
  const std::string& text() const { return text_; }

 private:
  const Terminal& terminal_;
  std::string text_;
};

void say_left(const Naming& naming, const std::string& file, Said* said) {
  const size_t shown = std::min(naming.left.size(), kMostShown);
  const bool asked_alike = std::all_of(naming.left.begin(), naming.left.end(), [&](const NamelessModule& left) {
    return left.debuginfod == naming.left[0].debuginfod;
  });
  NamesAdvice advice;
  if (shown != 0) advice = advise_on_names(naming.left[0].module, file);
  for (size_t i = 0; i < shown; ++i) {
    const NamelessModule& left = naming.left[i];
    const std::string package = i == 0 && !advice.package.empty() ? fmt::format(" (package {})", advice.package) : "";
    const std::string answer = asked_alike || left.debuginfod.empty() ? "" : "; " + left.debuginfod;
    said->line(i == 0 ? "left" : "", fmt::format("{}{}: {}; {}{}", base_name(left.module.path), package,
                                                 format_counted(left.functions, "function"), left.why, answer));
  }
  if (naming.left.size() > shown) {
    uint64_t functions = 0;
    for (size_t i = shown; i < naming.left.size(); ++i) functions += naming.left[i].functions;
    said->line("", fmt::format("{} of {}", format_counted(functions, "function"),
                               format_counted(naming.left.size() - shown, "other module")));
  }
  if (shown != 0 && asked_alike && !naming.left[0].debuginfod.empty()) said->line("", naming.left[0].debuginfod);
  if (naming.is_cut_short)
    said->line("", fmt::format("of the files in --debug-dir the first {} were looked at",
                               format_count(DebugIndex::kMostFiles)));
  if (!advice.fix.empty()) said->commands("try", advice.fix);
}

}  // namespace

std::string naming_text(const Naming& naming, const NamedProfile& profile, const Terminal& terminal) {
  Said said(terminal);
  said.line("named", found_text(naming.sum));
  say_left(naming, profile.file, &said);
  if (!profile.saved.empty()) said.line("saved", profile.saved);
  said.add(command_line("next   ", "heapprof report",
                        shell_quoted(profile.saved.empty() ? profile.file : profile.saved),
                        static_cast<size_t>(terminal.columns)));
  return terminal.utf8 ? said.text() : to_ascii(said.text());
}

}  // namespace heapprof::cli
