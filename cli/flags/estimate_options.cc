// cli/flags/estimate_options.cc: one list of flags for all kinds of estimates, so that one page of help shows them side
// by side; a table says which belong to which kind.
#include "cli/flags/estimate_options.h"

#include "cli/base/problems.h"
#include "cli/flags/estimate_words.h"

#include <algorithm>

namespace heapprof::cli {
namespace {

constexpr uint64_t kLargestNumber = 1'000'000'000'000'000'000;

enum class Need : unsigned char { kForeign, kOptional, kRequired };

// A number that some kinds use.
struct NumberFlag {
  const char* name;
  const char* group;
  const char* text;
  Need attention;
  Need kv_cache;
  uint64_t EstimateInput::*target;
};
constexpr const char* kBoth = "attention and kv-cache";
constexpr const char* kKvCacheOnly = "kv-cache";
constexpr std::array<NumberFlag, 8> kNumbers = {
    {{"--batch", kBoth, "attention, kv-cache: sequences (kv-cache: default 1)", Need::kRequired, Need::kOptional,
      &EstimateInput::batch},
     {"--head-dim", kBoth, "attention, kv-cache: elements of a head", Need::kRequired, Need::kRequired,
      &EstimateInput::head_dim},
     {"--heads", "attention", "attention: heads of queries", Need::kRequired, Need::kForeign, &EstimateInput::heads},
     {"--seq", "attention", "attention: tokens of a sequence", Need::kRequired, Need::kForeign,
      &EstimateInput::sequence},
     {"--layers", kKvCacheOnly, "kv-cache: layers", Need::kForeign, Need::kRequired, &EstimateInput::layers},
     {"--kv-heads", kKvCacheOnly, "kv-cache: heads of keys and values, not of queries", Need::kForeign, Need::kRequired,
      &EstimateInput::kv_heads},
     {"--tokens", kKvCacheOnly, "kv-cache: tokens of a sequence", Need::kForeign, Need::kRequired,
      &EstimateInput::tokens},
     {"--page-size", kKvCacheOnly, "kv-cache: tokens of a page (default 1)", Need::kForeign, Need::kOptional,
      &EstimateInput::page_tokens}}};
// Example command lines that work, by kind.
constexpr std::array<const char*, 4> kExamples = {
    "tensor 32x4096 --dtype bf16", "attention --batch 8 --heads 32 --seq 4096 --head-dim 128 --dtype f16",
    "kv-cache --layers 32 --kv-heads 8 --head-dim 128 --tokens 8192 --dtype f16", "weights 7B --dtype bf16"};

// Whether --pages replaces it.
bool is_per_sequence(const NumberFlag& flag) {
  return flag.target == &EstimateInput::tokens || flag.target == &EstimateInput::batch;
}

Need need_of(const NumberFlag& flag, EstimateKind kind) {
  if (kind == EstimateKind::kAttention) return flag.attention;
  return kind == EstimateKind::kKvCache ? flag.kv_cache : Need::kForeign;
}

Result<EstimateKind> find_kind(const std::vector<std::string>& words) {
  if (words.empty()) return estimate_of_what("", "");
  for (size_t i = 0; i < kEstimateKinds.size(); ++i) {
    if (words[0] == kEstimateKinds[i]) return static_cast<EstimateKind>(i);
  }
  return estimate_of_what(words[0], nearest_word(words[0], {kEstimateKinds.begin(), kEstimateKinds.end()}));
}

// Copies the numbers; all missing ones are named at once.
Result<Done> take_numbers(const EstimateFlags& flags, EstimateInput* input, std::vector<std::string>* missing) {
  const std::string kind = estimate_kind_name(input->kind);
  for (size_t i = 0; i < kNumbers.size(); ++i) {
    const NumberFlag& flag = kNumbers[i];
    const Need need = need_of(flag, input->kind);
    const bool has_pages = flags.pages != kNotGiven && is_per_sequence(flag);
    if (flags.numbers[i] == kNotGiven) {
      if (need == Need::kRequired && !has_pages) missing->emplace_back(flag.name);
      continue;
    }
    if (need == Need::kForeign) return flag_of_other_estimate(flag.name, kind, flag.group);
    if (has_pages && input->kind == EstimateKind::kKvCache) return flags_exclude_each_other("--pages", flag.name);
    input->*flag.target = flags.numbers[i];
  }
  if (flags.pages == kNotGiven) return Done{};
  if (input->kind != EstimateKind::kKvCache) return flag_of_other_estimate("--pages", kind, kKvCacheOnly);
  input->pages = flags.pages;
  return Done{};
}

// Takes the shape of a tensor, or the number of weights.
Result<Done> take_word(const EstimateFlags& flags, EstimateInput* input, std::vector<std::string>* missing) {
  const bool is_tensor = input->kind == EstimateKind::kTensor;
  const size_t most = is_tensor || input->kind == EstimateKind::kWeights ? 2 : 1;
  if (flags.words.size() > most) return unexpected_argument(flags.words[most], "estimate");
  if (most == 1) return Done{};
  if (flags.words.size() == 1) {
    missing->emplace_back(is_tensor ? "a shape" : "a number of parameters");
    return Done{};
  }
  if (is_tensor) {
    const Result<std::vector<uint64_t>> shape = parse_shape(flags.words[1]);
    if (!shape) return shape.problem();
    input->shape = *shape;
    return Done{};
  }
  const Result<uint64_t> parameters = parse_parameter_count(flags.words[1]);
  if (!parameters) return parameters.problem();
  input->parameters = *parameters;
  return Done{};
}

std::string joined_by_and(const std::vector<std::string>& words) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) text += (i == 0 ? "" : i + 1 == words.size() ? " and " : ", ") + words[i];
  return text;
}

}  // namespace

