// cli/read/budget_tables.cc: an error in a budget names its position.
//
// toml++ only reads keys and values. A limit can be written in four ways, and after a mistake the user needs the line,
// and the right form. So every value keeps its node until it is checked, and each error says what is accepted.
#include "cli/read/budget_tables.h"

#include "cli/base/glob.h"
#include "cli/base/text.h"
#include "cli/model/profile/device_api.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace heapprof::cli {
namespace {

constexpr size_t kMostSites = 10'000;
constexpr size_t kMostScopes = 1'000;

// False for a name that no call has: a limit on that name would always be met.
bool is_known_call(std::string_view glob) {
  return std::any_of(kDeviceCalls.begin(), kDeviceCalls.end(),
                     [glob](const char* call) { return glob_matches(glob, call); });
}

}  // namespace

Result<Done> BudgetTables::take_amount(const toml::node& node, Limit* limit) const {
  Result<uint64_t> amount = uint64_t{0};
  if (const auto number = node.value_exact<int64_t>()) {
    if (*number < 0) return broken(node, "a limit is not negative");
    amount = static_cast<uint64_t>(*number);
    const bool has_hundredths = limit->subject.scope && is_average(*limit->subject.scope);
    if (has_hundredths && __builtin_mul_overflow(*amount, kHundredths, &*amount))
      return broken(node, fmt::format("{} is not that large", subject_word(limit->subject)));
  } else if (const auto words = node.value_exact<std::string>()) {
    amount = parse_amount(*words, &limit->subject);
  } else {
    return broken(node, fmt::format("{} takes a number, or an amount in quotes", subject_word(limit->subject)));
  }
  if (!amount) return located(node, amount.problem());
  limit->most = *amount;
  limit->text = text_of(node);
  return Done{};
}

// A limit is "512 MiB", 2_000_000, or { max = …, expect = … }.
Result<Done> BudgetTables::take_limit(const toml::node& node, const Subject& subject, Budget* budget) const {
  Limit limit;
  limit.subject = subject;
  limit.at = at(node);
  if (!node.is_table()) {
    if (const Result<Done> taken = take_amount(node, &limit); !taken) return taken.problem();
    budget->limits.push_back(limit);
    return Done{};
  }
  const Take expect = [&](const toml::node& value) -> Result<Done> {
    const auto words = value.value_exact<std::string>();
    if (!words) return broken(value, "expect takes an amount and how far from it, such as \"12 GiB ± 2 %\"");
    const Result<Expectation> expectation = parse_expectation(*words, &limit.subject);
    if (!expectation) return located(value, expectation.problem());
    limit.expect = *expectation;
    return Done{};
  };
  const Take most = [&](const toml::node& value) { return take_amount(value, &limit); };
  const bool is_of_scope =
      subject.scope && scope_metric_field(subject.scope->metric).of == ScopeMetricField::Of::kScope;
  const Result<Done> taken =
      take_keys(node, is_of_scope ? subject_word(subject) : subject.device, {{"max", most}, {"expect", expect}});
  if (!taken) return taken.problem();
  if (!limit.most && !limit.expect) return broken(node, "write max or expect in it");
  budget->limits.push_back(limit);
  return Done{};
}

// Reads one amount, for the host, or a table with an amount for each device.
Result<Done> BudgetTables::take_metric(const toml::node& node, Subject subject, Budget* budget) const {
  const toml::table* const devices = node.as_table();
  if (devices == nullptr) return take_limit(node, subject, budget);
  if (devices->empty()) return broken(node, fmt::format("{} has no device in it", subject_word(subject)));
  for (const auto& [device, value] : *devices) {
    subject.device = std::string(device.str());
    if (subject.device == "max" || subject.device == "expect")
      return broken(value, fmt::format("write {} = {{ host = {{ {} = … }} }}", subject_word(subject), subject.device));
    if (const Result<Done> taken = take_limit(value, subject, budget); !taken) return taken.problem();
  }
  return Done{};
}

std::vector<Key> BudgetTables::metric_keys(Budget* budget, size_t subtree) const {
  std::vector<Key> keys;
  for (const auto& [name, metric] : kMetricWords) {
    const Subject subject{metric, "host", false, subtree};
    keys.push_back({name, [=, this](const toml::node& node) { return take_metric(node, subject, budget); }});
  }
  return keys;
}

Result<Done> BudgetTables::take_command(const toml::node& node, Budget* budget) const {
  const toml::array* const words = node.as_array();
  if (words == nullptr || words->empty()) return broken(node, R"(command takes its words: ["./render", "small.usd"])");
  for (const toml::node& word : *words) {
    const auto text = word.value_exact<std::string>();
    if (!text || (budget->command.empty() && text->empty()) || text->find('\0') != std::string::npos)
      return broken(word, "each word of the command is a text in quotes");
    budget->command.push_back(*text);
  }
  return Done{};
}

