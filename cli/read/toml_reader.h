// cli/read/toml_reader.h: what the readers of heapprof's TOML files share: keys by name, texts, and the line of each
// mistake.
//
// Guarantees
//  - An unknown key is a problem with file and line, and names the nearest known key.
// Trust:    the file may hold anything: up to 1 MiB of it is read, in lines of up to 4,096 bytes.
#pragma once

#include "cli/base/problems.h"
#include "cli/base/result.h"
#include "cli/model/judge/budget.h"

#include <toml++/toml.h>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heapprof::cli {

using Take = std::function<Result<Done>(const toml::node&)>;
struct Key {
  const char* name;
  Take take;
};

// Makes the problem for a file of this kind that cannot be read.
using NotReadable = Problem (*)(const std::string& file, const std::string& reason);

// The whole file; a problem if reading it fails.
Result<std::string> read_toml_text(const std::string& path, NotReadable not_readable);
Result<toml::table> parse_toml(std::string_view text, const std::string& path, NotReadable not_readable);

class TomlReader {
 public:
  // pre: both outlive the reader
  TomlReader(const std::string& path, const std::string& text);

  FileLine at(const toml::node& node) const { return {path_, node.source().begin.line}; }
  Problem broken(const toml::node& node, const std::string& why) const { return budget_broken(at(node), why); }
  // A mistake in a value, with its position.
  Problem located(const toml::node& node, const Problem& problem) const { return broken(node, problem.what); }

  Result<Done> take_keys(const toml::node& node, const std::string& what, const std::vector<Key>& keys) const;
  Result<Done> take_tables(const toml::node& node, const std::string& what, const Take& take) const;
  Take text(const char* key, std::string* target) const;
  Take share(const char* key, std::optional<uint64_t>* target) const;
  // "version = 1", which every file needs.
  Take version(bool* has_version) const;
  ValueText text_of(const toml::node& node) const;  // where the value is in the text

 private:
  const std::string& path_;
  const std::string& text_;
  std::vector<size_t> lines_;  // where each line begins
};

}  // namespace heapprof::cli
