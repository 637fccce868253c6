// tests/unit/commands/scopes_diff_test.cc: scopes in the formats of a diff: golden texts, what is left out, and that
// every format has the same changes.
#include "cli/base/text.h"
#include "cli/write/diff/formats.h"
#include "cli/write/diff/scopes_section.h"
#include "tests/support/golden.h"
#include "tests/support/rendered.h"
#include "tests/support/scene_profile.h"

#include <catch2/catch.hpp>

using namespace heapprof::cli;
using namespace heapprof::test;

namespace {

Scope scope(uint32_t parent, const std::string& category, const std::string& name, uint64_t runs, uint64_t time_ns) {
  Scope made;
  made.parent = parent;
  made.category = category;
  made.name = name;
  made.begun = made.ended = runs;
  made.time_ns = made.own_time_ns = time_ns;
  return made;
}

// frame > [attention: qkv, decode], load > parse.
Scopes scene_scopes() {
  Scopes scopes;
  scopes.scopes = {scope(0, "", "frame", 100, 9 * kSecondNs), scope(1, "", "decode", 100, 4 * kSecondNs),
                   scope(1, "attention", "qkv", 300, 2 * kSecondNs), scope(0, "", "load", 1, kSecondNs),
                   scope(4, "", "parse", 12, kSecondNs / 2)};
  scopes.scopes[1].memory = {{"host", 40 * kMiB, 400, 40 * kMiB, 400, 8 * kMiB}, {"cuda:0", kMiB, 1, 0, 0, kMiB}};
  scopes.scopes[1].calls = {{"copy", 7, 0, 0}, {"synchronize stream", 100, 0, 0}};
  scopes.scopes[1].kernel_launches = 2'400;
  scopes.scopes[2].kernel_launches = 900;
  scopes.scopes[4].memory = {{"host", 600 * kMiB, 12'000, 590 * kMiB, 11'000, 200 * kMiB}};
  return scopes;
}

// Seventeen synchronizations in each decode, a parse that keeps more, one scope that is gone and one that is new.
Scopes scopes_after() {
  Scopes scopes = scene_scopes();
  scopes.scopes[1].calls = {{"copy", 8, 0, 0}, {"synchronize stream", 1'700, 0, 0}};
  scopes.scopes[1].memory[1] = {"cuda:0", 3 * kMiB, 3, 0, 0, 3 * kMiB};
  scopes.scopes[1].time_ns *= 2;
  scopes.scopes[2].name = "softmax";
  scopes.scopes[4].begun = scopes.scopes[4].ended = 13;
  scopes.scopes[4].items = 5'000'000;
  scopes.scopes[4].memory = {{"host", 660 * kMiB, 13'000, 640 * kMiB, 11'500, 210 * kMiB}};
  return scopes;
}

struct Pair {
  Profile base = scene_profile();
  Profile current = scene_profile();
  TwoProfiles two;

  Pair(Scopes before, Scopes after) {
    base.scopes = std::move(before);
    current.scopes = std::move(after);
    two.runs[kBase] = {sum_run(base, "base.json")};
    two.runs[kCurrent] = {sum_run(current, "heapprof.31337.json")};
    two.profiles = {&base, &current};
    two.diff = diff_profiles(base, current);
  }
};

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("the diff of scopes") {
  const Pair pair(scene_scopes(), scopes_after());
  for (const int columns : {40, 80})
    check_golden("diff/scopes_" + std::to_string(columns) + ".txt", render_diff_text(pair.two, {}, terminal(columns)));
  check_golden("diff/scopes.md", render_diff_markdown(pair.two, {}, terminal(80)));
  check_golden("diff/scopes.json", render_diff_json(pair.two, {}, terminal(80)));
  check_golden("diff/scopes.csv", render_diff_csv(pair.two, {}, terminal(80)));
}

TEST_CASE("where no scope changed, none is shown") {
  for (const Scopes& scopes : {scene_scopes(), Scopes()}) {
    const Pair pair(scopes, scopes);
    CHECK_FALSE(contains(render_diff_text(pair.two, {}, terminal(80)), "SCOPES"));
    CHECK_FALSE(contains(render_diff_markdown(pair.two, {}, terminal(80)), "scopes"));
    CHECK(contains(render_diff_text(pair.two, {}, terminal(80)), "\nno change: nothing differs by more than"));
    CHECK_FALSE(contains(render_diff_csv(pair.two, {}, terminal(80)), "frame"));
    CHECK(contains(render_diff_json(pair.two, {}, terminal(80)), "\"changed_count\":0") == !scopes.scopes.empty());
  }
}

TEST_CASE("a change of scopes alone is not called none") {
  const Pair pair(scene_scopes(), scopes_after());
  CHECK(contains(render_diff_text(pair.two, {}, terminal(80)),
                 "\nno change beside scopes: nothing else differs by more than 1 % or 4.00 KiB.\n"));
  CHECK_FALSE(grew(pair.two, {}));
}

TEST_CASE("scopes that one profile has any of are counted, and compared in JSON and CSV alone") {
  const Pair pair({}, scene_scopes());
  const std::string text = render_diff_text(pair.two, {}, terminal(80));
  CHECK(contains(text, "\nSCOPES  none in base, 5 in current\nNothing to compare them with: "));
  CHECK_FALSE(contains(text, "qkv"));
  CHECK_FALSE(contains(render_diff_markdown(pair.two, {}, terminal(80)), "qkv"));
  CHECK(contains(render_diff_json(pair.two, {}, terminal(80)), "\"base_count\":0,\"current_count\":5,"));
  CHECK(contains(render_diff_json(pair.two, {}, terminal(80)), "qkv"));
  CHECK(contains(render_diff_csv(pair.two, {}, terminal(80)), "qkv"));
}

TEST_CASE("ten scopes are shown, or as many as --top says; --all shows what differs at all") {
  Scopes before;
  Scopes after;
  for (uint64_t i = 0; i < 30; ++i) {
    before.scopes.push_back(scope(0, "", "step " + std::to_string(i), 1 + i, 1000));
    after.scopes.push_back(scope(0, "", "step " + std::to_string(i), 40 + 2 * i, i < 25 ? 1000 : 1001));
    if (i >= 25) after.scopes.back().begun = before.scopes.back().begun;
  }
  before.lost = 3;
  const Pair pair(before, after);
  const auto shown = [&](const DiffView& view) {
    size_t count = 0;
    for (const std::string& line : split(render_diff_text(pair.two, view, terminal(80))))
      count += line.starts_with("step ") ? 1 : 0;
    return count;
  };
  DiffView view;
  CHECK(shown(view) == 10);
  const std::string text = render_diff_text(pair.two, view, terminal(80));
  CHECK(contains(text, "\nSCOPES  25 of 30 changed\n"));
  CHECK(contains(text, "\n15 further scopes changed (--top).\n3 begins of base not counted for lack of room.\n"));
  CHECK(contains(render_diff_markdown(pair.two, view, terminal(80)), "\n15 further scopes changed (--top).\n"));
  CHECK(contains(render_diff_json(pair.two, view, terminal(80)), "\"base_lost_count\":3,\"changed_count\":25,"));
  view.top = 12;
  CHECK(shown(view) == 12);
  view = {};
  view.all = true;
  CHECK(shown(view) == 30);
}

TEST_CASE("--device leaves the memory of that device") {
  const Pair pair(scene_scopes(), scopes_after());
  DiffView view;
  view.device = "cuda:0";
  const std::string text = render_diff_text(pair.two, view, terminal(80));
  CHECK(contains(text, "  allocated on cuda:0 "));
  CHECK(contains(text, "  synchronize stream per run "));
  CHECK_FALSE(contains(text, "  allocated  "));
}

TEST_CASE("names of scopes cannot harm a terminal or a table, and no line of scopes is too wide") {
  Scopes before = scene_scopes();
  Scopes after = scopes_after();
  for (Scopes* scopes : {&before, &after}) {
    for (Scope& scope : scopes->scopes) {
      scope.name += "\x1b[31m|`<b>" + std::string(200, 'x');
      for (ScopeCall& call : scope.calls) call.call += "\x1b]0;`|";
      for (ScopeMemory& memory : scope.memory) memory.device += "\n|";
    }
  }
  const Pair pair(before, after);
  for (const int columns : {80, 100, 200}) {
    for (const std::string& line : split(render_diff_text(pair.two, {}, terminal(columns)))) {
      CAPTURE(line);
      CHECK((line.ends_with(".") || display_width(line) <= static_cast<size_t>(columns)));
      CHECK(escape_controls(line) == line);
    }
  }
  size_t rows = 0;
  for (const std::string& line : split(render_diff_markdown(pair.two, {}, terminal(80)))) {
    CAPTURE(line);
    CHECK(escape_controls(line) == line);
    if (!contains(line, "per run")) continue;
    ++rows;
    size_t bars = 0;
    for (size_t i = 0; i < line.size(); ++i) bars += line[i] == '|' && (i == 0 || line[i - 1] != '\\') ? 1 : 0;
    CHECK(bars == 7);
  }
  CHECK(rows >= 3);
}
