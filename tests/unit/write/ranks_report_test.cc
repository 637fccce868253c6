// tests/unit/write/ranks_report_test.cc: a merged profile's ranks in the report: who had how much where, and how a
// place differs among them.
#include "cli/model/compare/merge_profiles.h"
#include "cli/model/profile/invariants.h"
#include "cli/write/report/formats.h"
#include "cli/write/report/report_sections.h"
#include "cli/write/report/tables/tables.h"
#include "tests/support/golden.h"
#include "tests/support/rendered.h"
#include "tests/support/sample_profile.h"

#include <catch2/catch.hpp>

using namespace heapprof::cli;
using namespace heapprof::test;

namespace {

Profile merged_ranks(uint64_t ranks, const std::string& host) {
  ProfileMerger merger;
  for (uint64_t rank = 0; rank < ranks; ++rank) {
    Profile profile = assembled(small_sample());
    profile.run.job = {"Slurm", rank, ranks, rank % 2, host + std::to_string(rank / 2), std::to_string(rank % 2),
                       false};
    profile.run.pid = 100 + rank;
    if (rank == 1) profile.run.end = {EndKind::kSignaled, 9};
    if (!merger.add(std::move(profile), "rank." + std::to_string(rank) + ".json")) FAIL("it does not add up");
  }
  return merger.take();
}

}  // namespace

TEST_CASE("the report of ranks") {
  const Profile profile = merged_ranks(3, "node");
  REQUIRE(find_violations(profile).empty());
  ReportView view;
  view.file = "all.json";
  check_golden("report/ranks.txt", render_report_text(profile, view, terminal(80)));
}

TEST_CASE("rows of ranks fit, whatever hosts are called, and there are as many as were asked for") {
  for (const size_t columns : {40, 60, 80, 200}) {
    const Profile profile = merged_ranks(12, std::string(30, 'h'));
    const RankRows rows = rank_rows(profile, {5, false, columns});
    const std::vector<std::string> lines = split(rows.rows);
    CHECK(lines.size() == 5);
    if (columns >= 80) check_lines(rows.rows, columns);
    CHECK(rows.remark.starts_with("12 ranks of Slurm on 6 hosts, top 5 of "));
  }
  const Profile alone = assembled(small_sample());
  CHECK(rank_rows(alone, {}).rows.empty());
}

TEST_CASE("the tables of ranks and of their spread have a row for each") {
  const Profile profile = merged_ranks(3, "node");
  ReportView view;
  for (const ReportTable& table : report_tables()) {
    if (std::string_view(table.name) == "ranks") {
      const CellTable ranks = make_table(table, profile, view);
      size_t rows = 0;
      for (const MergedPart& part : profile.merged) rows += part.rows.size();
      CHECK(ranks.rows.size() == rows);
    }
    if (std::string_view(table.name) == "spread") {
      size_t sites = 0;
      for (const Device& device : profile.devices) sites += device.sites.size();
      CHECK(make_table(table, profile, view).rows.size() == sites);
    }
  }
}
