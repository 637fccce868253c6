// tests/unit/model/site_fields_test.cc: every per-site number is explained in the manual, and adds as its line says.
#include "cli/model/profile/site_fields.h"

#include "cli/model/analysis/metrics.h"
#include "cli/model/profile/site_numbers.h"
#include "tests/support/manual.h"

#include <catch2/catch.hpp>

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

TEST_CASE("numbers of two sites add as their lines say, and stop at the largest number") {
  for (const SiteField& field : kSiteFields) {
    INFO(field.name);
    SiteNumbers sum;
    SiteNumbers other;
    sum.leaked_blocks = other.leaked_blocks = 1;  // else times of leaks say nothing
    sum.*field.number = 30;
    other.*field.number = 40;
    add_numbers(&sum, other);
    const uint64_t expected = field.adds == SiteField::Adds::kSum      ? 70
                              : field.adds == SiteField::Adds::kOldest ? 30
                                                                       : 40;
    CHECK(sum.*field.number == expected);
    if (field.adds != SiteField::Adds::kSum) continue;
    other.*field.number = UINT64_MAX;
    add_numbers(&sum, other);
    CHECK(sum.*field.number == UINT64_MAX);
  }
}

TEST_CASE("a site without leaks says nothing of their times") {
  SiteNumbers sum;
  SiteNumbers other;
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
