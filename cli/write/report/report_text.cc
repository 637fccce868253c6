// cli/write/report/report_text.cc: the report for people: totals, the conclusion, tables of places.
#include "cli/base/function_name.h"
#include "cli/base/text.h"
#include "cli/base/units.h"
#include "cli/model/analysis/exception_reserve.h"
#include "cli/model/analysis/folding.h"
#include "cli/model/analysis/python/paths.h"
#include "cli/model/compare/merge_profiles.h"
#include "cli/write/report/conclusion.h"
#include "cli/write/report/device_choice.h"
#include "cli/write/report/findings_words.h"
#include "cli/write/report/formats.h"
#include "cli/write/report/report_sections.h"
#include "cli/write/report/scopes/scope_sections.h"
#include "cli/write/text/fold_text.h"
#include "cli/write/text/metric_text.h"
#include "cli/write/text/place_text.h"
#include "cli/write/text/run_text.h"
#include "cli/write/text/sampling_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

namespace heapprof::cli {
namespace {

constexpr size_t kTopOfPeak = 10;
constexpr size_t kTopOfOthers = 5;
constexpr size_t kTopOfPackages = 15;
constexpr size_t kFurtherLeft = 11;  // column of a line below a place, if it does not fit below the function
constexpr size_t kScreenLines = 24;
constexpr size_t kTitleColumns = 80;  // the right end of a title's remark on wider terminals

class TextReport {
 public:
  TextReport(const Profile& profile, const ReportView& view, const Terminal& terminal)
      : profile_(profile),
        view_(view),
        colored_(terminal.colored),
        utf8_(terminal.utf8),
        columns_(static_cast<size_t>(terminal.columns)),
        tree_(build_place_tree(profile)),
        names_(profile, tree_) {}

  std::string render() {
    if (!view_.stable) header();
    if (is_about_scopes(view_)) return text_ + scope_sections(profile_, view_, columns_);
    if (view_.sizes || view_.threads || view_.packages) return parts();
    text_ += larger_process_line(profile_, view_, columns_);
    const bool is_whole = view_.device.empty() && !view_.list_suppressions;
    const DeviceChoice choice = choose_devices(profile_);
    const std::vector<const Device*> devices = is_whole ? choice.shown : shown_devices(profile_, view_);
    text_ += device_lines(profile_, tree_, devices, view_.exact_bytes, columns_) + sampling_lines(profile_, columns_);
    if (is_whole)
      text_ += small_devices_line(profile_, choice, view_.exact_bytes, "heapprof report", columns_) +
               leak_lines(profile_, tree_, names_, {columns_, view_.exact_bytes, 0});
    text_ += unseen_text(profile_, tree_, names_, devices, view_.exact_bytes, columns_);
    for (const Device* device : devices) {
      const std::string refused =
          refusal_text(profile_, tree_, names_, *device, {kTopOfPeak, kMostLiveSites, columns_, view_.exact_bytes});
      if (!refused.empty()) text_ += "\n" + refused;
    }
    if (is_whole) text_ += api_text(profile_, tree_, names_, columns_);
    if (is_whole) ranks();
    if (is_whole && !view_.tree && can_have_findings(profile_)) conclude();
    if (is_whole) text_ += last_tensors_text(profile_, tree_, names_, {columns_, view_.exact_bytes, ""});
    for (const Device* device : devices) view_.list_suppressions ? suppressions(*device) : sections(*device);
    if (is_whole) processes();
    footer(devices);
    return text_;
  }

 private:
  // --sizes, --threads, --packages: shown instead of the tables, on one screen unless the user asks for more.
  std::string parts() {
    if (view_.threads) threads();
    const std::vector<const Device*> shown =
        view_.device.empty() ? choose_devices(profile_).shown : shown_devices(profile_, view_);
    for (size_t i = 0; view_.packages && i < shown.size(); ++i) packages(*shown[i]);
    for (size_t i = 0; view_.sizes && i < shown.size(); ++i) sizes(*shown[i]);
    text_ += "\n" + (view_.sizes ? folded_line(shown) : "") + "more:";
    if (!view_.top) text_ += " --top 50 ";
    if (view_.sizes && !view_.sort) text_ += " --sort allocations ";
    if (!view_.exact_bytes) text_ += " --bytes ";
    text_ += " --format json\n";
    return text_;
  }

