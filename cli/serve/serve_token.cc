// cli/serve/serve_token.cc: a token comes from a file or the environment, never from the command line, which every user
// of the machine can see.
#include "cli/base/fd.h"
#include "cli/base/problems.h"
#include "cli/serve/serve.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <string_view>

namespace heapprof::cli {

namespace {

constexpr size_t kFewest = 16;
constexpr size_t kMost = 1024;

// The token in a file, without the line end. A file that is too long gives more than kMost bytes, which read_token()
// refuses.
Result<std::string> token_in(const std::string& file, const std::string& source) {
  const UniqueFd opened(open(file.c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, kMost + 2> bytes{};
  const ssize_t got = opened.is_open() ? read(opened.get(), bytes.data(), bytes.size()) : -1;
  if (got < 0) return bad_token(source, errno_text(errno));
  std::string_view text(bytes.data(), static_cast<size_t>(got));
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
  return std::string(text);
}

}  // namespace

Result<std::string> read_token(const std::string& file, const char* variable) {
  std::string source = fmt::format("the variable {}", variable);
  const char* const value = std::getenv(variable);
  if (file.empty() && (value == nullptr || *value == '\0')) return std::string();
  if (!file.empty()) source = fmt::format("the file {}", file);
  Result<std::string> found = file.empty() ? std::string(value) : token_in(file, source);
  if (!found) return found.problem();
  const std::string& token = *found;
  if (token.size() < kFewest)
    return bad_token(source, fmt::format("it has {} characters, and {} are the fewest", token.size(), kFewest));
  if (token.size() > kMost) return bad_token(source, fmt::format("it has more than {} characters", kMost));
  const bool is_plain = std::all_of(token.begin(), token.end(), [](char c) { return c > ' ' && c <= '~'; });
  if (!is_plain) return bad_token(source, "it has a character that an HTTP header cannot carry");
  return found;
}

}  // namespace heapprof::cli
