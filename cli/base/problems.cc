// cli/base/problems.cc: how errors and warnings are shown. Their texts are in problems_*.cc.
#include "cli/base/problems.h"

#include "cli/base/byte_sink.h"
#include "cli/base/problem_words.h"
#include "cli/base/text.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cctype>
#include <cstdio>
#include <cstring>

namespace heapprof::cli {

std::string valgrind_instead(const std::string& program, const std::string& flags) {
  return fmt::format("valgrind --tool=dhat {}{}; heapprof report dhat.out.*   (20-50 times slower)", flags,
                     quoted(program));
}

std::string file_line_text(const FileLine& at) {
  return at.line == 0 ? at.file : fmt::format("{}, line {}", at.file, at.line);
}

std::string errno_text(int error_number) {
  std::string text = std::strerror(error_number);
  if (!text.empty()) text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  return text;
}

std::string format_problem(const Problem& problem, const Terminal& terminal) {
  constexpr size_t kIndent = 11;
  const auto wrap = [&terminal](const std::string& part, size_t first) {
    return terminal.is_fitted ? wrapped(part, {first, kIndent, static_cast<size_t>(terminal.columns)}) : part;
  };
  const bool warning = problem.exit_code == kWarning;
  const char* word = warning ? "warning" : "error";
  const char* paint = warning ? "\x1b[33m" : "\x1b[31m";
  const size_t head = std::strlen("heapprof: ") + std::strlen(word) + std::strlen(": ");
  const std::string what = wrap(fmt::format("{} [{}]", escape_controls(problem.what), problem.id), head);
  std::string text = fmt::format("heapprof: {}{}{}: {}\n", terminal.colored ? paint : "", word,
                                 terminal.colored ? "\x1b[0m" : "", what);
  if (!problem.fix.empty()) text += fmt::format("  fix:     {}\n", wrap(escape_controls(problem.fix), kIndent));
  if (!problem.instead.empty()) text += fmt::format("  instead: {}\n", wrap(escape_controls(problem.instead), kIndent));
  return text;
}

void print_problem(const Problem& problem, ColorMode mode) {
  const std::string text = format_problem(problem, inspect_terminal(STDERR_FILENO, mode));
  write_fully(STDERR_FILENO, text);
}

int run_exit_code(const Problem& problem) {
  return problem.exit_code == kCannotRun || problem.exit_code == kNotFound ? problem.exit_code : 125;
}

}  // namespace heapprof::cli