  std::string folded_line(const std::vector<const Device*>& devices) const {
    const std::string text =
        folded_text(find_folded_names(profile_, tree_, devices), std::max(columns_, kTitleColumns));
    return text.empty() ? text : text + "\n";
  }

  void threads() {
    const uint64_t count = count_threads(profile_.run);
    text_ += "\n" + bold("THREADS host");
    text_ += count == 0 ? "\nthis file does not say what threads allocated\n"
                        : "  " + format_counted(count, "thread") + ", by what each allocated in all\n" +
                              threads_text(profile_, {view_.top.value_or(kTopOfPeak), view_.exact_bytes, columns_});
  }

  void packages(const Device& device) {
    const Metric metric = view_.sort.value_or(Metric::kPeak);
    const std::string rows = packages_table(profile_, tree_, device,
                                            {view_.top.value_or(kTopOfPackages), view_.exact_bytes, columns_, metric});
    title("PACKAGES " + escape_controls(device.name),
          rows.empty() ? "" : fmt::format("whose code asked for it, by {}", shown_metric(metric, live_word(profile_))));
    text_ += rows.empty() ? "all of it is of one package\n" : rows;
  }

  void sizes(const Device& device) {
    constexpr size_t kIndent = 4;
    const Metric metric = view_.sort.value_or(profile_.has_lifetimes ? Metric::kPeak : Metric::kTotal);
    const std::vector<Place> places = find_places(profile_, tree_, device);
    const std::vector<uint32_t> order =
        view_.sort || view_.top ? rank_places(places, metric) : rank_own_places(places, metric);
    const uint64_t all = sum_of_sites(device).metric(metric);
    // As many places as fit on a screen, together with a title and the last lines.
    size_t used = static_cast<size_t>(std::count(text_.begin(), text_.end(), '\n')) + 5;
    if (!folded_line({&device}).empty()) ++used;
    std::vector<PlaceLine> lines;
    std::vector<std::vector<std::string>> below;
    std::vector<CallerChain> chains;
    chains.reserve(order.size());
    for (const uint32_t index : order) {
      if (view_.top && lines.size() >= *view_.top) break;
      std::vector<std::string> bars =
          sizes_lines(places[index].numbers, {view_.exact_bytes, profile_.has_coarse_sizes, kIndent, columns_});
      used += bars.size() + (columns_ < kTitleColumns ? 2 : 1);
      if (!view_.top && !lines.empty() && used > kScreenLines) break;
      PlaceLine& line = lines.emplace_back(place_line(device, places[index], metric, all));
      line.remark.clear();
      chains.push_back(find_callers(profile_, tree_, device, places[index], metric));
      line.callers = &chains.back();
      below.push_back(std::move(bars));
    }
    title("SIZES " + escape_controls(device.name),
          fmt::format("top {} of {} by {}; blocks of the whole run", format_count(lines.size()),
                      format_counted(order.size(), "place"), shown_metric(metric, live_word(profile_))));
    size_t function_column = 0;
    const std::vector<std::string> texts = lay_out(names_, lines, 0, columns_, &function_column);
    for (size_t i = 0; i < lines.size(); ++i) {
      text_ += texts[i] + "\n";
      for (const std::string& line : below[i]) text_ += line + "\n";
    }
  }

  bool is_ours() const { return profile_.dialect == Dialect::kHeapprof; }
  std::string bytes(uint64_t value) const {
    return view_.exact_bytes ? format_bytes_exact(value) : format_bytes(value);
  }
  std::string bold(const std::string& text) const { return colored_ ? "\x1b[1m" + text + "\x1b[0m" : text; }
  std::string faint(const std::string& text) const { return colored_ ? "\x1b[2m" + text + "\x1b[0m" : text; }

  void header() {
    const RunInfo& run = profile_.run;
    std::string facts;
    if (!profile_.merged.empty()) {
      const size_t inputs = profile_.merged.back().input + 1;
      facts = fmt::format("    {} merged    {}{} lost", format_counted(inputs, "profile"), ends_text(profile_),
                          format_counted(run.counters.lost, "event"));
    } else if (is_ours()) {
      facts = fmt::format("    {}    {}    {}    {} lost", start_text(run.start_unix_ns),
                          length_text(profile_, run.duration_ns), end_text(run.end),
                          format_counted(run.counters.lost, "event"));
    } else {
      facts = fmt::format("    {}    {}", profile_.dialect == Dialect::kValgrind ? "valgrind --tool=dhat" : "dhat-rs",
                          length_text(profile_, run.duration_ns));
    }
    const std::string whole = run.command.empty() ? view_.file : command_text(run.command, run.title);
    if (display_width(whole) + display_width(facts) > columns_) {
      for (size_t at = facts.find("    "); at != std::string::npos; at = facts.find("    ", at)) facts.erase(at, 2);
    }
    const size_t room = columns_ > display_width(facts) + 10 ? columns_ - display_width(facts) : 10;
    const std::string command = run.command.empty() ? shorten_path(escape_controls(view_.file), room)
                                                    : short_command(run.command, run.title, room);
    text_ += bold(command) + facts + "\n" + running_line(profile_) + attached_line(profile_);
  }

