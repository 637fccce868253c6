// cli/read/read_budget.cc: reads the tables of a file of budgets; budget_tables reads their parts.
#include "cli/read/read_budget.h"

#include "cli/base/units.h"
#include "cli/read/budget_tables.h"

#include <fmt/format.h>

#include <map>
#include <utility>

namespace heapprof::cli {
namespace {

class BudgetParser {
 public:
  explicit BudgetParser(BudgetFile* file) : file_(*file), tables_(file->path, file->text) {}
  Result<Done> parse(const toml::table& root);

 private:
  std::vector<Key> common_keys(Budget* budget);
  Result<Done> take_budget(const toml::node& node);

  BudgetFile& file_;
  BudgetTables tables_;
  std::map<std::string, uint64_t> names_;  // lines of the budgets, by name
};

std::vector<Key> BudgetParser::common_keys(Budget* budget) {
  std::vector<Key> keys = tables_.metric_keys(budget, Subject::kWhole);
  keys.push_back({"warn_at", tables_.share("warn_at", &budget->warn_share)});
  keys.push_back({"tolerance", tables_.share("tolerance", &budget->tolerance_share)});
  keys.push_back({"slack", [this, budget](const toml::node& node) -> Result<Done> {
                    const auto words = node.value_exact<std::string>();
                    if (!words) return tables_.broken(node, "slack takes a size such as \"64 KiB\"");
                    const Result<uint64_t> bytes = parse_size(*words);
                    if (!bytes) return tables_.located(node, bytes.problem());
                    budget->slack_bytes = *bytes;
                    return Done{};
                  }});
  keys.push_back({"runs", tables_.runs(budget)});
  keys.push_back({"processes", [this, budget](const toml::node& node) -> Result<Done> {
                    const auto word = node.value_exact<std::string>();
                    if (word != "started" && word != "each")
                      return tables_.broken(node, "processes is \"started\" (the program alone) or \"each\"");
                    budget->processes = word == "each" ? ProcessScope::kEach : ProcessScope::kStarted;
                    return Done{};
                  }});
  return keys;
}

Result<Done> BudgetParser::take_budget(const toml::node& node) {
  Budget budget;
  budget.at = tables_.at(node);
  std::vector<Key> keys = common_keys(&budget);
  keys.push_back({"name", tables_.text("name", &budget.name)});
  keys.push_back({"command", tables_.command(&budget)});
  keys.push_back({"baseline", tables_.text("baseline", &budget.baseline)});
  keys.push_back({"message", tables_.text("message", &budget.message)});
  keys.push_back({"site", tables_.subtrees("budget.site", &budget)});
  keys.push_back({"scope", tables_.scopes("budget.scope", &budget)});
  keys.push_back({"ignore", tables_.ignores("budget.ignore", &budget)});
  if (const Result<Done> taken = tables_.take_keys(node, "budget", keys); !taken) return taken.problem();
  if (budget.name.empty()) return tables_.broken(node, "the budget has no name");
  const auto [known, is_new] = names_.emplace(budget.name, budget.at.line);
  if (!is_new)
    return tables_.broken(node, fmt::format("the name '{}' stands in line {} too", budget.name, known->second));
  file_.budgets.push_back(std::move(budget));
  return Done{};
}

Result<Done> BudgetParser::parse(const toml::table& root) {
  bool has_version = false;
  const Take defaults = [&](const toml::node& node) {
    return tables_.take_keys(node, "defaults", common_keys(&file_.defaults));
  };
  const Take budgets = [&](const toml::node& node) {
    return tables_.take_tables(node, "budget", [&](const toml::node& budget) { return take_budget(budget); });
  };
  const Result<Done> taken = tables_.take_keys(
      root, "the file", {{"version", tables_.version(&has_version)}, {"defaults", defaults}, {"budget", budgets}});
  if (!taken) return taken.problem();
  if (!has_version) return budget_broken({file_.path, 1}, "version = 1 is missing");
  return Done{};
}

}  // namespace

Result<BudgetFile> parse_budget(std::string text, const std::string& path) {
  BudgetFile file;
  file.path = path;
  file.text = std::move(text);
  const Result<toml::table> root = parse_toml(file.text, path, budget_not_readable);
  if (!root) return root.problem();
  if (const Result<Done> taken = BudgetParser(&file).parse(*root); !taken) return taken.problem();
  return file;
}

Result<BudgetFile> read_budget(const std::string& path) {
  Result<std::string> text = read_toml_text(path, budget_not_readable);
  if (!text) return text.problem();
  return parse_budget(std::move(*text), path);
}

}  // namespace heapprof::cli
