// tests/unit/commands/options_test.cc: what is a flag, what is a value, and where the program begins.
#include "cli/flags/options.h"

#include "cli/base/text.h"
#include "cli/command_list.h"
#include "cli/commands/report.h"
#include "cli/commands/run.h"

#include <catch2/catch.hpp>

using namespace heapprof::cli;

namespace {

struct Parsed {
  RunOptions options;
  Result<Done> result = Done{};
  std::string id() const { return result ? "" : result.problem().id; }
};

Parsed parse_run(const std::vector<std::string>& arguments) {
  Parsed parsed;
  Options options(run_text());
  declare_run_options(&options, &parsed.options);
  parsed.result = options.parse_prefix(arguments, &parsed.options.program);
  return parsed;
}

using Words = std::vector<std::string>;

}  // namespace

TEST_CASE("run's flags end at the program") {
  CHECK(parse_run({"./prog", "-x", "--quiet"}).options.program == Words{"./prog", "-x", "--quiet"});
  CHECK_FALSE(parse_run({"./prog", "--quiet"}).options.quiet);
  CHECK(parse_run({"-q", "./prog"}).options.quiet);
  CHECK(parse_run({"--", "-prog", "--"}).options.program == Words{"-prog", "--"});
  CHECK(parse_run({"-q", "--", "./prog", "--", "-o"}).options.program == Words{"./prog", "--", "-o"});
  CHECK(parse_run({}).options.program.empty());
  CHECK(parse_run({"-q", "--"}).options.program.empty());
}

TEST_CASE("a word in brackets is one word, whatever is in it") {
  std::string output;
  std::vector<std::string> files;
  std::vector<std::string> suppressions;
  Options options({"x", "", "", {}, {}});
  options.add_text({"-o,--output", "FILE", "output", ""}, &output);
  options.add_texts({"--suppressions", "FILE", "output", ""}, &suppressions);
  options.add_positionals(&files);
  const Words words = {"-o", "[a,b]", "--suppressions=[c, d]", "--suppressions", "[]", "[e,f]", "[]", "[g", "h]", "i"};
  REQUIRE(options.parse(words).ok());
  CHECK(output == "[a,b]");
  CHECK(suppressions == Words{"[c, d]", "[]"});
  CHECK(files == Words{"[e,f]", "[]", "[g", "h]", "i"});
  std::string file;
  Options one({"x", "", "", {}, {}});
  one.add_positional(&file);
  REQUIRE(one.parse({"[a,b]"}).ok());
  CHECK(file == "[a,b]");
}

TEST_CASE("values stand behind the flag, after '=' or glued to a letter") {
  for (const Words& words :
       {Words{"-o", "f", "p"}, Words{"-of", "p"}, Words{"--output", "f", "p"}, Words{"--output=f", "p"},
        Words{"-qo", "f", "p"}, Words{"-qof", "p"}, Words{"-o", "x", "-o", "f", "p"}}) {
    const Parsed parsed = parse_run(words);
    CAPTURE(words);
    CHECK(parsed.result.ok());
    CHECK(parsed.options.output == "f");
    CHECK(parsed.options.program == Words{"p"});
  }
  CHECK(parse_run({"--output=a=b", "p"}).options.output == "a=b");
  CHECK(parse_run({"-o", "-", "p"}).options.output == "-");
}

TEST_CASE("every flag of run is parsed into its field") {
  const RunOptions options =
      parse_run({"--no-summary", "--all-sites", "--no-follow", "--verify-stacks", "--unwinder=libunwind", "--on-full",
                 "drop", "--stall-timeout=60", "--clock=sequence", "--fence=producer", "--color=never", "p"})
          .options;
  CHECK(options.no_summary);
  CHECK(options.all_sites);
  CHECK(options.no_follow);
  CHECK(options.verify_stacks);
  CHECK(options.unwinder == UnwinderChoice::kLibunwind);
  CHECK(options.on_full == OnFull::kDrop);
  CHECK(options.stall_timeout_s == 60);
  CHECK(options.clock == ClockChoice::kSequence);
  CHECK(options.fence == FenceChoice::kProducer);
  CHECK(options.color == ColorMode::kNever);
}

TEST_CASE("mistakes are named") {
  CHECK(parse_run({"--bogus", "p"}).id() == "HP050");
  CHECK(parse_run({"-x", "p"}).id() == "HP050");
  CHECK(parse_run({"-qx", "p"}).id() == "HP050");
  CHECK(parse_run({"--quiet=yes", "p"}).id() == "HP052");
  CHECK(parse_run({"-o"}).id() == "HP059");
  CHECK(parse_run({"-o", "--", "p"}).id() == "HP059");
  CHECK(parse_run({"--output=", "p"}).id() == "HP059");
  CHECK(parse_run({"--on-full", "maybe", "p"}).id() == "HP052");
  for (const char* number : {"0", "-1", "ten", "1.5", "86401", "99999999999999999999", ""}) {
    CAPTURE(number);
    CHECK_FALSE(parse_run({"--stall-timeout=" + std::string(number), "p"}).result.ok());
  }
  CHECK(parse_run({"--outptu", "f", "p"}).result.problem().what == "unknown flag: --outptu; did you mean --output?");
  CHECK(parse_run({"--out", "f", "p"}).result.problem().what == "unknown flag: --out; did you mean --output?");
  CHECK(parse_run({"--zzz", "p"}).result.problem().what == "unknown flag: --zzz");
}

TEST_CASE("report takes one file, and flags on both sides of it") {
  ReportOptions target;
  Options options(report_text());
  declare_report_options(&options, &target);
  REQUIRE(options.parse({"--top", "5", "a.json", "--tree", "--sort=leaked"}).ok());
  CHECK(target.files == std::vector<std::string>{"a.json"});
  CHECK(target.view.tree);
  CHECK(target.view.sort == Metric::kLeaked);
  CHECK(target.top == 5);
  ReportOptions second;
  Options again(report_text());
  declare_report_options(&again, &second);
  REQUIRE(again.parse({"--", "--odd-name.json"}).ok());
  CHECK(second.files == std::vector<std::string>{"--odd-name.json"});
}

TEST_CASE("nearest words") {
  CHECK(nearest_word("reprot", {"run", "report"}) == "report");
  CHECK(nearest_word("rep", {"run", "report"}) == "report");
  CHECK(nearest_word("xyzzy", {"run", "report"}).empty());
  CHECK(nearest_word("", {"run"}).empty());
  CHECK(nearest_word(std::string(100000, 'x'), {"run"}).empty());
}

TEST_CASE("every help fits 80 columns and a screen") {
  std::vector<std::string> texts = {overview()};
  CHECK(std::count(texts[0].begin(), texts[0].end(), '\n') <= 12);
  texts.push_back(long_overview());
  for (const Command& command : commands()) {
    Options options(command.text());
    RunOptions run;
    ReportOptions report;
    if (std::string(command.name) == "run") declare_run_options(&options, &run);
    if (std::string(command.name) == "report") declare_report_options(&options, &report);
    const std::string screen = options.short_help();
    CHECK(std::count(screen.begin(), screen.end(), '\n') <= 24);
    texts.push_back(screen);
    texts.push_back(options.long_help());
    CHECK(options.long_help().find("examples\n") != std::string::npos);
  }
  for (const std::string& text : texts) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      CAPTURE(line);
      CHECK(display_width(line) <= 80);
    }
  }
}
