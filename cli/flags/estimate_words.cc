// cli/flags/estimate_words.cc: shapes are accepted as users copy them: from a message of PyTorch, a model's
// configuration or their own notes. Ambiguous ones are refused.
#include "cli/flags/estimate_words.h"

#include "cli/base/problems.h"
#include "cli/base/text.h"
#include "cli/flags/options.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

namespace heapprof::cli {
namespace {

// Whether the whole text is one number.
template <typename Number>
bool parse_all(std::string_view text, Number* number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

Problem bad_shape(const std::string& text) {
  return bad_estimate_value(text, "a shape: dimensions of 0 or more", "32x4096 or [32, 4096]; [] is a scalar");
}

}  // namespace

Result<std::vector<uint64_t>> parse_shape(const std::string& text) {
  std::vector<uint64_t> shape;
  std::string_view rest = trimmed(text);
  const bool is_list = rest.size() >= 2 && ((rest.starts_with('[') && rest.ends_with(']')) ||
                                            (rest.starts_with('(') && rest.ends_with(')')));
  if (is_list) rest = trimmed(rest.substr(1, rest.size() - 2));
  if (is_list && rest.empty()) return shape;
  const std::string_view signs = rest.find(',') == std::string_view::npos ? "xX" : ",";
  for (;;) {
    const size_t end = std::min(rest.find_first_of(signs), rest.size());
    const std::string_view word = trimmed(rest.substr(0, end));
    uint64_t dimension = 0;
    if (word.starts_with('-') || !parse_all(word, &dimension)) return bad_shape(text);
    shape.push_back(dimension);
    if (end == rest.size()) return shape;
    rest.remove_prefix(end + 1);
    if (is_list && signs == "," && shape.size() == 1 && trimmed(rest).empty()) return shape;  // Python's (3,)
  }
}

Result<Dtype> parse_element_type(const std::string& text) {
  if (const std::optional<Dtype> dtype = parse_dtype(text)) return *dtype;
  std::vector<std::string> names;
  std::string known;
  for (const DtypeFacts& facts : kDtypes) {
    names.emplace_back(facts.id.name);
    known += (known.empty() ? "" : ", ") + names.back();
  }
  for (const DtypeName& alias : kDtypeAliases) names.emplace_back(alias.name);
  return unknown_dtype(text, nearest_word(text, names), known);
}

Result<uint64_t> parse_parameter_count(const std::string& text) {
  if (const std::optional<uint64_t> count = parse_parameters(text)) return *count;
  return bad_estimate_value(text, "a whole number of parameters", "7B, 1.5M, 13e9 or 7000000000");
}

Result<double> parse_overhead(const std::string& text) {
  double factor = 0;
  if (!parse_all(text, &factor) || !try_add_overhead(0, factor))
    return bad_value("--overhead", text, "a factor from 1 to 1000, such as 1.1");
  return factor;
}

Result<uint64_t> parse_cuda_device(const std::string& text) {
  constexpr std::string_view kStart = "cuda:";
  constexpr uint64_t kMost = 1023;
  uint64_t index = 0;
  if (!text.starts_with(kStart) || !parse_all(std::string_view(text).substr(kStart.size()), &index) || index > kMost)
    return bad_value("--device", text, "a device such as cuda:0");
  return index;
}

}  // namespace heapprof::cli
