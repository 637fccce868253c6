// cli/flags/estimate_words.h: the words of `heapprof estimate` that are no flags: shapes, element types, parameters.
//
// Guarantees
//  - Every mistake is a Problem that quotes what was typed; the nearest element type is named.
#pragma once

#include "cli/model/estimate/estimate.h"

#include <cstdint>
#include <string>
#include <vector>

namespace heapprof::cli {

// "32x4096", "32,4096", "[32, 4096]"; "[]" is a scalar.
Result<std::vector<uint64_t>> parse_shape(const std::string& text);
Result<Dtype> parse_element_type(const std::string& text);
Result<uint64_t> parse_parameter_count(const std::string& text);  // "7B"
Result<double> parse_overhead(const std::string& text);
Result<uint64_t> parse_cuda_device(const std::string& text);  // the N of "cuda:N"

}  // namespace heapprof::cli