  void sections(const Device& device) {
    const std::vector<Place> places = find_places(profile_, tree_, device);
    if (sum_of_sites(device).total_blocks == 0) {
      text_ += fmt::format("\nno allocations on {} were recorded\n", escape_controls(device.name));
      return;
    }
    if (view_.tree) {
      const Metric metric = view_.sort.value_or(profile_.has_lifetimes ? Metric::kPeak : Metric::kTotal);
      title("TREE " + metric_title(metric, live_word(profile_)), device, "cut at 1 %");
      text_ += render_call_tree(profile_, tree_, names_, device, view_, metric, columns_);
      return;
    }
    if (view_.sort) return section(device, places, *view_.sort, kTopOfPeak);
    if (!profile_.has_lifetimes) return section(device, places, Metric::kTotal, kTopOfPeak);
    section(device, places, Metric::kPeak, kTopOfPeak);
    if (has_metric(profile_, Metric::kTemporary)) section(device, places, Metric::kTemporary, kTopOfOthers);
    section(device, places, Metric::kLeaked, kTopOfOthers);
    const LostPlaces lost =
        lost_places(profile_, tree_, names_, device, {columns_, view_.exact_bytes, view_.top.value_or(kTopOfOthers)});
    if (!lost.rows.empty()) title("LOST AT EXIT", device, lost.remark);
    text_ += lost.rows;
    const LostPlaces held =
        held_places(profile_, tree_, names_, device,
                    {columns_, view_.exact_bytes, view_.top.value_or(kTopOfOthers), 0, view_.top.has_value()});
    if (!held.rows.empty()) title("HELD AT EXIT BY", device, held.remark);
    text_ += held.rows;
  }

  void ranks() {
    const RankRows ranks = rank_rows(profile_, {view_.top.value_or(kTopOfOthers), view_.exact_bytes, columns_});
    if (!ranks.rows.empty()) title("PEAK BY RANK, DEVICE, PLACE", ranks.remark);
    text_ += ranks.rows;
  }

  void processes() {
    const std::string rows = processes_text(profile_, view_, columns_);
    if (!rows.empty()) text_ += "\n" + bold("OTHER PROCESSES") + " of the run, by peak of heap + mapped\n" + rows;
  }

  void suppressions(const Device& device) {
    const SuppressedRules rules = suppressed_rules(view_, device, columns_, colored_);
    title("SUPPRESSED", device, rules.remark);
    text_ += rules.rows;
  }

  void title(const std::string& what, const Device& device, const std::string& remark) {
    title(fmt::format("{} {}", what, escape_controls(device.name)), remark);
  }
  void title(const std::string& left, const std::string& remark) {
    const size_t right_end = std::min(columns_, kTitleColumns);
    const size_t used = display_width(left) + display_width(remark);
    text_ += "\n" + bold(left) + std::string(right_end > used + 2 ? right_end - used : 2, ' ') + remark + "\n";
  }

  PlaceLine place_line(const Device& device, const Place& place, Metric metric, uint64_t all) const {
    const PlaceNumbers& numbers = place.numbers;
    const std::string share = format_percent({numbers.metric(metric), all});
    PlaceLine line;
    line.function = names_.place_function(place);
    line.location = names_.place_location(place);
    switch (metric) {
      case Metric::kPeak:
        line.numbers = {bytes(numbers.peak_bytes), share, format_counted(numbers.peak_blocks, "block")};
        break;
      case Metric::kLeaked:
        line.numbers = {bytes(numbers.leaked_bytes), share, format_counted(numbers.leaked_blocks, "block")};
        break;
      case Metric::kTotal:
        line.numbers = {bytes(numbers.total_bytes), share, format_counted(numbers.total_blocks, "alloc")};
        break;
      case Metric::kAllocations:
        line.numbers = {format_counted(numbers.total_blocks, "alloc"), share, bytes(numbers.total_bytes)};
        break;
      case Metric::kTemporary:
        line.numbers = {
            fmt::format("{} of {}", format_count(numbers.temporary_blocks), format_count(numbers.total_blocks)),
            format_percent_rounded({numbers.temporary_blocks, numbers.total_blocks})};
        break;
    }
    add_error(profile_, device, numbers, metric, &line.numbers);
    const bool shows_sizes = metric == Metric::kTemporary || metric == Metric::kAllocations;
    if (shows_sizes) line.remark = each_text(numbers, view_.exact_bytes);
    return line;
  }

