// tests/unit/top/top_screen_test.cc: the screen fits whatever terminal there is, and only what changed is sent.
#include "cli/top/top_screen.h"

#include "cli/base/text.h"
#include "cli/top/paint_lines.h"
#include "cli/top/top_json.h"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

using namespace heapprof::cli;

namespace {

constexpr uint64_t kSecond = 1'000'000'000;

TopBoard busy_board() {
  TopBoard board;
  TopSample sample;
  sample.is_whole = true;
  sample.age_ns = 18 * kSecond;
  sample.scope_count = 5;
  sample.lost_count = 3;
  sample.devices = {{0, "host", 3'000'000, 30, 4'000'000, 0, 0, 0},
                    {16, "cuda:0", 6'000'000'000, 3, 7'000'000'000, 0, 6'100'000'000, 2},
                    {17, "cuda:1", 1, 1, 1, 0, 0, 0}};
  TopNames names;
  names.place_of_site.push_back(0);
  for (uint32_t i = 1; i <= 40; ++i) {
    sample.sites.push_back({0, i, i * 1000, i, i * 2000, i * 20, 0});
    names.places.push_back({"std::vector<a::very::long::name<int>>::function_" + std::to_string(i),
                            "src/some/long/folder/ü/file.cc:" + std::to_string(i)});
    names.place_of_site.push_back(i);
  }
  for (uint32_t i = 1; i <= 5; ++i) sample.scopes.push_back({i, "load > parse\x1b[31m", 10, 1, 5, 6, 7, 8});
  board.take(sample, kSecond);
  for (TopSite& site : sample.sites) site.total_blocks += 1000;
  sample.sites[4].live_bytes += 70'000;
  board.take(sample, 2 * kSecond);
  board.take_names(names);
  return board;
}

TopView a_view() {
  TopView view;
  view.pid = 31337;
  view.command = "./render 'a file with a long name' --and --many --flags '' '' '…' scene.usd";
  view.interval_ns = kSecond;
  return view;
}

Terminal a_terminal(bool utf8) {
  Terminal terminal;
  terminal.utf8 = utf8;
  return terminal;
}

}  // namespace

TEST_CASE("the screen has as many lines as the terminal, none wider, whatever its size") {
  const TopBoard board = busy_board();
  for (int columns : {1, 2, 7, 12, 40, 44, 56, 57, 80, 132, 300}) {
    for (int lines : {1, 2, 3, 4, 5, 6, 8, 10, 16, 18, 24, 50}) {
      for (const bool utf8 : {false, true}) {
        for (size_t device : {0, 2, 9}) {
          TopView view = a_view();
          view.device = device;
          view.scroll = 1000;
          view.shows_help = device == 2;
          const std::vector<std::string> drawn = draw_top(board, &view, {columns, lines}, a_terminal(utf8));
          CAPTURE(columns, lines);
          REQUIRE(drawn.size() == static_cast<size_t>(lines));
          for (const std::string& line : drawn) {
            CAPTURE(line);
            CHECK(display_width(line) <= static_cast<size_t>(columns));
            CHECK(line.find('\x1b') == std::string::npos);
          }
        }
      }
    }
  }
}

TEST_CASE("a screen of 80 columns") {
  const TopBoard board = busy_board();
  TopView view = a_view();
  const std::vector<std::string> drawn = draw_top(board, &view, {80, 24}, a_terminal(true));
  CHECK(drawn[0] == "heapprof top 31337  ./render 'a fi… '…' scene.usd  running 18.0 s   every 1.00 s");
  CHECK(drawn[1].starts_with("> host    2.86 MiB  peak 3.81 MiB  +68.4 KiB/s  40,000 allocs/s"));
  CHECK(drawn[4] == "      live       %       +1 s   allocs/s  place  1-11 of 40");
  CHECK(drawn[5].substr(0, 44) == "  73.2 KiB   8.4 %  +68.4 KiB      1,000  st");
  CHECK(drawn.back() == "q quit  d device  s sort: live  f filter  space freeze  w snapshot  ? help");
}

TEST_CASE("without samples there is a screen, too") {
  TopView view = a_view();
  CHECK(draw_top(TopBoard(), &view, {80, 24}, a_terminal(true)).size() == 24);
}

TEST_CASE("only lines that changed are sent, and what is too long for them is cleared") {
  CHECK(paint_lines({"a", "b"}, {"a", "b"}).empty());
  CHECK(paint_lines({"a", "b"}, {"a", "c"}) == "\x1b[2;1H\x1b[Kc");
  CHECK(paint_lines({"a", "b"}, {"a"}) == "\x1b[2;1H\x1b[K");
  CHECK(paint_lines({}, {"a", "", "c"}) == "\x1b[H\x1b[2J\x1b[1;1H\x1b[Ka\x1b[3;1H\x1b[Kc");
}

TEST_CASE("growth has a colour and a sign, nothing else has") {
  const std::vector<LinePiece> pieces = {
      {"live "}, {"+5 B", LinePiece::Sign::kGrowth}, {" −1 B", LinePiece::Sign::kShrink}};
  CHECK(line_of_pieces(pieces, 80, true, true) == "live \x1b[31m+5 B\x1b[0m\x1b[32m −1 B\x1b[0m");
  CHECK(line_of_pieces(pieces, 80, false, false) == "live +5 B -1 B");
  CHECK(line_of_pieces(pieces, 7, true, false) == "live +5");
}

TEST_CASE("JSON holds all places, and integers") {
  const std::string json = top_json(busy_board(), 31337, "./render", TopSort::kLive);
  CHECK(json.starts_with("{\"version\":1,\"pid\":31337,\"command\":\"./render\",\"running_ns\":18000000000,"));
  CHECK(json.find("\"growth_bytes\":70000") != std::string::npos);
  CHECK(json.find("\"limit_bytes\":6100000000") != std::string::npos);
  CHECK(json.find("\\\\x1b[31m") != std::string::npos);
  CHECK(json.ends_with("}\n"));
}

TEST_CASE("a report and a line say the same without a terminal") {
  const TopBoard board = busy_board();
  Terminal terminal = a_terminal(false);
  terminal.columns = 100;
  const std::vector<std::string> lines = top_report(board, a_view(), terminal);
  REQUIRE(lines.size() > 25);
  for (const std::string& line : lines) CHECK(is_printable_ascii(line));
  CHECK(top_line(board, terminal).starts_with("18.0 s  host 2.86 MiB +68.4 KiB/s 40,000 allocs/s  cuda:0 5.59 GiB"));
}
