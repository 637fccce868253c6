// heapprof/dtype.hpp: element types of tensors, their sizes and their names. heapprof/estimate.hpp includes it.
#ifndef HEAPPROF_DTYPE_HPP
#define HEAPPROF_DTYPE_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace heapprof {

enum class Dtype : std::uint8_t {
  kF64,
  kF32,
  kTf32,  // is stored as f32: 4 bytes
  kBf16,
  kF16,
  kFp8,  // e4m3 and e5m2
  kI64,
  kI32,
  kI16,
  kI8,
  kU64,
  kU32,
  kU16,
  kU8,
  kBool,  // 1 byte
  kFp4,   // this and the next two are packed: two elements a byte, an odd one takes a byte
  kI4,
  kU4,
};

struct DtypeName {
  std::string_view name;
  Dtype dtype;
};

// The name of each, in the order of Dtype, and how many bits an element takes.
struct DtypeFacts {
  DtypeName id;
  unsigned bits;
};
inline constexpr DtypeFacts kDtypes[] = {
    {{"f64", Dtype::kF64}, 64}, {{"f32", Dtype::kF32}, 32}, {{"tf32", Dtype::kTf32}, 32}, {{"bf16", Dtype::kBf16}, 16},
    {{"f16", Dtype::kF16}, 16}, {{"fp8", Dtype::kFp8}, 8},  {{"i64", Dtype::kI64}, 64},   {{"i32", Dtype::kI32}, 32},
    {{"i16", Dtype::kI16}, 16}, {{"i8", Dtype::kI8}, 8},    {{"u64", Dtype::kU64}, 64},   {{"u32", Dtype::kU32}, 32},
    {{"u16", Dtype::kU16}, 16}, {{"u8", Dtype::kU8}, 8},    {{"bool", Dtype::kBool}, 8},  {{"fp4", Dtype::kFp4}, 4},
    {{"i4", Dtype::kI4}, 4},    {{"u4", Dtype::kU4}, 4},
};

// What PyTorch, NumPy, JAX, ONNX and model files call them.
inline constexpr DtypeName kDtypeAliases[] = {
    {"fp64", Dtype::kF64},
    {"float64", Dtype::kF64},
    {"double", Dtype::kF64},
    {"fp32", Dtype::kF32},
    {"float32", Dtype::kF32},
    {"float", Dtype::kF32},
    {"bfloat16", Dtype::kBf16},
    {"fp16", Dtype::kF16},
    {"float16", Dtype::kF16},
    {"half", Dtype::kF16},
    {"f8", Dtype::kFp8},
    {"float8", Dtype::kFp8},
    {"e4m3", Dtype::kFp8},
    {"e5m2", Dtype::kFp8},
    {"fp8_e4m3", Dtype::kFp8},
    {"fp8_e5m2", Dtype::kFp8},
    {"f8_e4m3", Dtype::kFp8},
    {"f8_e5m2", Dtype::kFp8},
    {"float8_e4m3fn", Dtype::kFp8},
    {"float8_e5m2", Dtype::kFp8},
    {"int64", Dtype::kI64},
    {"long", Dtype::kI64},
    {"int32", Dtype::kI32},
    {"int", Dtype::kI32},
    {"int16", Dtype::kI16},
    {"short", Dtype::kI16},
    {"int8", Dtype::kI8},
    {"uint64", Dtype::kU64},
    {"uint32", Dtype::kU32},
    {"uint16", Dtype::kU16},
    {"uint8", Dtype::kU8},
    {"byte", Dtype::kU8},
    {"boolean", Dtype::kBool},
    {"f4", Dtype::kFp4},
    {"float4", Dtype::kFp4},
    {"e2m1", Dtype::kFp4},
    {"nf4", Dtype::kFp4},
    {"fp4_e2m1", Dtype::kFp4},
    {"int4", Dtype::kI4},
    {"uint4", Dtype::kU4},
};

constexpr std::string_view dtype_name(Dtype dtype) { return kDtypes[static_cast<std::size_t>(dtype)].id.name; }
constexpr unsigned dtype_bits(Dtype dtype) { return kDtypes[static_cast<std::size_t>(dtype)].bits; }

namespace detail {

constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

constexpr bool is_same_word(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (lower(a[i]) != lower(b[i])) return false;
  }
  return true;
}

}  // namespace detail

// Finds a type by its name or an alias, in upper or lower case.
constexpr std::optional<Dtype> parse_dtype(std::string_view name) {
  for (const DtypeFacts& facts : kDtypes) {
    if (detail::is_same_word(facts.id.name, name)) return facts.id.dtype;
  }
  for (const DtypeName& alias : kDtypeAliases) {
    if (detail::is_same_word(alias.name, name)) return alias.dtype;
  }
  return std::nullopt;
}

}  // namespace heapprof

#endif  // HEAPPROF_DTYPE_HPP
