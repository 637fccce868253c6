// cli/model/profile/site_fields.h: the lines of site_numbers.def as tables, for code that treats all per-site numbers
// alike.
#pragma once

#include "cli/model/profile/profile.h"

#include <array>
#include <cstdint>
#include <string_view>

namespace heapprof::cli {

enum class SiteList : uint8_t {
  kNoList,
#define SITE_LIST(list, ...) list,
#include "cli/model/profile/site_numbers.def"
#undef SITE_LIST
};

struct SiteListName {
  enum class Others : uint8_t { kZero, kMean };

  SiteList list;
  std::string_view key;  // in the profile
  Others others;
};
inline constexpr std::array kSiteLists = {
#define SITE_LIST(list, key, others) SiteListName{SiteList::list, key, SiteListName::Others::others},
#include "cli/model/profile/site_numbers.def"
#undef SITE_LIST
};

// One line of site_numbers.def, which describes the members.
struct SiteField {
  enum class Kept : uint8_t { kPoint, kColumn, kList };
  enum class Needs : uint8_t { kNothing, kLifetimes, kOurs, kLeaks, kSizes, kJudgement };
  enum class Adds : uint8_t { kSum, kOldest, kYoungest, kSmallest, kLargest };

  uint64_t SiteNumbers::*number;
  std::string_view name;  // the member's
  std::string_view key;
  Kept kept;
  SiteList list;
  std::string_view report;
  Needs needs;
  Adds adds;
  uint64_t SiteNumbers::*bound;
  uint64_t SiteNumbers::*own_bound;
  uint64_t DeviceTotals::*total;
};

namespace site_fields {

using N = SiteNumbers;
using T = DeviceTotals;
using enum SiteList;
using enum SiteField::Kept;
using enum SiteField::Needs;
using enum SiteField::Adds;

inline constexpr std::array kAll = {
#define SITE_NUMBER(member, key, kept, list, report, needs, adds, bound, own_bound, total) \
  SiteField{&N::member, #member, key, kept, list, report, needs, adds, bound, own_bound, total},
#include "cli/model/profile/site_numbers.def"
#undef SITE_NUMBER
};

constexpr size_t count_points() {
  size_t points = 0;
  for (const SiteField& field : kAll) points += field.kept == kPoint ? 1 : 0;
  return points;
}
constexpr std::array<SiteField, count_points()> points_of_all() {
  std::array<SiteField, count_points()> points{};
  size_t next = 0;
  for (const SiteField& field : kAll) {
    if (field.kept == kPoint) points[next++] = field;
  }
  return points;
}

}  // namespace site_fields

inline constexpr const auto& kSiteFields = site_fields::kAll;
static_assert(sizeof(SiteNumbers) == kSiteFields.size() * sizeof(uint64_t),
              "every member of SiteNumbers is a line of site_numbers.def");

// The numbers that are fields of DHAT's program points, in DHAT's order, which "exact_numbers" also has.
inline constexpr auto kPointFields = site_fields::points_of_all();

struct SiteFlag {
  bool Site::*flag;
  std::string_view key;  // in the profile
};
inline constexpr std::array kSiteFlags = {
#define SITE_FLAG(member) SiteFlag{&Site::member, #member},
#include "cli/model/profile/site_numbers.def"
#undef SITE_FLAG
};

// Whether the sizes of the blocks are known. Files of older versions do not have them.
constexpr bool has_sizes(const SiteNumbers& numbers) {
  return numbers.total_blocks > 0 && (numbers.largest_bytes > 0 || numbers.total_bytes == 0);
}

// The number that a reader assumes for a site that the list does not name.
constexpr uint64_t unlisted_number(const SiteNumbers& numbers, const SiteListName& list) {
  if (list.others == SiteListName::Others::kZero || numbers.total_blocks == 0) return 0;
  return numbers.total_bytes / numbers.total_blocks;
}

// Whether the list has to name the site, because one of the numbers differs from unlisted_number().
inline bool is_listed(const SiteNumbers& numbers, const SiteListName& list) {
  const uint64_t unlisted = unlisted_number(numbers, list);
  if (list.others == SiteListName::Others::kMean && unlisted * numbers.total_blocks != numbers.total_bytes) return true;
  for (const SiteField& field : kSiteFields) {
    if (field.list == list.list && numbers.*field.number != unlisted) return true;
  }
  return false;
}

// Whether one of the list's numbers is not 0 for the site.
inline bool has_any(const SiteNumbers& numbers, const SiteListName& list) {
  for (const SiteField& field : kSiteFields) {
    if (field.list == list.list && numbers.*field.number != 0) return true;
  }
  return false;
}

}  // namespace heapprof::cli
