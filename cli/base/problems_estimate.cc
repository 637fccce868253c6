// cli/base/problems_estimate.cc: the words of errors: estimated sizes, and the memory that they are compared with.
#include "cli/base/problem_words.h"

#include <fmt/format.h>

namespace heapprof::cli {

Problem estimate_of_what(const std::string& word, const std::string& nearest) {
  const std::string mean = nearest.empty() ? "" : fmt::format("; did you mean {}?", nearest);
  return {"HP192",
          word.empty()
              ? "estimate needs to know what: tensor, attention, kv-cache or weights"
              : fmt::format("there is no estimate of '{}', only tensor, attention, kv-cache, weights{}", word, mean),
          "heapprof estimate tensor 32x4096 --dtype bf16", "see what each takes: heapprof estimate --help", kUsage};
}

Problem estimate_lacks(const std::string& kind, const std::string& missing, const std::string& example) {
  return {"HP193", fmt::format("estimate {} needs {}", kind, missing), "heapprof estimate " + example,
          "see what each takes: heapprof estimate --help", kUsage};
}

Problem flag_of_other_estimate(const std::string& flag, const std::string& kind, const std::string& others) {
  return {"HP194", fmt::format("estimate {} does not go by {}, only {} does", kind, flag, others),
          fmt::format("leave {} out", flag), fmt::format("ask for heapprof estimate {}", others), kUsage};
}

Problem bad_estimate_value(const std::string& text, const std::string& expected, const std::string& examples) {
  return {"HP195", fmt::format("'{}' is not {}", text, expected), "write it as " + examples,
          "see what each takes: heapprof estimate --help", kUsage};
}

Problem unknown_dtype(const std::string& word, const std::string& nearest, const std::string& known) {
  const std::string mean = nearest.empty() ? "" : fmt::format("; did you mean {}?", nearest);
  return {"HP196", fmt::format("'{}' is no element type{}", word, mean), "take one of " + known,
          "take one of the same size: only that counts here", kUsage};
}

Problem estimate_overflows(const std::string& kind, const std::string& formula) {
  return {"HP197", fmt::format("the size of this {} does not fit in 64 bits: {}", kind, formula),
          "look for a number that is too large, perhaps bytes where elements are meant",
          "estimate a part of it, and multiply", kUsage};
}

Problem device_not_measured(const std::string& device, const std::string& reason) {
  return {"HP198", fmt::format("{} has to be measured, and cannot be: {}", device, reason),
          "see whether the driver works here: nvidia-smi",
          "say how much is free: --limit 24GiB (that is believed, not measured)", kNotMeasured};
}

}  // namespace heapprof::cli
