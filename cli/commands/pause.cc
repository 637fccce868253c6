// cli/commands/pause.cc: `pause`, `resume` and `mark`: parses the pid, sends the order to the collector, prints the
// effect.
#include "cli/base/output.h"
#include "cli/base/problems.h"
#include "cli/base/text.h"
#include "cli/base/units.h"
#include "cli/commands/commands.h"
#include "cli/flags/sample_option.h"
#include "cli/target/order_client.h"

#include <fmt/format.h>

#include <charconv>
#include <string_view>

namespace heapprof::cli {
namespace {

struct OrderOptions {
  std::vector<std::string> words;  // PID, and a mark's name
  uint64_t interval_bytes = 0;
  bool records_all = false;
  bool quiet = false;
  ColorMode color = ColorMode::kAuto;
};

Result<int> give(const OrderOptions& options, OrderKind kind, const char* command) {
  if (options.words.empty()) return missing_pid(command);
  const std::string& word = options.words[0];
  Order order;
  order.kind = kind;
  const auto [rest, error] = std::from_chars(word.data(), word.data() + word.size(), order.pid);
  if (error != std::errc{} || rest != word.data() + word.size() || order.pid <= 0)
    return bad_value("PID", word, "the number of a process");
  if (options.interval_bytes != 0 && options.records_all) return flags_exclude_each_other("--sample", "--exact");
  if (options.interval_bytes != 0 || options.records_all) {
    order.kind = OrderKind::kSample;
    order.interval_bytes = options.interval_bytes;
  }
  if (kind == OrderKind::kMark) {
    if (options.words.size() < 2 || options.words[1].empty() || options.words[1].size() >= sizeof order.name)
      return bad_mark_name(options.words.size() < 2 ? "" : options.words[1], sizeof order.name - 1);
    options.words[1].copy(order.name, sizeof order.name - 1);
  }
  const size_t most_words = kind == OrderKind::kMark ? 2 : 1;
  if (options.words.size() > most_words) return unexpected_argument(options.words[most_words], command);
  const Result<Followers> followers = give_order(order, command);
  if (!followers) return followers.problem();
  if (options.quiet) return 0;
  const std::string_view done = kind == OrderKind::kPause     ? "paused"
                                : kind == OrderKind::kMark    ? "marked"
                                : options.interval_bytes != 0 ? "sampled from now on"
                                : options.records_all         ? "every block is recorded from now on"
                                                              : "recorded as before the pause";
  if (followers->are_whole_run) {
    fmt::print(stderr, "run {}, {} and those to come: {}\n", word,
               followers->processes == 1 ? "1 process" : fmt::format("{} processes", followers->processes), done);
  } else {
    fmt::print(stderr, "process {}: {}\n", word, done);
  }
  return 0;
}

int order_main(const std::vector<std::string>& arguments, OrderKind kind, const CommandText& text) {
  OrderOptions target;
  Options options(text);
  if (kind == OrderKind::kResume) {
    declare_sample_option(&options, "recording", &target.interval_bytes);
    options.add_flag({"--exact", "", "recording", "record every block from now on"}, &target.records_all);
  }
  options.add_flag({"-q,--quiet", "", "output", "say nothing but errors"}, &target.quiet);
  options.add_color(&target.color);
  options.add_positionals(&target.words);
  const Result<Done> parsed = options.parse(arguments);
  if (parsed && options.help()) return print_output(*options.help());
  const Result<int> code = parsed ? give(target, kind, text.name.c_str()) : Result<int>(parsed.problem());
  if (code) return *code;
  print_problem(code.problem(), target.color);
  return code.problem().exit_code;
}

}  // namespace

CommandText pause_text() {
  return {"pause",
          "heapprof pause [OPTIONS] PID",
          "Record no blocks of a profiled program for a while.",
          {"heapprof pause 4711      of this process",
           "heapprof pause 4700      of the whole run, if 4700 is its heapprof"},
          {"exit status: 0, 1 if no process follows, 2 for wrong usage", "manual: man heapprof-pause"}};
}

CommandText resume_text() {
  return {"resume",
          "heapprof resume [OPTIONS] PID",
          "Record blocks again, as before a pause or otherwise.",
          {"heapprof resume 4711                    as before the pause",
           "heapprof resume --sample 512KiB 4711    chosen at random",
           "heapprof resume --exact 4711            every block"},
          {"exit status: 0, 1 if no process follows, 2 for wrong usage", "manual: man heapprof-pause"}};
}

CommandText mark_text() {
  return {"mark",
          "heapprof mark [OPTIONS] PID NAME",
          "Set a mark in the profile of a program that runs.",
          {"heapprof mark 4711 'load began'"},
          {"exit status: 0, 1 if no process follows, 2 for wrong usage", "manual: man heapprof-pause"}};
}

int pause_main(const std::vector<std::string>& arguments) {
  return order_main(arguments, OrderKind::kPause, pause_text());
}
int resume_main(const std::vector<std::string>& arguments) {
  return order_main(arguments, OrderKind::kResume, resume_text());
}
int mark_main(const std::vector<std::string>& arguments) {
  return order_main(arguments, OrderKind::kMark, mark_text());
}

}  // namespace heapprof::cli
