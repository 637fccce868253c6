// cli/model/budget.cc: amounts are read by the rules of base/units.h, so that an ambiguous "512M" is refused here too.
#include "cli/model/budget.h"

#include "cli/base/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace heapprof::cli {
namespace {

__extension__ using Wide = unsigned __int128;  // products of two integers

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

const char* expected_amount(Metric metric) {
  if (is_in_bytes(metric)) return "a size such as 512 MiB";
  return metric == Metric::kTemporary ? "a share such as 60 %, or a number of blocks" : "a number such as 2_000_000";
}

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

uint64_t share_of(uint64_t value, uint64_t share) {
  const auto product = static_cast<Wide>(value) * share / kWholeShare;
  constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();
  return product > kMost ? kMost : static_cast<uint64_t>(product);
}

}  // namespace

std::optional<uint64_t> parse_share(std::string_view text) {
  if (text.empty() || text.back() != '%') return std::nullopt;
  text = trimmed(text.substr(0, text.size() - 1));
  const size_t point = text.find('.');
  std::string_view fraction = point == std::string_view::npos ? std::string_view{} : text.substr(point + 1);
  const std::optional<uint64_t> whole = parse_count(text.substr(0, point));
  if (!whole || *whole > 1'000'000 || fraction.size() > 2 || (point != std::string_view::npos && fraction.empty()))
    return std::nullopt;
  uint64_t hundredths = *whole * 100;
  for (uint64_t unit = 10; !fraction.empty(); unit /= 10, fraction.remove_prefix(1)) {
    if (fraction.front() < '0' || fraction.front() > '9') return std::nullopt;
    hundredths += static_cast<uint64_t>(fraction.front() - '0') * unit;
  }
  return hundredths;
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

Result<uint64_t> parse_amount(std::string_view text, Subject* subject) {
  subject->is_share = false;
  if (is_in_bytes(subject->metric)) return parse_size(trimmed(text));
  const std::optional<uint64_t> share = subject->metric == Metric::kTemporary ? parse_share(text) : std::nullopt;
  subject->is_share = share.has_value();
  const std::optional<uint64_t> value = share ? share : parse_count(text);
  if (!value) {
    return bad_value(std::string(metric_word(subject->metric)), std::string(text), expected_amount(subject->metric));
  }
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
    margin = subject->is_share ? *share : share_of(*middle, *share);  // of a share: points of percent
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
    return bad_value(flag, text, fmt::format("DEVICE={}", expected_amount(metric)));
  const Result<uint64_t> value = parse_amount(amount, &limit.subject);
  if (!value && !is_in_bytes(metric)) return bad_value(flag, text, expected_amount(metric));
  if (!value) return value.problem();
  limit.most = *value;
  return limit;
}

void set_limit(Limit limit, Budget* budget) {
  for (Limit& known : budget->limits) {
    if (known.subject == limit.subject) {
      known = std::move(limit);
      return;
    }
  }
  budget->limits.push_back(std::move(limit));
}

Budget with_defaults(const Budget& defaults, Budget budget) {
  for (Limit limit : defaults.limits) {
    limit.is_default = true;
    const bool is_named = std::any_of(budget.limits.begin(), budget.limits.end(), [&](const Limit& known) {
      return known.subject.site == Subject::kWhole && known.subject.metric == limit.subject.metric &&
             known.subject.device == limit.subject.device;
    });
    if (!is_named) budget.limits.push_back(std::move(limit));
  }
  if (!budget.warn_share) budget.warn_share = defaults.warn_share;
  if (!budget.tolerance_share) budget.tolerance_share = defaults.tolerance_share;
  if (!budget.slack_bytes) budget.slack_bytes = defaults.slack_bytes;
  if (!budget.runs) budget.runs = defaults.runs;
  return budget;
}

bool is_for_command(const Budget& budget, const std::vector<std::string>& command) {
  if (budget.command.empty() || budget.command.size() != command.size()) return false;
  return base_name(budget.command[0]) == base_name(command[0]) &&
         std::equal(budget.command.begin() + 1, budget.command.end(), command.begin() + 1);
}

}  // namespace heapprof::cli