Result<Done> BudgetTables::take_subtree(const toml::node& node, Budget* budget) const {
  if (budget->subtrees.size() >= kMostSites) return broken(node, "there are more than 10,000 sites");
  SubtreeBudget subtree;
  subtree.at = at(node);
  std::vector<Key> keys = metric_keys(budget, budget->subtrees.size());
  keys.push_back({"match", text("match", &subtree.frames.function)});
  keys.push_back({"file", text("file", &subtree.frames.file)});
  keys.push_back({"module", text("module", &subtree.frames.module)});
  const size_t limits = budget->limits.size();
  if (const Result<Done> taken = take_keys(node, "site", keys); !taken) return taken.problem();
  for (const std::string* glob : {&subtree.frames.function, &subtree.frames.file, &subtree.frames.module}) {
    if (!glob->empty()) subtree.name += (subtree.name.empty() ? "" : " in ") + *glob;
  }
  if (subtree.name.empty()) return broken(node, "a site needs match = a function, file = its source, or module =");
  if (budget->limits.size() == limits) return broken(node, fmt::format("no limit is set for '{}'", subtree.name));
  budget->subtrees.push_back(std::move(subtree));
  return Done{};
}

// Reads a limit for the scope itself, limits for devices (a single amount is for the host), or a table of limits by
// kind of call.
Result<Done> BudgetTables::take_scope_metric(const toml::node& node, const ScopeMetricField& field, Subject subject,
                                             Budget* budget) const {
  if (field.of == ScopeMetricField::Of::kScope) return take_limit(node, subject, budget);
  if (field.of == ScopeMetricField::Of::kDevice) return take_metric(node, subject, budget);
  const toml::table* const calls = node.as_table();
  if (calls == nullptr || calls->empty())
    return broken(node, fmt::format(R"(write {} = {{ "synchronize stream" = 3 }})", subject_word(subject)));
  for (const auto& [call, value] : *calls) {
    subject.scope->call = std::string(call.str());
    if (!is_known_call(subject.scope->call)) {
      return broken(value, fmt::format("no call of a device's API is '{}': {}", escape_controls(call.str()),
                                       fmt::join(kDeviceCalls, ", ")));
    }
    if (const Result<Done> taken = take_limit(value, subject, budget); !taken) return taken.problem();
  }
  return Done{};
}

Result<Done> BudgetTables::take_scope(const toml::node& node, Budget* budget) const {
  if (budget->scopes.size() >= kMostScopes) return broken(node, "there are more than 1,000 scopes");
  ScopeBudget scope;
  scope.at = at(node);
  std::vector<Key> keys = {{"path", text("path", &scope.pattern)}};
  for (const ScopeMetricField& field : kScopeMetrics) {
    for (const bool is_per_run : {false, true}) {
      if (is_per_run && field.average == nullptr) continue;
      Subject subject;
      subject.scope = ScopeSubject{budget->scopes.size(), field.metric, is_per_run, "", {}};
      keys.push_back({is_per_run ? field.average : field.word, [=, this, &field](const toml::node& value) {
                        return take_scope_metric(value, field, subject, budget);
                      }});
    }
  }
  if (const Result<Done> taken = take_keys(node, "scope", keys); !taken) return taken.problem();
  if (scope.pattern.empty())
    return broken(node, R"(a scope needs path = "load > parse", or a glob such as "* > parse")");
  budget->scopes.push_back(std::move(scope));
  return Done{};
}

Result<Done> BudgetTables::take_ignore(const toml::node& node, Budget* budget) const {
  FramePattern frames;
  std::string either;
  std::string reason;
  const Result<Done> taken = take_keys(node, "ignore",
                                       {{"leaked", text("leaked", &either)},
                                        {"match", text("match", &frames.function)},
                                        {"file", text("file", &frames.file)},
                                        {"module", text("module", &frames.module)},
                                        {"reason", text("reason", &reason)}});
  if (!taken) return taken.problem();
  if (reason.empty()) return broken(node, "the reason is missing: reason = \"why this leak is known\"");
  SuppressionRule rule;
  rule.reason = escape_controls(reason);
  rule.source = at(node).file;
  rule.line = static_cast<uint32_t>(at(node).line);
  const auto add = [&](const FramePattern& pattern, const std::string& words) {
    rule.frames = {pattern};
    rule.text = escape_controls(words);
    budget->ignores.push_back(rule);
  };
  if (!either.empty()) {  // a function, or a library
    add({either, "", ""}, "function:" + either);
    add({"", either, ""}, "module:" + either);
  } else if (frames.function.empty() && frames.file.empty() && frames.module.empty()) {
    return broken(node, "an ignore needs leaked = a function or a library, or match, file or module");
  } else {
    add(frames, fmt::format("{} {} {}", frames.function, frames.file, frames.module));
  }
  return Done{};
}

Take BudgetTables::runs(Budget* budget) const {
  return [this, budget](const toml::node& node) -> Result<Done> {
    const auto runs = node.value_exact<int64_t>();
    if (!runs || *runs < 1 || *runs > 100) return broken(node, "runs takes a number from 1 to 100");
    budget->runs = static_cast<uint64_t>(*runs);
    return Done{};
  };
}

Take BudgetTables::command(Budget* budget) const {
  return [this, budget](const toml::node& node) { return take_command(node, budget); };
}

Take BudgetTables::subtrees(const char* what, Budget* budget) const {
  return [this, what, budget](const toml::node& node) {
    return take_tables(node, what, [&](const toml::node& subtree) { return take_subtree(subtree, budget); });
  };
}

Take BudgetTables::scopes(const char* what, Budget* budget) const {
  return [this, what, budget](const toml::node& node) {
    return take_tables(node, what, [&](const toml::node& scope) { return take_scope(scope, budget); });
  };
}

Take BudgetTables::ignores(const char* what, Budget* budget) const {
  return [this, what, budget](const toml::node& node) {
    return take_tables(node, what, [&](const toml::node& ignore) { return take_ignore(ignore, budget); });
  };
}

}  // namespace heapprof::cli
