// cli/read/budget_tables.h: the parts that budgets and contracts share in TOML: limits, subtrees, scopes, known leaks,
// a command.
#pragma once

#include "cli/model/judge/budget.h"
#include "cli/read/toml_reader.h"

#include <string>
#include <vector>

namespace heapprof::cli {

class BudgetTables : public TomlReader {
 public:
  using TomlReader::TomlReader;

  // Readers of keys; their arguments must outlive them.
  std::vector<Key> metric_keys(Budget* budget, size_t subtree) const;
  Take runs(Budget* budget) const;
  Take command(Budget* budget) const;
  Take subtrees(const char* what, Budget* budget) const;
  Take scopes(const char* what, Budget* budget) const;
  Take ignores(const char* what, Budget* budget) const;

 private:
  Result<Done> take_metric(const toml::node& node, Subject subject, Budget* budget) const;
  Result<Done> take_amount(const toml::node& node, Limit* limit) const;
  Result<Done> take_limit(const toml::node& node, const Subject& subject, Budget* budget) const;
  Result<Done> take_subtree(const toml::node& node, Budget* budget) const;
  Result<Done> take_scope_metric(const toml::node& node, const ScopeMetricField& field, Subject subject,
                                 Budget* budget) const;
  Result<Done> take_scope(const toml::node& node, Budget* budget) const;
  Result<Done> take_ignore(const toml::node& node, Budget* budget) const;
  Result<Done> take_command(const toml::node& node, Budget* budget) const;
};

}  // namespace heapprof::cli
