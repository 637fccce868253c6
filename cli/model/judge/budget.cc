// cli/model/judge/budget.cc: amounts are parsed by the rules of base/units.h, so that an ambiguous "512M" is refused
// here too.
#include "cli/model/judge/budget.h"

#include "cli/base/file_name.h"
#include "cli/base/text.h"
#include "cli/base/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace heapprof::cli {
namespace {

__extension__ using Wide = unsigned __int128;  // products of two integers

const char* expected_amount(const Subject& subject) {
  if (is_in_bytes(subject)) return "a size such as 512 MiB";
  if (subject.scope && is_average(*subject.scope)) return "a number such as 3 or 1.5";
  const Metric metric = subject.scope ? Metric::kAllocations : subject.metric;
  return metric == Metric::kTemporary ? "a share such as 60 %, or a number of blocks" : "a number such as 2_000_000";
}

uint64_t share_of(uint64_t value, uint64_t share) {
  const auto product = static_cast<Wide>(value) * share / kWholeShare;
  constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();
  return product > kMost ? kMost : static_cast<uint64_t>(product);
}

}  // namespace

std::optional<uint64_t> parse_share(std::string_view text) {
  const std::optional<Ratio> ratio = parse_percent(text);
  constexpr uint64_t kMost = 1'000'000;  // percent
  if (!ratio || ratio->whole > kWholeShare || ratio->part / (ratio->whole / 100) > kMost) return std::nullopt;
  return ratio->part * (kWholeShare / ratio->whole);
}

std::optional<uint64_t> parse_count(std::string_view text) {
  uint64_t value = 0;
  char previous = '_';
  for (const char c : text) {
    if (c == '_') {
      if (previous == '_') return std::nullopt;
    } else if (c < '0' || c > '9' || __builtin_mul_overflow(value, uint64_t{10}, &value) ||
               __builtin_add_overflow(value, static_cast<uint64_t>(c - '0'), &value)) {
      return std::nullopt;
    }
    previous = c;
  }
  return previous == '_' ? std::nullopt : std::optional(value);
}

std::optional<uint64_t> parse_average(std::string_view text) {
  const size_t point = text.find('.');
  std::string digits(point == std::string_view::npos ? std::string_view() : text.substr(point + 1));
  const bool is_cut = point != std::string_view::npos && (digits.empty() || digits.size() > 2);
  const std::optional<uint64_t> whole = parse_count(text.substr(0, point));
  digits.resize(2, '0');
  const std::optional<uint64_t> part = parse_count(digits);
  uint64_t value = 0;
  if (is_cut || !whole || !part || __builtin_mul_overflow(*whole, kHundredths, &value) ||
      __builtin_add_overflow(value, *part, &value))
    return std::nullopt;
  return value;
}

bool is_in_bytes(const Subject& subject) {
  return subject.scope ? is_in_bytes(*subject.scope) : is_in_bytes(subject.metric);
}

bool is_of_device(const Subject& subject) {
  return !subject.scope || scope_metric_field(subject.scope->metric).of == ScopeMetricField::Of::kDevice;
}

const char* subject_word(const Subject& subject) {
  return subject.scope ? scope_word(*subject.scope) : metric_word(subject.metric);
}

Result<uint64_t> parse_amount(std::string_view text, Subject* subject) {
  subject->is_share = false;
  if (is_in_bytes(*subject)) return parse_size(trimmed(text));
  const bool may_be_share = !subject->scope && subject->metric == Metric::kTemporary;
  const std::optional<uint64_t> share = may_be_share ? parse_share(text) : std::nullopt;
  subject->is_share = share.has_value();
  const bool has_hundredths = subject->scope && is_average(*subject->scope);
  const std::optional<uint64_t> value = share ? share : has_hundredths ? parse_average(text) : parse_count(text);
  if (!value) return bad_value(subject_word(*subject), std::string(text), expected_amount(*subject));
  return *value;
}

