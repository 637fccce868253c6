// tests/unit/model/site_fields_test.cc: every per-site number is explained in the manual, and adds as its line says.
#include "cli/model/profile/site_fields.h"

#include "cli/model/analysis/metrics.h"
#include "cli/model/profile/site_numbers.h"
#include "tests/support/manual.h"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace heapprof::cli;
using namespace heapprof::test;

TEST_CASE("each per-site number, list and flag is explained in the page of the format") {
  const std::string page = manual_page("heapprof-format.5");
  const auto check = [&page](std::string_view key) {
    INFO(key);
    CHECK(explains(page, std::string(key)));
  };
  for (const SiteField& field : kSiteFields) check(field.key);
  for (const SiteListName& list : kSiteLists) check(list.key);
  for (const SiteFlag& flag : kSiteFlags) check(flag.key);
}

TEST_CASE("no two per-site numbers have one name") {
  for (const SiteField& a : kSiteFields) {
    for (const SiteField& b : kSiteFields) {
      if (&a == &b) continue;
      CHECK(a.key != b.key);
      CHECK((a.report.empty() || a.report != b.report));
    }
  }
}

TEST_CASE("numbers of two sites add as their lines say, and sums stop at the largest number") {
  for (const SiteField& field : kSiteFields) {
    INFO(field.name);
    SizedNumbers sum;
    sum.leaked_blocks = sum.total_blocks = 1;  // else times of leaks and sizes say nothing
    SizedNumbers other = sum;
    sum.*field.number = 30;
    other.*field.number = 40;
    add_numbers(&sum, other);
    switch (field.adds) {
      case SiteField::Adds::kSum: CHECK(sum.*field.number == 70); break;
      case SiteField::Adds::kOldest:
      case SiteField::Adds::kSmallest: CHECK(sum.*field.number == 30); break;
      case SiteField::Adds::kYoungest:
      case SiteField::Adds::kLargest: CHECK(sum.*field.number == 40); break;
    }
    if (field.adds != SiteField::Adds::kSum) continue;
    other.*field.number = UINT64_MAX;
    add_numbers(&sum, other);
    CHECK(sum.*field.number == UINT64_MAX);
  }
}

TEST_CASE("sizes of a sum are known if those of all its sites are") {
  SizedNumbers known;
  known.total_blocks = 2, known.total_bytes = 40, known.smallest_bytes = 16, known.largest_bytes = 24;
  SizedNumbers old;
  old.total_blocks = 1, old.total_bytes = 5;
  SizedNumbers sum;
  CHECK_FALSE(has_sizes(sum));
  add_numbers(&sum, known);
  CHECK(has_sizes(sum));
  add_numbers(&sum, SizedNumbers{});
  CHECK(sum.smallest_bytes == 16);
  CHECK(sum.largest_bytes == 24);
  add_numbers(&sum, old);
  CHECK_FALSE(has_sizes(sum));
  add_numbers(&sum, known);
  CHECK_FALSE(has_sizes(sum));
}

TEST_CASE(
    "a site of one size is not in the list of sizes, nor is one that never called realloc in that of resized ones") {
  const auto list = [](SiteList it) {
    return *std::find_if(kSiteLists.begin(), kSiteLists.end(),
                         [it](const SiteListName& known) { return known.list == it; });
  };
  SizedNumbers numbers;
  numbers.total_blocks = 3, numbers.total_bytes = 48, numbers.smallest_bytes = numbers.largest_bytes = 16;
  CHECK_FALSE(is_listed(numbers, list(SiteList::kSized)));
  CHECK_FALSE(is_listed(numbers, list(SiteList::kResized)));
  numbers.moved_bytes = 1;
  CHECK(is_listed(numbers, list(SiteList::kResized)));
  numbers.largest_bytes = 20;
  CHECK(is_listed(numbers, list(SiteList::kSized)));
  numbers.smallest_bytes = numbers.largest_bytes = 0;  // not known
  CHECK(is_listed(numbers, list(SiteList::kSized)));
  CHECK_FALSE(has_any(numbers, list(SiteList::kSized)));
}

TEST_CASE("a site without leaks says nothing of their times") {
  SizedNumbers sum;
  SizedNumbers other;
  other.first_leak_ns = 5;
  other.last_leak_ns = 6;
  add_numbers(&sum, other);
  CHECK(sum.first_leak_ns == 0);
  CHECK(sum.last_leak_ns == 0);
  other.leaked_blocks = 1;
  add_numbers(&sum, other);
  CHECK(sum.first_leak_ns == 5);
  CHECK(sum.last_leak_ns == 6);
}

TEST_CASE("each metric is said by its word in the pages that list them, and by its name in that of histories") {
  for (const char* name : {"heapprof-report.1", "heapprof-diff.1", "heapprof-export.1", "heapprof-history.1"}) {
    const std::string page = manual_page(name);
    for (const MetricField& it : kMetricFields) {
      INFO(name << " " << it.word);
      CHECK(explains(page, it.word));
    }
  }
  const std::string history = manual_page("heapprof-history.1");
  const std::string check = manual_page("heapprof-check.1");
  for (const MetricField& it : kMetricFields) {
    INFO(it.word);
    CHECK(history.find(metric_field(it.metric)) != std::string::npos);
    CHECK(explains(check, "--max-" + std::string(it.word)));
  }
}