  void section(const Device& device, const std::vector<Place>& places, Metric metric, size_t default_top) {
    const uint64_t all = sum_of_sites(device).metric(metric);
    const bool shows_reserve = view_.all_frames || view_.sort || view_.top;
    const std::vector<uint32_t> order = shows_reserve ? rank_places(places, metric) : rank_own_places(places, metric);
    const uint64_t reserve = shows_reserve || !is_in_bytes(metric) ? 0 : reserve_of(places, metric);
    if (order.empty()) {
      if (view_.sort)
        text_ += fmt::format("\nnothing on {} counts as {}\n", escape_controls(device.name),
                             shown_metric(metric, live_word(profile_)));
      return;
    }
    size_t shown = std::min(order.size(), view_.top.value_or(default_top));
    // Beside the peak and the leaks, places with less than 1 % of the temporary blocks are noise.
    const auto is_noise = [&](uint32_t place) { return places[place].numbers.metric(metric) * 100 < all; };
    while (!view_.sort && !view_.top && metric == Metric::kTemporary && shown > 1 && is_noise(order[shown - 1]))
      --shown;
    std::vector<PlaceLine> lines;
    uint64_t covered = 0;
    for (size_t i = 0; i < shown; ++i) {
      lines.push_back(place_line(device, places[order[i]], metric, all));
      covered += places[order[i]].numbers.metric(metric);
    }
    title(metric_title(metric, live_word(profile_)), device,
          shown < order.size() ? fmt::format("top {} of {} places, {}", format_count(shown), format_count(order.size()),
                                             format_percent({covered, all}))
                               : format_counted(shown, "place"));
    size_t function_column = 0;
    const std::vector<std::string> texts = lay_out(names_, lines, 0, columns_, &function_column);
    for (size_t i = 0; i < shown; ++i) {
      text_ += texts[i] + "\n";
      details(device, places[order[i]], metric, function_column + 2);
    }
    if (reserve != 0) text_ += fmt::format("and {}, {}\n", bytes(reserve), kReserveName);
  }