Result<EstimateInput> interpret_estimate(const EstimateFlags& flags) {
  EstimateInput input;
  const Result<EstimateKind> kind = find_kind(flags.words);
  if (!kind) return kind.problem();
  input.kind = *kind;
  std::vector<std::string> missing;
  if (const Result<Done> taken = take_word(flags, &input, &missing); !taken) return taken.problem();
  if (const Result<Done> taken = take_numbers(flags, &input, &missing); !taken) return taken.problem();
  if (flags.dtype.empty()) missing.emplace_back("--dtype");
  if (!missing.empty())
    return estimate_lacks(estimate_kind_name(*kind), joined_by_and(missing), kExamples[static_cast<size_t>(*kind)]);
  const Result<Dtype> dtype = parse_element_type(flags.dtype);
  if (!dtype) return dtype.problem();
  input.dtype = *dtype;
  if (flags.overhead.empty()) return input;
  const Result<double> overhead = parse_overhead(flags.overhead);
  if (!overhead) return overhead.problem();
  input.overhead = *overhead;
  return input;
}

void declare_estimate_options(Options* options, EstimateFlags* target) {
  options->add_text({"--dtype", "TYPE", "size", "of elements: f32, bf16, fp8, i4 … (man page)"}, &target->dtype);
  options->add_text({"--overhead", "FACTOR", "size", "what comes on top (default 1.1)"}, &target->overhead);
  for (size_t i = 0; i < kNumbers.size(); ++i) {
    const NumberFlag& flag = kNumbers[i];
    options->add_number({flag.name, "N", flag.group, flag.text}, 1, kLargestNumber, &target->numbers[i]);
  }
  options->add_number({"--pages", "N", kKvCacheOnly, "kv-cache: pages in all; no --tokens and --batch"}, 1,
                      kLargestNumber, &target->pages);
  options->add_positionals(&target->words);
}

Result<Done> refuse_negative(const std::vector<std::string>& arguments) {
  const auto negative = std::find_if(arguments.begin(), arguments.end(), [](const std::string& argument) {
    return argument.size() > 1 && argument[0] == '-' && argument[1] >= '0' && argument[1] <= '9';
  });
  if (negative == arguments.end()) return Done{};
  return bad_estimate_value(*negative, "a size or a count: it is negative", "a number of 0 or more");
}

}  // namespace heapprof::cli
