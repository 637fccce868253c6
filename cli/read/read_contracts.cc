// cli/read/read_contracts.cc: a contract is a budget that also states the exit status and files; budget_tables reads
// the common parts.
#include "cli/read/read_contracts.h"

#include "cli/read/budget_tables.h"

#include <fmt/format.h>
#include <signal.h>

#include <cstring>
#include <utility>

namespace heapprof::cli {
namespace {

constexpr size_t kMostContracts = 1'000;
constexpr size_t kMostFiles = 100;

class ContractParser {
 public:
  explicit ContractParser(BudgetFile* file) : file_(*file), tables_(file->path, file->text) {}
  Result<Done> parse(const toml::table& root);

 private:
  Result<Done> take_contract(const toml::node& node);
  Result<Done> take_end(const toml::node& node, Contract* contract) const;
  Result<Done> take_files(const toml::node& node, Contract* contract) const;
  Result<Done> take_file(const toml::node& node, Contract* contract) const;
  Result<Done> take_expectation(const toml::node& node, Subject subject, std::optional<Expectation>* target) const;
  Result<Done> check(const toml::node& node, const Budget& budget) const;

  BudgetFile& file_;
  BudgetTables tables_;
};

int signal_number(const std::string& name) {
  for (int number = 1; number < NSIG; ++number) {
    const char* const abbreviation = sigabbrev_np(number);
    if (abbreviation != nullptr && name == std::string("SIG") + abbreviation) return number;
  }
  return 0;
}

// The expected end of the program: an exit status, or the signal that ends it.
Result<Done> ContractParser::take_end(const toml::node& node, Contract* contract) const {
  if (const auto status = node.value_exact<int64_t>(); status && *status >= 0 && *status <= 255) {
    contract->end = {{EndKind::kExited, static_cast<int>(*status)}, tables_.at(node)};
    return Done{};
  }
  const auto name = node.value_exact<std::string>();
  const int number = name ? signal_number(*name) : 0;
  if (number == 0) return tables_.broken(node, "exit takes a status from 0 to 255, or a signal such as \"SIGKILL\"");
  contract->end = {{EndKind::kSignaled, number}, tables_.at(node)};
  return Done{};
}

Result<Done> ContractParser::take_expectation(const toml::node& node, Subject subject,
                                              std::optional<Expectation>* target) const {
  const auto words = node.value_exact<std::string>();
  if (!words) return tables_.broken(node, "write an amount and how far from it, such as \"12 MiB ± 1 %\"");
  const Result<Expectation> expectation = parse_expectation(*words, &subject);
  if (!expectation) return tables_.located(node, expectation.problem());
  *target = *expectation;
  return Done{};
}

// A file is "p.json", or { path = "p.json", size = "12 MiB ± 1 %", number = "1_000 ± 0" }.
Result<Done> ContractParser::take_file(const toml::node& node, Contract* contract) const {
  FileClaim claim;
  claim.at = tables_.at(node);
  const Take size = [&](const toml::node& value) { return take_expectation(value, {Metric::kPeak}, &claim.size); };
  const Take number = [&](const toml::node& value) {
    const auto words = value.value_exact<std::string>();
    claim.number_is_bytes = words && words->find('B') != std::string::npos;
    return take_expectation(value, {claim.number_is_bytes ? Metric::kPeak : Metric::kAllocations}, &claim.number);
  };
  const Result<Done> taken =
      node.is_table()
          ? tables_.take_keys(node, "file",
                              {{"path", tables_.text("path", &claim.path)}, {"size", size}, {"number", number}})
          : tables_.text("file", &claim.path)(node);
  if (!taken) return taken.problem();
  if (claim.path.empty()) return tables_.broken(node, "the file has no path");
  if (claim.path.find('\0') != std::string::npos) return tables_.broken(node, "a path has no zero bytes");
  for (const FileClaim& known : contract->files) {
    if (known.path == claim.path) return tables_.broken(node, fmt::format("the file '{}' is named twice", claim.path));
  }
  if (contract->files.size() >= kMostFiles) return tables_.broken(node, "there are more than 100 files");
  contract->files.push_back(std::move(claim));
  return Done{};
}

Result<Done> ContractParser::take_files(const toml::node& node, Contract* contract) const {
  const toml::array* const files = node.as_array();
  if (files == nullptr) return take_file(node, contract);
  for (const toml::node& file : *files) {
    if (const Result<Done> taken = take_file(file, contract); !taken) return taken.problem();
  }
  return Done{};
}

Result<Done> ContractParser::check(const toml::node& node, const Budget& budget) const {
  const Contract& contract = *budget.contract;
  if (budget.name.empty()) return tables_.broken(node, "the contract has no id");
  if (contract.statement.empty())
    return tables_.broken(node, fmt::format("'{}' states nothing: statement = \"what must hold\"", budget.name));
  if (budget.command.empty())
    return tables_.broken(node, fmt::format("'{}' has no command to run: command = [\"./render\"]", budget.name));
  if (budget.limits.empty() && !contract.end && contract.files.empty())
    return tables_.broken(node, fmt::format("nothing can break '{}': set exit, file, or a limit", budget.name));
  for (size_t i = 0; i < budget.scopes.size(); ++i) {
    if (!has_limit_of_scope(budget, i))
      return budget_broken(budget.scopes[i].at, fmt::format("no limit is set for '{}'", budget.scopes[i].pattern));
  }
  if (!contract.is_profiled && !budget.limits.empty())
    return tables_.broken(node, fmt::format("'{}' has a limit, and is not profiled", budget.name));
  if (!contract.is_profiled && budget.runs)
    return tables_.broken(node, fmt::format("'{}' has runs, and is not profiled", budget.name));
  for (const Budget& known : file_.budgets) {
    if (known.name == budget.name)
      return tables_.broken(node, fmt::format("the id '{}' stands in line {} too", budget.name, known.at.line));
  }
  return Done{};
}

Result<Done> ContractParser::take_contract(const toml::node& node) {
  if (file_.budgets.size() >= kMostContracts) return tables_.broken(node, "there are more than 1,000 contracts");
  Budget budget;
  budget.at = tables_.at(node);
  Contract contract;
  std::vector<Key> keys = tables_.metric_keys(&budget, Subject::kWhole);
  keys.push_back({"id", tables_.text("id", &budget.name)});
  keys.push_back({"statement", tables_.text("statement", &contract.statement)});
  keys.push_back({"command", tables_.command(&budget)});
  keys.push_back({"exit", [&](const toml::node& value) { return take_end(value, &contract); }});
  keys.push_back({"file", [&](const toml::node& value) { return take_files(value, &contract); }});
  keys.push_back({"profiled", [&](const toml::node& value) -> Result<Done> {
                    const auto is_profiled = value.value_exact<bool>();
                    if (!is_profiled) return tables_.broken(value, "profiled takes true or false");
                    contract.is_profiled = *is_profiled;
                    return Done{};
                  }});
  keys.push_back({"runs", tables_.runs(&budget)});
  keys.push_back({"message", tables_.text("message", &budget.message)});
  keys.push_back({"site", tables_.subtrees("contract.site", &budget)});
  keys.push_back({"scope", tables_.scopes("contract.scope", &budget)});
  keys.push_back({"ignore", tables_.ignores("contract.ignore", &budget)});
  if (const Result<Done> taken = tables_.take_keys(node, "contract", keys); !taken) return taken.problem();
  budget.contract = std::move(contract);
  if (const Result<Done> checked = check(node, budget); !checked) return checked.problem();
  file_.budgets.push_back(std::move(budget));
  return Done{};
}

Result<Done> ContractParser::parse(const toml::table& root) {
  bool has_version = false;
  const Take contracts = [&](const toml::node& node) {
    return tables_.take_tables(node, "contract", [&](const toml::node& contract) { return take_contract(contract); });
  };
  const Result<Done> taken =
      tables_.take_keys(root, "the file", {{"version", tables_.version(&has_version)}, {"contract", contracts}});
  if (!taken) return taken.problem();
  if (!has_version) return budget_broken({file_.path, 1}, "version = 1 is missing");
  if (file_.budgets.empty()) return budget_broken({file_.path, 1}, "there is no [[contract]] in it");
  return Done{};
}

}  // namespace

Result<BudgetFile> parse_contracts(std::string text, const std::string& path) {
  BudgetFile file;
  file.path = path;
  file.text = std::move(text);
  const Result<toml::table> root = parse_toml(file.text, path, contracts_not_readable);
  if (!root) return root.problem();
  if (const Result<Done> taken = ContractParser(&file).parse(*root); !taken) return taken.problem();
  return file;
}

Result<BudgetFile> read_contracts(const std::string& path) {
  Result<std::string> text = read_toml_text(path, contracts_not_readable);
  if (!text) return text.problem();
  return parse_contracts(std::move(*text), path);
}

}  // namespace heapprof::cli