  // The lines below a place: its callers, and for leaks, when they were allocated.
  void details(const Device& device, const Place& place, Metric metric, size_t indent) {
    const size_t room = columns_ > indent + 12 ? columns_ - indent : 12;
    const std::string blank(indent, ' ');
    if (view_.all_frames) {
      for (const uint32_t frame : largest_stack(profile_, device, place, metric)) {
        const std::string where = names_.short_location(frame);
        const size_t left = room > display_width(where) + 10 ? room - display_width(where) - 2 : 8;
        const std::string location = where.empty() ? "" : "  " + shorten_path(where, room);
        text_ += blank + faint(shorten_function(names_.function(frame), left) + location) + "\n";
      }
    } else {
      // The line begins below the function, or further left if it needs the room.
      const CallerChain chain = find_callers(profile_, tree_, device, place, metric);
      const std::string whole = callers_text(names_, chain, true, 10'000);
      const size_t left = display_width(whole) <= room ? indent : std::min(indent, kFurtherLeft);
      const std::string callers = callers_text(names_, chain, true, columns_ - left);
      if (!callers.empty()) text_ += std::string(left, ' ') + faint(callers) + "\n";
    }
    if (const std::string spread = spread_text(profile_, device, place, view_.exact_bytes);
        metric == Metric::kPeak && !spread.empty())
      text_ += std::string(std::min(indent, kFurtherLeft), ' ') + faint(spread) + "\n";
    const PlaceNumbers& numbers = place.numbers;
    if (metric != Metric::kLeaked || !is_ours() || numbers.leaked_blocks == 0) return;
    const std::string first = moment_text(profile_, numbers.first_leak_ns);
    const std::string last = moment_text(profile_, numbers.last_leak_ns);
    text_ += blank + faint(numbers.leaked_blocks == 1 ? "at " + first : fmt::format("first {}, last {}", first, last)) +
             "\n";
  }

  void footer(const std::vector<const Device*>& devices) {
    text_ += "\n";
    PlaceNumbers sum;
    for (const Device* device : devices) {
      for (const Site& site : device->sites) sum.add(site);
    }
    if (sum.suppressed_blocks > 0 && !view_.list_suppressions)
      text_ += fmt::format("{} {}, and suppressed{} (--list-suppressions)\n", bytes(sum.suppressed_bytes),
                           live_word(profile_), kept_by_python(devices));
    if (!view_.list_suppressions) text_ += folded_line(devices);
    const uint64_t hidden = count_hidden_frames(tree_);
    if (hidden > 0 && !view_.all_frames && !view_.list_suppressions) {
      text_ += format_counted(hidden, "std, allocator and runtime frame") + " hidden (--all-frames)\n";
    }
    if (tree_.hides_libraries && !view_.list_suppressions) text_ += "lines of libraries hidden (--libraries)\n";
    if ((view_.tree || profile_.shows_libraries) && !view_.list_suppressions) text_ += small_sites_line(devices);
    findings_line();
    std::string more = "more:";
    if (devices.size() > 1 && view_.device.empty()) more += " --device " + escape_controls(devices[1]->name) + " ";
    if (!view_.sort) more += " --sort total ";
    if (!view_.top) more += " --top 50 ";
    if (!view_.tree) more += " --tree ";
    if (!view_.exact_bytes) more += " --bytes ";
    text_ += more + " --format csv\n";
  }

  // How many small sites are in rows that lack some of their callers, and their share of the peak; empty if there are
  // none.
  static std::string small_sites_line(const std::vector<const Device*>& devices) {
    uint64_t stacks = 0;
    uint64_t bytes = 0;
    uint64_t all_bytes = 0;
    for (const Device* device : devices) {
      for (const Site& site : device->sites) {
        all_bytes = add_saturating(all_bytes, site.numbers.peak_bytes);
        if (site.grouped_stacks == 0) continue;
        stacks = add_saturating(stacks, site.grouped_stacks);
        bytes = add_saturating(bytes, site.numbers.peak_bytes);
      }
    }
    if (stacks == 0) return "";
    return fmt::format("{}, {} of the peak, in rows that lack some callers (heapprof run --all-sites)\n",
                       format_counted(stacks, "small site"), format_percent_rounded({bytes, all_bytes}));
  }

  // ", 1.10 MiB of it by Python itself": what the rules for Python suppressed.
  std::string kept_by_python(const std::vector<const Device*>& devices) const {
    uint64_t kept_bytes = 0;
    for (const Device* device : devices) {
      const std::vector<SuppressedLeaks> sums = sum_by_rule(view_.suppressions, *device);
      for (size_t i = 0; i < sums.size(); ++i)
        kept_bytes += view_.suppressions[i].python == PythonKeep::kNone ? 0 : sums[i].bytes;
    }
    return kept_bytes == 0 ? "" : fmt::format(", {} of it by Python itself", bytes(kept_bytes));
  }

  void conclude() {
    conclusion_.emplace(profile_, tree_);
    const std::string text = conclusion_->text(columns_);
    if (!text.empty()) text_ += "\n" + text;
  }

  void findings_line() {
    if (!can_have_findings(profile_) || view_.list_suppressions) return;
    const size_t count = conclusion_ ? conclusion_->findings().size() : shown_findings(profile_, view_, tree_).size();
    if (count == 0) return;
    text_ += command_line(format_counted(count, "finding") + ": ", "heapprof report --findings",
                          pasted_file(view_.file, utf8_), columns_);
  }

  const Profile& profile_;
  const ReportView& view_;
  bool colored_;
  bool utf8_;
  size_t columns_;
  PlaceTree tree_;
  FrameNames names_;
  std::optional<Conclusion> conclusion_;  // set if it is shown
  std::string text_;
};

}  // namespace

std::string render_report_text(const Profile& profile, const ReportView& view, const Terminal& terminal) {
  const std::string text = fitted(TextReport(profile, view, terminal).render(), static_cast<size_t>(terminal.columns));
  return terminal.utf8 ? text : to_ascii(text);
}

}  // namespace heapprof::cli
