// tests/unit/commands/report_test.cc: the report's formats: golden texts, widths, and totals that agree in every view.
#include "cli/commands/report.h"

#include "cli/base/text.h"
#include "cli/base/units.h"
#include "cli/read/read_profile.h"
#include "cli/write/report/report_sections.h"
#include "tests/support/data_path.h"
#include "tests/support/folded_scene.h"
#include "tests/support/golden.h"
#include "tests/support/judged_scene.h"
#include "tests/support/rendered.h"
#include "tests/support/sample_profile.h"
#include "tests/support/scene_profile.h"

#include <catch2/catch.hpp>

#include <regex>

using namespace heapprof::cli;
using namespace heapprof::test;

namespace {

ReportView view_of(const std::string& file) {
  ReportView view;
  view.file = file;
  return view;
}

Profile read_golden(const std::string& name) {
  Result<Profile> profile = read_profile(heapprof::test::data_path("/golden/") + name);
  REQUIRE(profile.ok());
  return std::move(*profile);
}

}  // namespace

TEST_CASE("a report says which functions handed their rows to their callers") {
  const Profile profile = folded_scene();
  ReportView view = view_of("a.json");
  for (const int columns : {40, 60, 80, 200})
    check_golden("report/folded_" + std::to_string(columns) + ".txt",
                 render_report_text(profile, view, terminal(columns)));
  check_golden("report/folded.json", render_report_json(profile, view, terminal(80)));
  FoldRules undone;
  undone.all_frames = true;
  view = view_of("a.json");
  view.all_frames = true;
  view.top = 2;
  check_golden("report/folded_undone.txt", render_report_text(folded_scene(undone), view, terminal(80)));
}

TEST_CASE("the report of a run whose live blocks were judged") {
  const Profile profile = judged_scene();
  const ReportView view = view_of("a.json");
  for (const int columns : {40, 80, 200}) {
    check_golden("report/judged_" + std::to_string(columns) + ".txt",
                 render_report_text(profile, view, terminal(columns)));
  }
  check_golden("report/judged.csv", render_report_csv(profile, view, terminal(80)));
  check_golden("report/judged.json", render_report_json(profile, view, terminal(80)));
}

TEST_CASE("the report of a run") {
  const Profile profile = scene_profile();
  ReportView view = view_of("a.json");
  check_golden("report/scene_80.txt", render_report_text(profile, view, terminal(80)));
  for (const int columns : {40, 60, 120, 200}) {
    check_golden("report/scene_" + std::to_string(columns) + ".txt",
                 render_report_text(profile, view, terminal(columns)));
  }
  check_golden("report/scene.csv", render_report_csv(profile, view, terminal(80)));
  check_golden("report/scene.json", render_report_json(profile, view, terminal(80)));
  view.tree = true;
  check_golden("report/scene_tree.txt", render_report_text(profile, view, terminal(80)));
  view.all_frames = true;
  view.device = "host";
  check_golden("report/scene_tree_all.txt", render_report_text(profile, view, terminal(100)));
  view = view_of("a.json");
  view.sort = Metric::kTotal;
  view.top = 2;
  view.exact_bytes = true;
  view.device = "host";
  check_golden("report/scene_total.txt", render_report_text(profile, view, terminal(100)));
  view = view_of("a.json");
  view.sizes = true;
  view.device = "host";
  check_golden("report/scene_sizes.txt", render_report_text(profile, view, terminal(80)));
  for (const int columns : {40, 60, 200}) {
    check_golden("report/scene_sizes_" + std::to_string(columns) + ".txt",
                 render_report_text(profile, view, terminal(columns)));
  }
  Terminal ascii = terminal(80);
  ascii.utf8 = false;
  check_golden("report/scene_sizes_ascii.txt", render_report_text(profile, view, ascii));
}