Result<Expectation> parse_expectation(std::string_view text, Subject* subject) {
  constexpr std::string_view kExpected = "an amount and how far from it, such as 12 GiB ± 2 %";
  std::string_view sign = "±";
  size_t at = text.find(sign);
  if (at == std::string_view::npos) at = text.find(sign = "+-");
  if (at == std::string_view::npos) return bad_value("expect", std::string(text), std::string(kExpected));
  const Result<uint64_t> middle = parse_amount(trimmed(text.substr(0, at)), subject);
  if (!middle) return middle.problem();
  const std::string_view margin_text = trimmed(text.substr(at + sign.size()));
  uint64_t margin = 0;
  if (const std::optional<uint64_t> share = parse_share(margin_text)) {
    margin = subject->is_share ? *share : share_of(*middle, *share);  // for a share, the margin is in percentage points
  } else {
    Subject same = *subject;
    const Result<uint64_t> absolute = parse_amount(margin_text, &same);
    if (!absolute) return absolute.problem();
    margin = *absolute;
  }
  const uint64_t room = std::numeric_limits<uint64_t>::max() - *middle;
  return Expectation{*middle - std::min(*middle, margin), *middle + std::min(room, margin)};
}

Result<Limit> parse_limit_flag(const std::string& flag, Metric metric, const std::string& text) {
  Limit limit;
  limit.at.file = flag;
  limit.subject.metric = metric;
  std::string_view amount = text;
  if (const size_t equals = text.find('='); equals != std::string::npos) {
    limit.subject.device = text.substr(0, equals);
    amount.remove_prefix(equals + 1);
  }
  if (limit.subject.device.empty() || amount.empty())
    return bad_value(flag, text, fmt::format("DEVICE={}", expected_amount(limit.subject)));
  const Result<uint64_t> value = parse_amount(amount, &limit.subject);
  if (!value && !is_in_bytes(metric)) return bad_value(flag, text, expected_amount(limit.subject));
  if (!value) return value.problem();
  limit.most = *value;
  return limit;
}

Budget with_defaults(const Budget& defaults, Budget budget) {
  for (Limit limit : defaults.limits) {
    limit.is_default = true;
    const bool is_named = std::any_of(budget.limits.begin(), budget.limits.end(), [&](const Limit& known) {
      return known.subject.is_whole() && known.subject.metric == limit.subject.metric &&
             known.subject.device == limit.subject.device;
    });
    if (!is_named) budget.limits.push_back(std::move(limit));
  }
  if (!budget.warn_share) budget.warn_share = defaults.warn_share;
  if (!budget.tolerance_share) budget.tolerance_share = defaults.tolerance_share;
  if (!budget.slack_bytes) budget.slack_bytes = defaults.slack_bytes;
  if (!budget.runs) budget.runs = defaults.runs;
  if (!budget.processes) budget.processes = defaults.processes;
  return budget;
}

Tolerance tolerance_of(const Budget& budget) {
  Tolerance tolerance;
  if (budget.tolerance_share) tolerance.share = {*budget.tolerance_share, kWholeShare};
  if (budget.slack_bytes) tolerance.slack_bytes = *budget.slack_bytes;
  if (tolerance.slack_bytes == 0) tolerance.slack_blocks = 0;
  return tolerance;
}

bool has_limit_of_scope(const Budget& budget, size_t scope) {
  return std::any_of(budget.limits.begin(), budget.limits.end(), [scope](const Limit& limit) {
    return limit.subject.scope && limit.subject.scope->scope == scope;
  });
}

bool is_for_command(const Budget& budget, const std::vector<std::string>& command) {
  if (budget.command.empty() || budget.command.size() != command.size()) return false;
  return base_name(budget.command[0]) == base_name(command[0]) &&
         std::equal(budget.command.begin() + 1, budget.command.end(), command.begin() + 1);
}

}  // namespace heapprof::cli
