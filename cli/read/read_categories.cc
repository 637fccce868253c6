// cli/read/read_categories.cc: see read_categories.h.
#include "cli/read/read_categories.h"

#include "cli/base/text.h"
#include "cli/read/toml_reader.h"

#include <fmt/format.h>

#include <utility>

namespace heapprof::cli {
namespace {

constexpr size_t kMostCategories = 1000;

Result<Done> take_globs(const TomlReader& reader, const toml::node& node, CategoryRule* rule) {
  const toml::array* const array = node.as_array();
  if (array == nullptr) return reader.broken(node, "scopes takes globs in brackets: scopes = [\"qkv*\"]");
  for (const toml::node& element : *array) {
    const auto glob = element.value_exact<std::string>();
    if (!glob || glob->empty()) return reader.broken(element, "each of scopes is a glob in quotes");
    rule->globs.push_back(*glob);
  }
  return Done{};
}

Result<Done> take_rule(const TomlReader& reader, const toml::node& node, std::vector<CategoryRule>* rules) {
  if (rules->size() >= kMostCategories) return reader.broken(node, "there are more than 1,000 categories");
  CategoryRule rule;
  const Take globs = [&](const toml::node& value) { return take_globs(reader, value, &rule); };
  const Result<Done> taken =
      reader.take_keys(node, "category", {{"name", reader.text("name", &rule.name)}, {"scopes", globs}});
  if (!taken) return taken.problem();
  if (rule.name.empty()) return reader.broken(node, "the category has no name");
  if (rule.globs.empty()) return reader.broken(node, fmt::format("'{}' is for no scope", escape_controls(rule.name)));
  rule.name = escape_controls(rule.name);
  rules->push_back(std::move(rule));
  return Done{};
}

Result<Done> take_file(const std::string& text, const std::string& path, std::vector<CategoryRule>* rules) {
  const Result<toml::table> root = parse_toml(text, path, categories_not_readable);
  if (!root) return root.problem();
  const TomlReader reader(path, text);
  bool has_version = false;
  const Take all = [&](const toml::node& node) {
    return reader.take_tables(node, "category", [&](const toml::node& rule) { return take_rule(reader, rule, rules); });
  };
  const Result<Done> taken =
      reader.take_keys(*root, "the file", {{"version", reader.version(&has_version)}, {"category", all}});
  if (!taken) return taken.problem();
  if (rules->empty()) return budget_broken({path, 1}, "there is no [[category]] in it");
  return Done{};
}

}  // namespace

// The code shared with budgets mentions them in its problems: only the first line applies here.
Result<std::vector<CategoryRule>> parse_categories(const std::string& text, const std::string& path) {
  std::vector<CategoryRule> rules;
  const Result<Done> taken = take_file(text, path, &rules);
  if (taken) return rules;
  const Problem problem = taken.problem();
  return problem.id == categories_not_readable("", "").id ? problem : categories_broken(problem.what);
}

Result<std::vector<CategoryRule>> read_categories(const std::string& path) {
  const Result<std::string> text = read_toml_text(path, categories_not_readable);
  if (!text) return text.problem();
  return parse_categories(*text, path);
}

}  // namespace heapprof::cli