TEST_CASE("the threads of a run") {
  Profile profile = scene_profile();
  ReportView view = view_of("a.json");
  view.threads = true;
  CHECK(render_report_text(profile, view, terminal(80)).find("does not say what threads allocated") !=
        std::string::npos);
  CHECK(render_report_json(profile, view, terminal(80)).find("\"threads\"") == std::string::npos);
  const uint64_t mib = 1 << 20;
  profile.run.threads = {{4711, "render", 1'204'118, 3000 * mib, 1'204'000},
                         {4712, "worker<0>", 4'000, 900 * mib, 4'010},
                         {4713, "w\x1b[31m", 66, 800 * mib, 66}};
  for (uint32_t i = 0; i < 12; ++i) profile.run.threads.push_back({4720 + i, "", 10'000, 480'000 - i, 0});
  profile.run.other_threads_count = 900;
  profile.run.other_threads = {0, "", 900, 43'200, 900};
  for (const int columns : {40, 60, 80, 200}) {
    const std::string text = render_report_text(profile, view, terminal(columns));
    check_golden("report/scene_threads_" + std::to_string(columns) + ".txt", text);
    check_lines(text, static_cast<size_t>(columns));
  }
  view.top = 1000;
  view.exact_bytes = true;
  const std::string all = render_report_text(profile, view, terminal(80));
  CHECK(all.find("900 more") != std::string::npos);
  CHECK(all.find("479,989 B") != std::string::npos);
  const std::string json = render_report_json(profile, view, terminal(80));
  CHECK(json.find("{\"id\":4712,\"name\":\"worker<0>\",\"allocations_count\":4000,\"total_bytes\":943718400,"
                  "\"frees_count\":4010}") != std::string::npos);
  CHECK(json.find("\"other_threads_count\":900,\"other_threads\":{\"allocations_count\":900,\"total_bytes\":43200,"
                  "\"frees_count\":900}") != std::string::npos);
}

TEST_CASE("of what sizes blocks were fits one screen, unless more places are asked for") {
  for (const Profile& profile : {scene_profile(), assembled(small_sample()), assembled(hostile_sample()),
                                 assembled(random_sample({9, 400, 40, 60}))}) {
    for (const int columns : {40, 60, 80, 200}) {
      for (const bool exact : {false, true}) {
        ReportView view = view_of("a.json");
        view.sizes = true;
        view.exact_bytes = exact;
        view.device = "host";
        const std::string text = render_report_text(profile, view, terminal(columns));
        check_lines(text, static_cast<size_t>(columns));
        INFO(text);
        if (columns >= 80) CHECK(std::count(text.begin(), text.end(), '\n') <= 24);
        view.top = 3;
        check_lines(render_report_text(profile, view, terminal(columns)), static_cast<size_t>(columns));
      }
    }
  }
}

TEST_CASE("the findings of a run") {
  const Profile profile = scene_profile();
  ReportView view = view_of("a.json");
  view.findings = true;
  check_golden("report/scene_findings.txt", render_findings_text(profile, view, terminal(80)));
  for (const int columns : {40, 60, 200}) {
    check_golden("report/scene_findings_" + std::to_string(columns) + ".txt",
                 render_findings_text(profile, view, terminal(columns)));
  }
  check_golden("report/scene_findings.json", render_findings_json(profile, view, terminal(80)));
  for (const Profile& any : {scene_profile(), assembled(small_sample()), assembled(hostile_sample())}) {
    for (const int columns : {40, 80, 132})
      check_lines(render_findings_text(any, view, terminal(columns)), static_cast<size_t>(columns));
  }
}

TEST_CASE("the report of the program that was started names the others' profiles") {
  Profile profile = scene_profile();
  const ReportView none = view_of("out/r.json");
  CHECK(larger_process_line(profile, none, 80).empty());
  CHECK(processes_text(profile, none, 80).empty());
  const uint64_t mib = 1 << 20;
  profile.run.processes = {{4712,
                            31337,
                            0,
                            {"sort", "--parallel=4", "/home/user/data/big table.txt"},
                            "r.4712.json",
                            4000 * mib,
                            4100 * mib},
                           {4713, 31337, 0, {"uniq", "-c"}, "", 2 * mib, 0},
                           {4714, 4712, 1, {"cat"}, "r.4714.exec1.json", 70'000, 3 * mib}};
  profile.run.other_processes_count = 5;
  ReportView view = none;
  view.others = {"out/r.4712.json", "", ""};
  for (const int columns : {40, 60, 80, 200}) {
    const auto width = static_cast<size_t>(columns);
    const std::string text = larger_process_line(profile, view, width) + "\n" + processes_text(profile, view, width);
    check_golden("report/others_" + std::to_string(columns) + ".txt", text);
    check_lines(text, width);
  }
  const std::string whole = render_report_text(profile, view, terminal(80));
  CHECK(whole.find("\nlarger: 4712, peak 3.91 GiB  ") != std::string::npos);
  CHECK(whole.find("\nOTHER PROCESSES of the run") != std::string::npos);
  const std::string json = render_report_json(profile, view, terminal(80));
  CHECK(json.find("\"file\":\"r.4712.json\"") != std::string::npos);
  CHECK(json.find("\"other_processes_count\":5") != std::string::npos);
  profile.run.processes.erase(profile.run.processes.begin());
  CHECK(larger_process_line(profile, view, 80).empty());
}

TEST_CASE("reports of other tools' files show what they have") {
  for (const std::string name : {"valgrind_heap", "dhat_rs"}) {
    const Profile profile = read_golden("foreign/" + name + ".json");
    const ReportView view = view_of(name + ".json");
    const std::string text = render_report_text(profile, view, terminal(80));
    check_golden("report/" + name + ".txt", text);
    check_golden("report/" + name + ".csv", render_report_csv(profile, view, terminal(80)));
    check_golden("report/" + name + "_view.json", render_report_json(profile, view, terminal(80)));
    CHECK(text.find("TEMPORARY") == std::string::npos);
    CHECK(text.find("lost") == std::string::npos);
    CHECK(text.find("exit") == std::string::npos);
    CHECK_FALSE(has_metric(profile, Metric::kTemporary));
  }
}

TEST_CASE("the report keeps to its width in every view") {
  for (const Profile& profile : {scene_profile(), assembled(small_sample()), assembled(hostile_sample())}) {
    for (const int columns : {40, 60, 80, 100, 132, 200}) {
      for (const bool tree : {false, true}) {
        for (const bool all_frames : {false, true}) {
          ReportView view = view_of("a.json");
          view.tree = tree;
          view.all_frames = all_frames;
          check_lines(render_report_text(profile, view, terminal(columns)), static_cast<size_t>(columns));
        }
      }
    }
  }
}

TEST_CASE("totals agree in every view") {
  for (const Profile& profile : {scene_profile(), assembled(small_sample()), assembled(random_sample({}))}) {
    const ReportView view = view_of("a.json");
    const std::vector<std::string> rows = split(render_report_csv(profile, view, terminal(80)), '\n');
    for (const Device& device : profile.devices) {
      uint64_t total = 0, blocks = 0, peak = 0, leaked = 0, temporary = 0;
      for (const std::string& row : rows) {
        if (row.compare(0, device.name.size() + 1, device.name + ",") != 0) continue;
        static const std::regex numbers("(\\d+),(\\d+),(\\d+),\\d+,(\\d+),\\d+,(\\d+),0,0,\\d*,\\d*$");
        std::smatch match;
        REQUIRE(std::regex_search(row, match, numbers));
        total += std::stoull(match[1]);
        blocks += std::stoull(match[2]);
        peak += std::stoull(match[3]);
        leaked += std::stoull(match[4]);
        temporary += std::stoull(match[5]);
      }
      CHECK(total == device.totals.total_bytes);
      CHECK(blocks == device.totals.total_blocks);
      CHECK(peak == device.totals.peak_bytes);
      CHECK(leaked == device.totals.leaked_bytes);
      CHECK(temporary == device.totals.temporary_blocks);
      // The roots of the tree are the peak again.
      ReportView tree = view;
      tree.tree = true;
      tree.device = device.name;
      tree.exact_bytes = true;
      uint64_t roots = 0;
      for (const std::string& line : split(render_report_text(profile, tree, terminal(100)), '\n')) {
        static const std::regex root("^ *([0-9,]+) B +[<>]?[0-9.]+ %  ([^ ├└│»].*)$");
        std::smatch match;
        if (!std::regex_search(line, match, root)) continue;
        std::string digits = match[1];
        digits.erase(std::remove(digits.begin(), digits.end(), ','), digits.end());
        roots += std::stoull(digits);
      }
      CHECK(roots == device.totals.peak_bytes);
    }
  }
}

TEST_CASE("direct recursion is one line of the tree, a deep tree is cut") {
  Profile profile = scene_profile();
  profile.devices.resize(1);
  profile.devices[0].sites.clear();
  profile.frames.resize(2);
  profile.nodes.resize(1);
  for (uint32_t depth = 0; depth < 20'000; ++depth) profile.nodes.push_back({depth, 0});
  Site site;
  site.node = 20'000;
  site.numbers.peak_bytes = site.numbers.total_bytes = profile.devices[0].totals.peak_bytes;
  site.numbers.peak_blocks = site.numbers.total_blocks = 1;
  profile.devices[0].sites.push_back(site);
  profile.frames[0] = {0x10, "descend", "/src/a.cc", 1, 0, false};
  profile.frames[1] = {0x20, "return_to", "/src/a.cc", 2, 0, false};
  ReportView view = view_of("a.json");
  view.tree = true;
  std::string text = render_report_text(profile, view, terminal(80));
  CHECK(text.find("descend") == text.rfind("descend"));
  for (uint32_t node = 1; node < profile.nodes.size(); ++node) profile.nodes[node].frame = node % 2;
  text = render_report_text(profile, view, terminal(80));
  CHECK(text.find("cut after 2,000 lines") != std::string::npos);
  check_lines(text, 80);
}

TEST_CASE("rows of many small sites are called by a name without a location") {
  Profile profile = scene_profile();
  Device& host = profile.devices[0];
  const uint32_t small_sites = static_cast<uint32_t>(profile.frames.size());
  profile.frames.push_back({0, "[small sites]", "", 0, kNoModule, false});
  profile.nodes.push_back({0, small_sites});
  profile.nodes.push_back({static_cast<uint32_t>(profile.nodes.size() - 1), profile.nodes[host.sites[0].node].frame});
  const auto user = std::find_if(profile.frames.begin(), profile.frames.end(),
                                 [](const Frame& frame) { return frame.function.starts_with("build_index"); });
  profile.nodes.back().frame = static_cast<uint32_t>(user - profile.frames.begin());
  Site site = host.sites[0];
  site.node = static_cast<uint32_t>(profile.nodes.size() - 1);
  site.grouped_stacks = 12;
  host.sites = {site};
  for (const bool all_frames : {false, true}) {
    ReportView view = view_of("a.json");
    view.device = "host";
    view.all_frames = all_frames;
    const std::string text = render_report_text(profile, view, terminal(80));
    CHECK(text.find("[small sites]") != std::string::npos);
    CHECK(text.find("()") == std::string::npos);
    check_lines(text, 80);
  }
}

TEST_CASE("a deep tree goes one column in a level, and says where it begins again") {
  Profile profile = assembled(small_sample());
  profile.devices.resize(1);
  profile.devices[0].sites.clear();
  profile.frames.clear();
  profile.nodes.resize(1);
  constexpr uint32_t kDepth = 60;
  for (uint32_t depth = 0; depth < kDepth; ++depth) {
    profile.frames.push_back({0x10 + depth, "f" + std::to_string(depth), "/src/a.cc", 1, 0, false});
    profile.nodes.push_back({depth, depth});
  }
  profile.frames.push_back({0x1000, "aside", "/src/a.cc", 2, 0, false});
  profile.nodes.push_back({30, kDepth});  // beside f30, which is further down than one indentation
  for (const uint32_t node : {kDepth, kDepth + 1}) {
    Site site;
    site.node = node;
    site.numbers.peak_bytes = site.numbers.total_bytes = 1000;
    site.numbers.peak_blocks = site.numbers.total_blocks = 1;
    profile.devices[0].sites.push_back(site);
  }
  profile.devices[0].totals.peak_bytes = 2000;
  ReportView view = view_of("a.json");
  view.tree = true;
  const std::string text = render_report_text(profile, view, terminal(80));
  check_golden("report/deep_tree_80.txt", text);
  // Of every function the callers can be counted: the depth where the indentation began, and the columns since.
  size_t found = 0;
  for (const std::string& line : split(text)) {
    const size_t at = line.find(" f");
    if (line.find(" %  ") == std::string::npos || at == std::string::npos) continue;
    const std::string tree_part = line.substr(line.find(" %  ") + 4);
    const size_t name = tree_part.find('f');
    std::string before = tree_part.substr(0, name);
    uint64_t depth = 0;
    if (before.starts_with("»")) {
      depth = std::stoull(before.substr(std::string("»").size()));
      before.erase(0, before.find(' ') + 1);
      --depth;  // the first line after it has a branch, too
    }
    if (!before.empty()) depth += display_width(before) - 1;
    CHECK(tree_part.substr(name, tree_part.find(' ', name) - name) == "f" + std::to_string(depth));
    ++found;
  }
  CHECK(found == kDepth);
  for (const int columns : {40, 60, 200})
    check_lines(render_report_text(profile, view, terminal(columns)), static_cast<size_t>(columns));
}

TEST_CASE("spreadsheets and commas in names") {
  Profile profile = scene_profile();
  profile.frames[0].function = "=cmd()";
  for (Frame& frame : profile.frames) {
    if (frame.function == "leak_cache") frame.function = "leak<int, \"x\">";
  }
  const std::string text = render_report_csv(profile, view_of("a.json"), terminal(80));
  CHECK(text.find("\"leak<int, \"\"x\"\">\"") != std::string::npos);
  CHECK(text.find(",=cmd") == std::string::npos);
}
