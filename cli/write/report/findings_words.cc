// cli/write/report/findings_words.cc: a finding is a suspicion with a number, and its words must not say more.
//
// Each sentence says what was counted, and by which rule that looks like a problem. Estimated numbers (the bytes that a
// growing vector copied) are marked as such; what may be intended (a cache) is not called a leak.
#include "cli/write/report/findings_words.h"

#include "cli/base/function_name.h"
#include "cli/base/text.h"
#include "cli/base/units.h"
#include "cli/model/analysis/python/paths.h"
#include "cli/model/analysis/script_frames.h"
#include "cli/write/report/lost_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace heapprof::cli {
namespace {

std::string bytes(const ReportView& view, uint64_t value) {
  return view.exact_bytes ? format_bytes_exact(value) : format_bytes(value);
}

std::string blocks(uint64_t count) { return format_counted(count, "block"); }

uint64_t per_second(uint64_t value, uint64_t over_ns) {
  __extension__ using Wide = unsigned __int128;
  return over_ns == 0 ? value
                      : static_cast<uint64_t>(std::min<Wide>(Wide{value} * 1'000'000'000 / over_ns, UINT64_MAX));
}

// The remedy for a growing container whose final size is known.
std::string reserve_text(Language language) {
  switch (language) {
    case Language::kCpp: return "call reserve() with the final size";
    case Language::kRust: return "make it with_capacity() of the final size";
    case Language::kPython: return "make it at its full size, if that is known";
    case Language::kC:
    case Language::kOther: return "allocate the final size";
  }
  return "";
}

// The same for a block that realloc() grows. C++ gets C's remedy, because no C++ container uses realloc().
std::string resize_text(Language language) {
  return reserve_text(language == Language::kCpp ? Language::kC : language);
}

// The remedies for many tiny values that are kept, and for short-lived ones.
std::string kept_values_text(Language language) {
  return language == Language::kPython ? "hold the values in one array"
                                       : "hold the values in one array, or take them from a pool";
}
std::string short_lived_text(Language language) {
  switch (language) {
    case Language::kCpp: return "reuse one buffer, or pass a std::string_view";
    case Language::kRust: return "reuse one String or Vec (clear()), or pass a slice";
    default: return "reuse one buffer";
  }
}

std::string twin_text(const Finding& finding, const FrameNames& names) {
  const std::string copy =
      fmt::format("{}, {}", finding.is_by_sizes ? "a copy, to judge by the name of a function" : "a copy",
                  finding.cost_blocks == 1 ? "one block" : blocks(finding.cost_blocks));
  if (finding.other_frame == kNoModule) return copy + "; the original is of the same size and alive at the same time";
  const std::string where = names.function(finding.other_frame);
  const std::string location = names.short_location(finding.other_frame);
  return fmt::format("{}; what {}{} allocated is of the same size and alive at the same time", copy,
                     shorten_middle(where, 48), location.empty() ? "" : " (" + location + ")");
}

std::string lost_text(const Finding& finding, const FrameNames& names, const ReportView& view) {
  if (finding.owners != 0) return owner_detail(finding, names, view.exact_bytes);
  return unreached_words(bytes(view, finding.each_bytes), finding);
}

// Empty for a merged profile, which does not say how many blocks of all runs were live at the same time.
std::string alive_text(const Profile& profile, const Finding& finding) {
  return profile.merged.empty() ? fmt::format("; at most {} alive at once", format_count(finding.most_blocks)) : "";
}

}  // namespace

Language language_of(const Profile& profile, const Finding& finding) {
  if (!finding.has_frame) return Language::kOther;
  const Frame& frame = profile.frames[finding.frame];
  if (is_of_python(profile, frame)) return Language::kPython;
  for (const std::string_view ending : {".cc", ".cpp", ".cxx", ".C", ".c++", ".hh", ".hpp", ".hxx", ".cu"}) {
    if (frame.file.ends_with(ending)) return Language::kCpp;
  }
  if (frame.file.ends_with(".c")) return Language::kC;
  if (frame.file.ends_with(".rs")) return Language::kRust;
  // Of these languages, only C++ has parameters in its function names.
  const bool may_be_cpp = frame.file.empty() || frame.file.ends_with(".h");
  return may_be_cpp && frame.function.find('(') != std::string::npos ? Language::kCpp : Language::kOther;
}

std::string finding_head(const Finding& finding, const ReportView& view) {
  const std::string cost = bytes(view, finding.cost_bytes);
  const char* const least = finding.is_at_least ? "at least " : "";
  switch (finding.kind) {
    case FindingKind::kGrowth: return fmt::format("grew by {} in {}", cost, format_duration(finding.over_ns));
    case FindingKind::kNeverFreed:
      if (finding.is_cycle) return cycle_head(finding, view.exact_bytes);
      return fmt::format("{} in {} {}", cost, blocks(finding.cost_blocks), finding.is_lost ? "lost" : "never freed");
    case FindingKind::kSmallNeverFreed:
      if (finding.is_cycle) return cycle_head(finding, view.exact_bytes);
      if (finding.is_lost) return fmt::format("{} in {} small blocks lost", cost, format_count(finding.cost_blocks));
      return fmt::format("{} in {} small blocks never freed", cost, format_count(finding.cost_blocks));
    case FindingKind::kStartPeak: return fmt::format("{}{} that only the start needed", least, cost);
    case FindingKind::kSpike:
      return fmt::format("{}{} for {} only, at the peak", least, cost, format_duration(finding.over_ns));
    case FindingKind::kBacklog: return fmt::format("{} waiting in {}", cost, blocks(finding.cost_blocks));
    case FindingKind::kOldAndNew:
      return fmt::format("{} {} while growing, at the peak", cost,
                         finding.is_by_sizes ? "look left behind" : "left behind");
    case FindingKind::kCopies:
      if (finding.is_concatenation) return fmt::format("{} copied by + of strings", cost);
      return fmt::format("{} {} while growing", cost, finding.is_estimate ? "copied" : "moved");
    case FindingKind::kTwins: return fmt::format("{} {} held twice", cost, finding.is_by_sizes ? "may be" : "look");
    case FindingKind::kWholeFile: return fmt::format("up to {} while a whole file was read", cost);
    case FindingKind::kChurn:
      return fmt::format("{} of {}, one after another", blocks(finding.cost_blocks), bytes(view, finding.each_bytes));
    case FindingKind::kStorm:
      return fmt::format("{} of about {}", blocks(finding.cost_blocks), bytes(view, finding.each_bytes));
    case FindingKind::kFragmentation: return fmt::format("{} of the heap resident and unused", cost);
    case FindingKind::kUntouched: return fmt::format("{} asked for and not touched", cost);
  }
  return "";
}

namespace {

// A block that doubles at each step moves a few dozen times, whatever its size.
bool grows_by_steps(const Finding& finding) { return finding.cost_blocks > 64; }

// If a function has several lines, it is unknown which of them allocate, and which call a function that does.
const char* whose_text(const Finding& finding) {
  return finding.other_lines.empty() ? "is this place's" : "comes from this function and what it calls";
}

std::string detail_of(const Profile& profile, const Finding& finding, const FrameNames& names, const ReportView& view) {
  switch (finding.kind) {
    case FindingKind::kGrowth:
      return fmt::format("it grew in every quarter of the time from its beginning, by {} a second; at most {}",
                         bytes(view, per_second(finding.cost_bytes, finding.over_ns)), blocks(finding.cost_blocks));
    case FindingKind::kNeverFreed:
      if (finding.is_lost) return lost_text(finding, names, view);
      return fmt::format("{} each, allocated over {}", bytes(view, finding.each_bytes),
                         format_duration(finding.over_ns));
    case FindingKind::kSmallNeverFreed:
      if (finding.is_lost) return lost_text(finding, names, view);
      return fmt::format(
          "{} each, {} of the {} that the same stacks made, over {}; whether they can still be reached was not looked "
          "at (run --leak-check)",
          bytes(view, finding.each_bytes), format_percent_rounded({finding.cost_blocks, finding.all_blocks}),
          format_count(finding.all_blocks), format_duration(finding.over_ns));
    case FindingKind::kStartPeak:
      return fmt::format("the peak is at {}, and {} of it {}; from {} to the end the whole never had more than {}",
                         format_duration(profile.devices[finding.device].totals.peak_ns),
                         bytes(view, finding.at_peak_bytes), whose_text(finding), format_duration(finding.from_ns),
                         bytes(view, finding.later_bytes));
    case FindingKind::kSpike:
      return fmt::format(
          "for {} around the peak far more was live than before and after, when all together never had more than {}; "
          "{} "
          "of the peak {}",
          format_duration(finding.over_ns), bytes(view, finding.later_bytes), bytes(view, finding.at_peak_bytes),
          whose_text(finding));
    case FindingKind::kBacklog:
      return fmt::format("what it holds rises and falls slowly while {} pass through it; each lives {} on average",
                         blocks(finding.all_blocks), format_duration(finding.lifetime_ns));
    case FindingKind::kOldAndNew:
      if (finding.is_by_sizes)
        return fmt::format(
            "by their sizes, a container was doubling when the peak was reached: {} the new one of twice the size; no "
            "function on the stack says so",
            finding.cost_blocks == 1 ? "its old block was live beside" : "old blocks were each live beside");
      return fmt::format(
          "a container was doubling when the peak was reached: {} beside the new block of twice the size",
          finding.cost_blocks == 1 ? "its old block was still there," : "old blocks were still there,");
    case FindingKind::kCopies:
      if (finding.is_concatenation)
        return fmt::format("{} times a string was made of two: half of what these allocated, reckoned and not counted",
                           format_count(finding.cost_blocks));
      return finding.is_estimate
                 ? fmt::format(
                       "grown in {} steps, each of which copies what was there: half of what it "
                       "allocated, reckoned and not counted",
                       format_count(finding.cost_blocks))
                 : fmt::format(
                       "realloc, called {} times, gave other addresses to so much; blocks from 128 KiB on it "
                       "may move without copying",
                       format_count(finding.cost_blocks));
    case FindingKind::kTwins: return twin_text(finding, names);
    case FindingKind::kWholeFile:
      return "read to its end by a function that does just that; this is the most it held at once";
    case FindingKind::kChurn:
      return fmt::format("{} in all{}", bytes(view, finding.cost_bytes), alive_text(profile, finding));
    case FindingKind::kStorm:
      return fmt::format(
          "{} in all; {} of them freed before their thread allocated again{}", bytes(view, finding.cost_bytes),
          format_percent_rounded({finding.temporary_blocks, finding.cost_blocks}), alive_text(profile, finding));
    case FindingKind::kFragmentation:
      return fmt::format(
          "from {} to the end: {} in pages without a block, {} in pages that are less than half in use{}",
          format_duration(finding.from_ns), bytes(view, finding.empty_bytes),
          bytes(view, finding.cost_bytes - finding.empty_bytes),
          finding.has_frame
              ? fmt::format("; {} of this place lie there, the largest part of what is in half-empty ones",
                            blocks(finding.cost_blocks))
              : "");
    case FindingKind::kUntouched:
      return fmt::format("at {} it had {} in {} of 64 KiB and more, of which {} had been touched",
                         format_duration(finding.seen_ns), bytes(view, finding.at_peak_bytes),
                         blocks(finding.cost_blocks), bytes(view, finding.at_peak_bytes - finding.cost_bytes));
  }
  return "";
}

}  // namespace

std::string finding_detail(const Profile& profile, const Finding& finding, const FrameNames& names,
                           const ReportView& view) {
  std::string detail = detail_of(profile, finding, names, view);
  if (!finding.held_by.empty()) detail += "; at exit held by " + finding.held_by;
  if (finding.memory_name.empty()) return detail;
  return fmt::format("{}; the program calls all of its blocks \"{}\"", detail, finding.memory_name);
}

namespace {

// An allocator can give back pages without a block, but not pages with a few blocks.
std::string unreturned_remedy(const Finding& finding) {
  return !finding.is_pinned
             ? "let the allocator give it back when the work is done (malloc_trim(0) in glibc), or do that work in a "
               "process that ends"
             : "keep what lives long apart from what does not: allocate it before, in one array, or from a pool of its "
               "own; malloc_trim(0) gives back the pages without a block, in glibc";
}

// The remedy if a line of Python asked for the memory.
std::string python_remedy(FindingKind kind) {
  switch (kind) {
    case FindingKind::kGrowth:
      return "give it a limit (lru_cache(maxsize=…), deque(maxlen=…)), or drop entries when they are done with; data "
             "that is loaded for good may grow";
    case FindingKind::kNeverFreed:
    case FindingKind::kSmallNeverFreed:
      return "look for what still refers to them when the program ends: a cache, a global, a cycle with a __del__; or "
             "an extension that forgets to give them back";
    case FindingKind::kStartPeak:
      return "read and convert in pieces, and del what only the start needs; a limit on memory has to be as high as "
             "this peak";
    case FindingKind::kBacklog: return "bound the queue (queue.Queue(maxsize=…)), or consume faster";
    case FindingKind::kSpike: return "work in pieces (chunksize=, generators), and del intermediate results";
    case FindingKind::kOldAndNew:
    case FindingKind::kCopies: return "make it at its full size, from an iterator or as an array, instead of appending";
    case FindingKind::kTwins: return "work in place (out=, +=), on a view, or del the original first";
    case FindingKind::kWholeFile: return "read it in pieces or by line, or map it (mmap, numpy.memmap)";
    case FindingKind::kChurn: return "keep one buffer and fill it again (out=, readinto)";
    case FindingKind::kStorm: return "hold many small values in one array, or make them in one call for all";
    case FindingKind::kUntouched:
    case FindingKind::kFragmentation: break;
  }
  return "";
}

}  // namespace

std::string finding_remedy(const Profile& profile, const Finding& finding) {
  if (finding.kind == FindingKind::kGrowth && finding.is_of_tensors)
    return "keep numbers and not tensors (.item(), .detach().cpu()), run validation under torch.no_grad(), and drop "
           "what is done with";
  const Language language = language_of(profile, finding);
  if (finding.is_cycle) return cycle_remedy(language, finding.is_counted);
  if (finding.kind == FindingKind::kFragmentation) return unreturned_remedy(finding);
  if (finding.kind == FindingKind::kUntouched)
    return "size it by what is used, or begin small and grow by a factor; what is untouched costs addresses, and no "
           "memory until it is written to";
  if (language == Language::kPython) return python_remedy(finding.kind);
  const std::string owner = language == Language::kCpp    ? ", or give them an owner (std::unique_ptr)"
                            : language == Language::kRust ? "; look for a cycle of Rc (Weak), mem::forget and Box::leak"
                                                          : "";
  switch (finding.kind) {
    case FindingKind::kGrowth:
      return "give it a limit and evict, or drop entries when they are done with; data that is loaded for good may "
             "grow";
    case FindingKind::kNeverFreed: return "free them after their last use" + owner;
    case FindingKind::kSmallNeverFreed:
      return "free them after their last use" + owner +
             (finding.is_lost ? "" : "; a table that is kept on purpose looks like this, too");
    case FindingKind::kStartPeak:
      return "read and convert in pieces, and free what only the start needs as it goes; a limit on memory has to be "
             "as high as this peak";
    case FindingKind::kBacklog: return "bound the queue, so that the producer waits, or consume faster";
    case FindingKind::kSpike: return "stream it, or work in pieces; a limit on memory has to be as high as this peak";
    case FindingKind::kOldAndNew:
      return (finding.is_by_sizes ? "if a container grows there, " : "") + reserve_text(language) +
             ": then nothing is left behind";
    case FindingKind::kCopies:
      if (finding.is_concatenation) return "append to one string (+=, append) instead of making a new one each time";
      if (finding.is_estimate) return reserve_text(language);  // the standard containers double
      return resize_text(language) + (grows_by_steps(finding) ? ", or grow by a factor instead of a step" : "");
    case FindingKind::kTwins:
      return std::string(finding.is_by_sizes ? "if it is a copy, " : "") +
             "move it, pass it by reference or share it; or free the original first";
    case FindingKind::kWholeFile: return "read it in pieces or by line, or map it (mmap)";
    case FindingKind::kChurn: return "keep one block as a workspace and use it again";
    case FindingKind::kStorm:
      return finding.temporary_blocks >= finding.cost_blocks / 10 * 9 ? short_lived_text(language)
                                                                      : kept_values_text(language);
    case FindingKind::kUntouched:
    case FindingKind::kFragmentation: break;
  }
  return "";
}

std::string share_text(const Profile& profile, const Finding& finding) {
  const char* peak = profile.merged.empty() ? "the peak" : "the sum of the peaks";
  const char* whole = finding.share_of == ShareOf::kPeak         ? peak
                      : finding.share_of == ShareOf::kTotalBytes ? "all bytes"
                      : finding.share_of == ShareOf::kResident   ? "what is resident of the heap"
                                                                 : "all allocations";
  return fmt::format("{} of {}", format_percent(finding.share), whole);
}

std::string place_words(const Profile& profile, const FrameNames& names, uint32_t frame, uint32_t device,
                        size_t word_columns, const std::string& more_lines) {
  constexpr size_t kMost = 48;
  constexpr size_t kSigns = 3;  // "(" before, ")," after
  const size_t room = std::min(kMost, std::max<size_t>(word_columns, 12) - kSigns);
  std::string at = "code without a stack";
  if (frame != kNoModule) {
    at = shorten_middle(shorten_function(names.function(frame), room), room);
    if (const std::string where = names.short_location(frame); !where.empty())
      at += " (" + shorten_middle(shorten_path(where, room), room) + more_lines + ")";
  }
  if (device != 0) at += " on " + shorten_middle(escape_controls(profile.devices[device].name), room);
  return at;
}

std::string other_lines_text(const Profile& profile, const Finding& finding) {
  constexpr size_t kMost = 2;
  std::string text;
  size_t shown = 0;
  for (const uint32_t line : finding.other_lines) {
    const Frame& other = profile.frames[line];
    if (other.line == 0 || other.file != profile.frames[finding.frame].file) continue;
    if (shown++ == kMost) return text + ", …";
    text += fmt::format(", :{}", other.line);
  }
  return text;
}

namespace {

std::string held_words(const Finding& finding) {
  constexpr size_t kMost = 40;
  return finding.held_by.empty() ? "" : ", held by " + shorten_middle(finding.held_by, kMost);
}

// If several functions call the place, and one of them has two thirds of the cost or more.
std::string main_caller_words(const Profile& profile, const Finding& finding, const FrameNames& names,
                              size_t word_columns) {
  const CallerChain& callers = finding.callers;
  const auto words = [&](const std::string& part, uint32_t frame) {
    return fmt::format(", {} of it for {}", part, place_words(profile, names, frame, 0, word_columns, ""));
  };
  if (finding.only_caller != kNoModule) return words("all", finding.only_caller);
  if (callers.shares.empty() || callers.shares[0].weight < callers.weight - callers.weight / 3) return "";
  return words(format_percent_rounded({callers.shares[0].weight, callers.weight}), callers.shares[0].frame);
}

std::string older_words(const Finding& finding) {
  if (finding.older_frees < finding.cost_blocks / 4) return "";
  return fmt::format(", while {} that were not recorded were freed, which it may only have replaced",
                     format_counted(finding.older_frees, "block"));
}

}  // namespace

std::string finding_sentence(const Profile& profile, const Finding& finding, const FrameNames& names,
                             size_t word_columns) {
  const std::string cost = format_bytes(finding.cost_bytes);
  const std::string at = place_words(profile, names, finding.has_frame ? finding.frame : kNoModule, finding.device,
                                     word_columns, other_lines_text(profile, finding));
  const std::string count = format_count(finding.cost_blocks);
  const Language language = language_of(profile, finding);
  const bool is_python = language == Language::kPython;
  const bool can_be_judged = finding.device == 0 && !profile.run.leak_check.is_asked;  // only for the host
  const bool is_arenas =
      finding.has_frame && is_arena(profile.frames[finding.frame].function, profile.frames[finding.frame].file);
  switch (finding.kind) {
    case FindingKind::kGrowth:
      if (finding.is_of_tensors)
        return fmt::format(
            "{} grew steadily, +{} in {}: tensors are kept; where their graph is kept with them: .item(), .detach() or "
            "torch.no_grad()",
            at, cost, format_duration(finding.over_ns));
      if (finding.is_left)
        return fmt::format(
            "{} grew steadily, +{} in {}{}, and was live at exit{}: bound it or free it (ignore this if it loads data "
            "once{})",
            at, cost, format_duration(finding.over_ns), main_caller_words(profile, finding, names, word_columns),
            held_words(finding), can_be_judged ? "; run --leak-check tells what is lost" : "");
      if (is_arenas)
        return fmt::format("{} grew steadily, +{} in {}: bound what keeps them (ignore this if it loads data once)",
                           kArenas, cost, format_duration(finding.over_ns));
      return fmt::format("{} grew steadily, +{} in {}{}{}: bound it or evict (ignore this if it loads data once)", at,
                         cost, format_duration(finding.over_ns),
                         main_caller_words(profile, finding, names, word_columns), older_words(finding));
    case FindingKind::kNeverFreed:
    case FindingKind::kSmallNeverFreed: {
      const std::string what =
          format_counted(finding.cost_blocks, finding.kind == FindingKind::kNeverFreed ? "large block" : "small block");
      const std::string callers = main_caller_words(profile, finding, names, word_columns);
      if (finding.owners != 0 && (finding.is_cycle || finding.owners < finding.cost_blocks))
        return owner_sentence(profile, finding, names, word_columns);
      if (finding.is_lost)
        return fmt::format("{} lost {} in {}{}: no pointer leads to them any more; free them after their last use", at,
                           cost, what, callers);
      return fmt::format("{} left {} in {}{}, live at exit{}: free them, or keep them on purpose{}", at, cost, what,
                         callers, held_words(finding),
                         can_be_judged ? " (run --leak-check tells which can still be reached)" : "");
    }
    case FindingKind::kStartPeak:
      return fmt::format(
          "the peak is start-up memory: {}{} from {} are not needed after {}; stream it, or free it "
          "earlier",
          finding.is_at_least ? "at least " : "", cost, at, format_duration(finding.from_ns));
    case FindingKind::kSpike:
      return fmt::format(
          "{}{} from {}{} make the peak, for {} only; without them it is {}{}: stream it, or work in pieces",
          finding.is_at_least ? "at least " : "", cost, at,
          finding.only_caller != kNoModule ? main_caller_words(profile, finding, names, word_columns) : "",
          format_duration(finding.over_ns), finding.is_at_least ? "at most " : "", format_bytes(finding.without_bytes));
    case FindingKind::kBacklog:
      return fmt::format(
          "{} builds up a backlog: {} in {}, which live {} on average; bound the queue, or consume faster", at, cost,
          format_counted(finding.cost_blocks, "block"), format_duration(finding.lifetime_ns));
    case FindingKind::kCopies:
      if (is_python) return fmt::format("{} moved {} while it grew: {}", at, cost, reserve_text(language));
      if (finding.is_concatenation)
        return fmt::format("{} copied about {} as each + of strings makes a new one: append in place (s += …)", at,
                           cost);
      return finding.is_estimate
                 ? fmt::format("{} copied about {} while a container grew: {}", at, cost, reserve_text(language))
                 : fmt::format("{} moved {} while a block grew (realloc): {}{}", at, cost, resize_text(language),
                               grows_by_steps(finding) ? ", or double it" : "");
    case FindingKind::kOldAndNew:
      if (finding.is_by_sizes)
        return fmt::format(
            "the peak looks like the old and the new buffer of a growing container: {} of it from {}; if one grows "
            "there, {}",
            cost, at, reserve_text(language));
      return fmt::format("the peak holds the old and the new buffer of a growing container: {} of it from {}; {}", cost,
                         at, reserve_text(language));
    case FindingKind::kTwins:
      return fmt::format("{} {} held twice: {} copies{}, and blocks of the same size are live besides; {}{}", cost,
                         finding.is_by_sizes ? "may be" : "look", at,
                         finding.is_by_sizes ? ", to judge by the name of a function" : "",
                         finding.is_by_sizes ? "if it does, " : "",
                         is_python ? "work in place, or drop the original first" : "move it, or pass it by reference");
    case FindingKind::kWholeFile:
      return fmt::format("{} reads a whole file into memory, up to {}: read it in pieces, or map it", at, cost);
    case FindingKind::kChurn:
      return fmt::format("{} allocates {} blocks of one size, one after another ({}): reuse one", at, count, cost);
    case FindingKind::kStorm:
      if (finding.temporary_blocks >= finding.cost_blocks / 10 * 9)
        return fmt::format("{} makes {} short-lived tiny allocations ({}): {}", at, count, cost,
                           short_lived_text(language));
      return fmt::format("{} makes {} tiny allocations ({}): {}", at, count, cost, kept_values_text(language));
    case FindingKind::kFragmentation: {
      const std::string what = fmt::format("{} of the heap stay resident and unused, from {} to the end", cost,
                                           format_duration(finding.from_ns));
      if (!finding.is_pinned)
        return fmt::format(
            "{}, {} of it in pages without a block: let the allocator give them back (glibc: malloc_trim(0))", what,
            format_bytes(finding.empty_bytes));
      return fmt::format("{}: {} lie all over their pages; allocate what lives long apart from the rest", what,
                         finding.has_frame ? blocks(finding.cost_blocks) + " of " + at : "a few blocks");
    }
    case FindingKind::kUntouched:
      return fmt::format("{} has {}, of which {} had been touched at {}: size it by what is used, or let it grow", at,
                         format_bytes(finding.at_peak_bytes), format_bytes(finding.at_peak_bytes - finding.cost_bytes),
                         format_duration(finding.seen_ns));
  }
  return "";
}

std::vector<Finding> shown_findings(const Profile& profile, const ReportView& view, const PlaceTree& tree) {
  std::vector<Finding> findings = find_findings(profile, tree);
  const auto is_hidden = [&](const Finding& finding) {
    return !view.device.empty() && profile.devices[finding.device].name != view.device;
  };
  findings.erase(std::remove_if(findings.begin(), findings.end(), is_hidden), findings.end());
  return findings;
}

}  // namespace heapprof::cli
