// cli/read/read_budget.cc: toml++ reads the syntax; every key is then taken by name, so that a misspelt one is found.
#include "cli/read/read_budget.h"

#include "cli/base/fd.h"
#include "cli/base/text.h"
#include "cli/base/units.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <toml++/toml.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <functional>

namespace heapprof::cli {
namespace {

constexpr size_t kMostBytes = 1 << 20;
// Dotted keys nest, and toml++ takes a level of stack for each: a line of a million dots would end the program.
constexpr size_t kLongestLine = 4096;
constexpr size_t kMostSites = 1'000;

using Take = std::function<Result<Done>(const toml::node&)>;
struct Key {
  const char* name;
  Take take;
};

std::string nearest_key(std::string_view typed, const std::vector<Key>& keys) {
  // One letter too many, too few, or another one.
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

class Parser {
 public:
  explicit Parser(BudgetFile* file) : file_(*file) {
    size_t start = 0;
    for (size_t end; (end = file_.text.find('\n', start)) != std::string::npos; start = end + 1)
      lines_.push_back(start);
    lines_.push_back(start);
  }

  Result<Done> parse(const toml::table& root);

 private:
  FileLine at(const toml::node& node) const { return {file_.path, node.source().begin.line}; }
  Problem broken(const toml::node& node, const std::string& why) const { return budget_broken(at(node), why); }
  // A mistake in a value, with its place.
  Problem placed(const toml::node& node, const Problem& problem) const { return broken(node, problem.what); }

  Result<Done> take_keys(const toml::node& node, const std::string& what, const std::vector<Key>& keys);
  Result<Done> take_tables(const toml::node& node, const std::string& what, const Take& take);
  Take text(const char* key, std::string* target);
  Take share(const char* key, std::optional<uint64_t>* target);
  std::vector<Key> metric_keys(Budget* budget, size_t site);
  std::vector<Key> common_keys(Budget* budget);
  Result<Done> take_metric(const toml::node& node, Subject subject, Budget* budget);
  Result<Done> take_amount(const toml::node& node, Limit* limit, const std::function<Result<Done>()>& store);
  Result<Done> take_limit(const toml::node& node, const Subject& subject, Budget* budget);
  Result<Done> take_budget(const toml::node& node);
  Result<Done> take_site(const toml::node& node, Budget* budget);
  Result<Done> take_ignore(const toml::node& node, Budget* budget);
  Result<Done> take_command(const toml::node& node, Budget* budget);
  ValueText text_of(const toml::node& node) const;

  BudgetFile& file_;
  std::vector<size_t> lines_;  // where each begins
};

Result<Done> Parser::take_keys(const toml::node& node, const std::string& what, const std::vector<Key>& keys) {
  const toml::table* const table = node.as_table();
  if (table == nullptr) return broken(node, what + " takes a table");
  for (const auto& [name, value] : *table) {
    const auto key = std::find_if(keys.begin(), keys.end(), [&](const Key& known) { return name.str() == known.name; });
    if (key == keys.end()) {
      std::string known;
      for (const Key& other : keys) known += (known.empty() ? "" : ", ") + std::string(other.name);
      return unknown_budget_key({file_.path, name.source().begin.line}, std::string(name.str()),
                                nearest_key(name.str(), keys), known);
    }
    if (const Result<Done> taken = key->take(value); !taken) return taken.problem();
  }
  return Done{};
}

Result<Done> Parser::take_tables(const toml::node& node, const std::string& what, const Take& take) {
  const toml::array* const array = node.as_array();
  if (array == nullptr) return broken(node, fmt::format("write {0} as [[{0}]]", what));
  for (const toml::node& element : *array) {
    if (const Result<Done> taken = take(element); !taken) return taken.problem();
  }
  return Done{};
}

Take Parser::text(const char* key, std::string* target) {
  return [this, key, target](const toml::node& node) -> Result<Done> {
    const auto value = node.value_exact<std::string>();
    if (!value || value->empty()) return broken(node, fmt::format("{} takes a text in quotes", key));
    *target = *value;
    return Done{};
  };
}

Take Parser::share(const char* key, std::optional<uint64_t>* target) {
  return [this, key, target](const toml::node& node) -> Result<Done> {
    const auto value = node.value_exact<std::string>();
    const std::optional<uint64_t> parsed = value ? parse_share(*value) : std::nullopt;
    if (!parsed) return broken(node, fmt::format("{} takes a percentage such as \"3 %\"", key));
    *target = *parsed;
    return Done{};
  };
}

// Columns are counted in characters; the value itself is ASCII.
ValueText Parser::text_of(const toml::node& node) const {
  const toml::source_position begin = node.source().begin;
  if (begin.line == 0 || begin.line > lines_.size()) return {};
  const std::string& all = file_.text;
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

Result<Done> Parser::take_amount(const toml::node& node, Limit* limit, const std::function<Result<Done>()>& store) {
  Result<uint64_t> amount = uint64_t{0};
  if (const auto number = node.value_exact<int64_t>()) {
    if (*number < 0) return broken(node, "a limit is not negative");
    amount = static_cast<uint64_t>(*number);
  } else if (const auto words = node.value_exact<std::string>()) {
    amount = parse_amount(*words, &limit->subject);
  } else {
    return broken(node, fmt::format("{} takes a number, or an amount in quotes", metric_word(limit->subject.metric)));
  }
  if (!amount) return placed(node, amount.problem());
  limit->most = *amount;
  limit->text = text_of(node);
  return store();
}

// "512 MiB", 2_000_000, or { max = …, expect = … }.
Result<Done> Parser::take_limit(const toml::node& node, const Subject& subject, Budget* budget) {
  Limit limit;
  limit.subject = subject;
  limit.at = at(node);
  const auto store = [&]() -> Result<Done> {
    for (const Limit& known : budget->limits) {
      if (known.subject == limit.subject && known.at.line != limit.at.line)
        return broken(node, fmt::format("the same limit stands in line {}", known.at.line));
    }
    set_limit(limit, budget);
    return Done{};
  };
  if (!node.is_table()) return take_amount(node, &limit, store);
  const Take expect = [&](const toml::node& value) -> Result<Done> {
    const auto words = value.value_exact<std::string>();
    if (!words) return broken(value, "expect takes an amount and how far from it, such as \"12 GiB ± 2 %\"");
    const Result<Expectation> expectation = parse_expectation(*words, &limit.subject);
    if (!expectation) return placed(value, expectation.problem());
    limit.expect = *expectation;
    return Done{};
  };
  const Take most = [&](const toml::node& value) { return take_amount(value, &limit, [] { return Done{}; }); };
  const Result<Done> taken = take_keys(node, subject.device, {{"max", most}, {"expect", expect}});
  if (!taken) return taken.problem();
  if (!limit.most && !limit.expect) return broken(node, "write max or expect in it");
  return store();
}

// One amount, for the host, or a table with one for each device.
Result<Done> Parser::take_metric(const toml::node& node, Subject subject, Budget* budget) {
  const toml::table* const devices = node.as_table();
  if (devices == nullptr) return take_limit(node, subject, budget);
  if (devices->empty()) return broken(node, fmt::format("{} has no device in it", metric_word(subject.metric)));
  for (const auto& [device, value] : *devices) {
    subject.device = std::string(device.str());
    if (subject.device == "max" || subject.device == "expect")
      return broken(value,
                    fmt::format("write {} = {{ host = {{ {} = … }} }}", metric_word(subject.metric), subject.device));
    if (const Result<Done> taken = take_limit(value, subject, budget); !taken) return taken.problem();
  }
  return Done{};
}

std::vector<Key> Parser::metric_keys(Budget* budget, size_t site) {
  std::vector<Key> keys;
  for (const auto& [name, metric] : kMetricWords) {
    const Subject subject{metric, "host", false, site};
    keys.push_back({name, [=, this](const toml::node& node) { return take_metric(node, subject, budget); }});
  }
  return keys;
}

std::vector<Key> Parser::common_keys(Budget* budget) {
  std::vector<Key> keys = metric_keys(budget, Subject::kWhole);
  keys.push_back({"warn_at", share("warn_at", &budget->warn_share)});
  keys.push_back({"tolerance", share("tolerance", &budget->tolerance_share)});
  keys.push_back({"slack", [this, budget](const toml::node& node) -> Result<Done> {
                    const auto words = node.value_exact<std::string>();
                    if (!words) return broken(node, "slack takes a size such as \"64 KiB\"");
                    const Result<uint64_t> bytes = parse_size(*words);
                    if (!bytes) return placed(node, bytes.problem());
                    budget->slack_bytes = *bytes;
                    return Done{};
                  }});
  keys.push_back({"runs", [this, budget](const toml::node& node) -> Result<Done> {
                    const auto runs = node.value_exact<int64_t>();
                    if (!runs || *runs < 1 || *runs > 100) return broken(node, "runs takes a number from 1 to 100");
                    budget->runs = static_cast<uint64_t>(*runs);
                    return Done{};
                  }});
  return keys;
}

Result<Done> Parser::take_command(const toml::node& node, Budget* budget) {
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

Result<Done> Parser::take_site(const toml::node& node, Budget* budget) {
  if (budget->sites.size() >= kMostSites) return broken(node, "there are more than 1,000 sites");
  SiteBudget site;
  site.at = at(node);
  std::vector<Key> keys = metric_keys(budget, budget->sites.size());
  keys.push_back({"match", text("match", &site.frames.function)});
  keys.push_back({"file", text("file", &site.frames.file)});
  keys.push_back({"module", text("module", &site.frames.module)});
  const size_t limits = budget->limits.size();
  if (const Result<Done> taken = take_keys(node, "site", keys); !taken) return taken.problem();
  for (const std::string* glob : {&site.frames.function, &site.frames.file, &site.frames.module}) {
    if (!glob->empty()) site.name += (site.name.empty() ? "" : " in ") + *glob;
  }
  if (site.name.empty()) return broken(node, "a site needs match = a function, file = its source, or module =");
  if (budget->limits.size() == limits) return broken(node, fmt::format("no limit is set for '{}'", site.name));
  budget->sites.push_back(std::move(site));
  return Done{};
}

Result<Done> Parser::take_ignore(const toml::node& node, Budget* budget) {
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
  rule.source = file_.path;
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

Result<Done> Parser::take_budget(const toml::node& node) {
  Budget budget;
  budget.at = at(node);
  std::vector<Key> keys = common_keys(&budget);
  keys.push_back({"name", text("name", &budget.name)});
  keys.push_back({"command", [&](const toml::node& value) { return take_command(value, &budget); }});
  keys.push_back({"baseline", text("baseline", &budget.baseline)});
  keys.push_back({"message", text("message", &budget.message)});
  keys.push_back({"site", [&](const toml::node& value) {
                    return take_tables(value, "budget.site",
                                       [&](const toml::node& site) { return take_site(site, &budget); });
                  }});
  keys.push_back({"ignore", [&](const toml::node& value) {
                    return take_tables(value, "budget.ignore",
                                       [&](const toml::node& ignore) { return take_ignore(ignore, &budget); });
                  }});
  if (const Result<Done> taken = take_keys(node, "budget", keys); !taken) return taken.problem();
  if (budget.name.empty()) return broken(node, "the budget has no name");
  for (const Budget& known : file_.budgets) {
    if (known.name == budget.name)
      return broken(node, fmt::format("the name '{}' stands in line {} too", budget.name, known.at.line));
  }
  file_.budgets.push_back(std::move(budget));
  return Done{};
}

Result<Done> Parser::parse(const toml::table& root) {
  bool has_version = false;
  const Take version = [&](const toml::node& node) -> Result<Done> {
    has_version = true;
    if (node.value_exact<int64_t>() != 1) return broken(node, "this heapprof knows version = 1");
    return Done{};
  };
  const Result<Done> taken = take_keys(
      root, "the file",
      {{"version", version},
       {"defaults", [&](const toml::node& node) { return take_keys(node, "defaults", common_keys(&file_.defaults)); }},
       {"budget", [&](const toml::node& node) {
          return take_tables(node, "budget", [&](const toml::node& budget) { return take_budget(budget); });
        }}});
  if (!taken) return taken.problem();
  if (!has_version) return budget_broken({file_.path, 1}, "version = 1 is missing");
  return Done{};
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

Result<BudgetFile> parse_budget(std::string text, const std::string& path) {
  if (text.size() > kMostBytes) return budget_not_readable(path, "it is larger than 1 MiB");
  if (has_long_line(text)) return budget_not_readable(path, "a line is longer than 4,096 bytes");
  BudgetFile file;
  file.path = path;
  file.text = std::move(text);
  const toml::parse_result parsed = toml::parse(std::string_view(file.text), std::string_view(path));
  if (!parsed) {
    const toml::parse_error& error = parsed.error();
    return budget_broken({path, error.source().begin.line}, escape_controls(error.description()));
  }
  Parser parser(&file);
  if (const Result<Done> taken = parser.parse(parsed.table()); !taken) return taken.problem();
  return file;
}

Result<BudgetFile> read_budget(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  if (!fd.is_open()) return budget_not_readable(path, errno_text(errno));
  std::string text;
  std::array<char, 16 << 10> buffer;
  for (;;) {
    const ssize_t got = ::read(fd.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return budget_not_readable(path, errno_text(errno));
    if (got == 0) break;
    text.append(buffer.data(), static_cast<size_t>(got));
    if (text.size() > kMostBytes) break;
  }
  return parse_budget(std::move(text), path);
}

}  // namespace heapprof::cli
