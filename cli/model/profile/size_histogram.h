// cli/model/profile/size_histogram.h: counts blocks by size, in buckets of powers of two.
//
// Older profiles use classes of powers of four. Here such a class is the bucket of its upper half, so that the bucket's
// upper limit is right. Profile::has_coarse_sizes says that the bucket begins lower.
//
// Cost:     24 bytes while all blocks are in one bucket, as at most sites; 256 more from the second bucket on.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

namespace heapprof::cli {

// Buckets: ≤8 B, ≤16, ≤32 … ≤512 MiB, ≤1 GiB, larger.
inline constexpr int kSizeBuckets = 29;
inline constexpr int kSmallestBucketBits = 3;
constexpr int size_bucket(uint64_t size_bytes) {
  if (size_bytes <= uint64_t{1} << kSmallestBucketBits) return 0;
  const int bucket = 64 - std::countl_zero(size_bytes - 1) - kSmallestBucketBits;
  return bucket < kSizeBuckets - 1 ? bucket : kSizeBuckets - 1;
}

// The largest size of the bucket; nullopt if it has no limit.
constexpr std::optional<uint64_t> size_bucket_most(int bucket) {
  if (bucket >= kSizeBuckets - 1) return std::nullopt;
  return uint64_t{1} << (bucket + kSmallestBucketBits);
}

// Classes by powers of four: ≤16 B, ≤64 … ≤16 MiB, larger; and the bucket that represents each class.
inline constexpr int kCoarseClasses = 12;
constexpr int bucket_of_coarse(int coarse_class) {
  return coarse_class < kCoarseClasses - 1 ? 2 * coarse_class + 1 : kSizeBuckets - 1;
}
constexpr int coarse_of_bucket(int bucket) { return bucket / 2 < kCoarseClasses - 1 ? bucket / 2 : kCoarseClasses - 1; }

// The smallest size of the bucket.
constexpr uint64_t size_bucket_least(int bucket, bool is_coarse) {
  const int before = is_coarse ? bucket_of_coarse(coarse_of_bucket(bucket) - 1) : bucket - 1;
  return coarse_of_bucket(bucket) == 0 && (is_coarse || bucket == 0) ? 0 : *size_bucket_most(before) + 1;
}

using SizeCounts = std::array<uint64_t, kSizeBuckets>;

class SizeHistogram {
 public:
  SizeHistogram() = default;
  explicit SizeHistogram(const SizeCounts& counts) {
    for (int bucket = 0; bucket < kSizeBuckets; ++bucket) set(bucket, counts[static_cast<size_t>(bucket)]);
  }
  SizeHistogram(const SizeHistogram& other) : blocks_(other.blocks_), bucket_(other.bucket_) {
    if (other.counts_ != nullptr) counts_ = std::make_unique<SizeCounts>(*other.counts_);
  }
  SizeHistogram(SizeHistogram&&) noexcept = default;
  SizeHistogram& operator=(const SizeHistogram& other) {
    SizeHistogram copy(other);
    return *this = std::move(copy);
  }
  SizeHistogram& operator=(SizeHistogram&&) noexcept = default;
  ~SizeHistogram() = default;

  uint64_t operator[](int bucket) const {
    if (counts_ != nullptr) return (*counts_)[static_cast<size_t>(bucket)];
    return bucket == bucket_ ? blocks_ : 0;
  }
  void set(int bucket, uint64_t blocks) {
    if (counts_ == nullptr && bucket != bucket_) {
      if (blocks == 0) return;
      if (blocks_ != 0) {
        counts_ = std::make_unique<SizeCounts>();
        (*counts_)[static_cast<size_t>(bucket_)] = blocks_;
      }
      bucket_ = bucket;
    }
    (counts_ != nullptr ? (*counts_)[static_cast<size_t>(bucket)] : blocks_) = blocks;
  }
  // visit(bucket, blocks) for each bucket that has blocks, the smallest first.
  template <typename Visit>
  void for_each_used(const Visit& visit) const {
    if (counts_ == nullptr) {
      if (blocks_ != 0) visit(bucket_, blocks_);
      return;
    }
    for (int bucket = 0; bucket < kSizeBuckets; ++bucket) {
      const uint64_t blocks = (*counts_)[static_cast<size_t>(bucket)];
      if (blocks != 0) visit(bucket, blocks);
    }
  }

  friend bool operator==(const SizeHistogram& a, const SizeHistogram& b) {
    for (int bucket = 0; bucket < kSizeBuckets; ++bucket) {
      if (a[bucket] != b[bucket]) return false;
    }
    return true;
  }

 private:
  uint64_t blocks_ = 0;  // number in bucket_, the only used one; unused if counts_ is set
  int bucket_ = 0;
  std::unique_ptr<SizeCounts> counts_;
};

}  // namespace heapprof::cli
