// cli/read/toml_reader.cc: toml++ reads the syntax; every key is then read by name, so that a misspelt one is found.
#include "cli/read/toml_reader.h"

#include "cli/base/fd.h"
#include "cli/base/text.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace heapprof::cli {
namespace {

constexpr size_t kMostTomlBytes = 1 << 20;
// Dotted keys nest, and toml++ takes a level of stack for each: a line of a million dots would crash the program.
constexpr size_t kLongestLine = 4096;

std::string nearest_key(std::string_view typed, const std::vector<Key>& keys) {
  // One letter too many, too few, or wrong.
  for (const Key& key : keys) {
    const std::string_view known = key.name;
    size_t same = 0;
    while (same < std::min(known.size(), typed.size()) && known[same] == typed[same]) ++same;
    const std::string_view left = known.substr(same);
    const std::string_view right = typed.substr(same);
    const auto rest = [](std::string_view text, size_t from) { return text.substr(std::min(from, text.size())); };
    if (rest(left, 1) == rest(right, 1) || left == rest(right, 1) || rest(left, 1) == right) return key.name;
  }
  return "";
}

bool has_long_line(std::string_view text) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    if (end > kLongestLine) return true;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return false;
}

}  // namespace

Result<std::string> read_toml_text(const std::string& path, NotReadable not_readable) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  if (!fd.is_open()) return not_readable(path, errno_text(errno));
  std::string text;
  std::array<char, 16 << 10> buffer;
  for (;;) {
    const ssize_t got = ::read(fd.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return not_readable(path, errno_text(errno));
    if (got == 0) break;
    text.append(buffer.data(), static_cast<size_t>(got));
    if (text.size() > kMostTomlBytes) break;
  }
  return text;
}

Result<toml::table> parse_toml(std::string_view text, const std::string& path, NotReadable not_readable) {
  if (text.size() > kMostTomlBytes) return not_readable(path, "it is larger than 1 MiB");
  if (has_long_line(text)) return not_readable(path, "a line is longer than 4,096 bytes");
  toml::parse_result parsed = toml::parse(text, std::string_view(path));
  if (!parsed) {
    const toml::parse_error& error = parsed.error();
    return budget_broken({path, error.source().begin.line}, escape_controls(error.description()));
  }
  return std::move(parsed).table();
}

TomlReader::TomlReader(const std::string& path, const std::string& text) : path_(path), text_(text) {
  size_t start = 0;
  for (size_t end; (end = text_.find('\n', start)) != std::string::npos; start = end + 1) lines_.push_back(start);
  lines_.push_back(start);
}

Result<Done> TomlReader::take_keys(const toml::node& node, const std::string& what,
                                   const std::vector<Key>& keys) const {
  const toml::table* const table = node.as_table();
  if (table == nullptr) return broken(node, what + " takes a table");
  for (const auto& [name, value] : *table) {
    const auto key = std::find_if(keys.begin(), keys.end(),
                                  [key_name = name.str()](const Key& known) { return key_name == known.name; });
    if (key == keys.end()) {
      std::string known;
      for (const Key& other : keys) known += (known.empty() ? "" : ", ") + std::string(other.name);
      return unknown_budget_key({path_, name.source().begin.line}, std::string(name.str()),
                                nearest_key(name.str(), keys), known);
    }
    if (const Result<Done> taken = key->take(value); !taken) return taken.problem();
  }
  return Done{};
}

Result<Done> TomlReader::take_tables(const toml::node& node, const std::string& what, const Take& take) const {
  const toml::array* const array = node.as_array();
  if (array == nullptr) return broken(node, fmt::format("write {0} as [[{0}]]", what));
  for (const toml::node& element : *array) {
    if (const Result<Done> taken = take(element); !taken) return taken.problem();
  }
  return Done{};
}

Take TomlReader::text(const char* key, std::string* target) const {
  return [this, key, target](const toml::node& node) -> Result<Done> {
    const auto value = node.value_exact<std::string>();
    if (!value || value->empty()) return broken(node, fmt::format("{} takes a text in quotes", key));
    *target = *value;
    return Done{};
  };
}

Take TomlReader::share(const char* key, std::optional<uint64_t>* target) const {
  return [this, key, target](const toml::node& node) -> Result<Done> {
    const auto value = node.value_exact<std::string>();
    const std::optional<uint64_t> parsed = value ? parse_share(*value) : std::nullopt;
    if (!parsed) return broken(node, fmt::format("{} takes a percentage such as \"3 %\"", key));
    *target = *parsed;
    return Done{};
  };
}

Take TomlReader::version(bool* has_version) const {
  return [this, has_version](const toml::node& node) -> Result<Done> {
    *has_version = true;
    if (node.value_exact<int64_t>() != 1) return broken(node, "this heapprof knows version = 1");
    return Done{};
  };
}

// Columns are counted in characters; the value itself is ASCII.
ValueText TomlReader::text_of(const toml::node& node) const {
  const toml::source_position begin = node.source().begin;
  if (begin.line == 0 || begin.line > lines_.size()) return {};
  const std::string& all = text_;
  size_t offset = lines_[begin.line - 1];
  for (size_t column = 1; column < begin.column && offset < all.size(); ++column) {
    ++offset;
    while (offset < all.size() && (static_cast<unsigned char>(all[offset]) & 0xc0) == 0x80) ++offset;
  }
  if (offset >= all.size()) return {};
  const char quote = all[offset];
  size_t end = offset + 1;
  if (quote == '"' || quote == '\'') {
    end = all.find(quote, end);
    return end == std::string::npos ? ValueText{} : ValueText{offset, end + 1};
  }
  end = all.find_first_not_of("0123456789_", offset);
  return {offset, end == std::string::npos ? all.size() : end};
}

}  // namespace heapprof::cli
