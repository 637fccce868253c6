// cli/write/html/page.cc: writes the template's head, the first screen's data, the other data in the order in which the
// page reads it, and the template's tail.
#include "cli/write/html/page.h"

#include "cli/model/analysis/places.h"
#include "cli/write/html/page_blocks.h"
#include "cli/write/html/page_parts.h"
#include "cli/write/html/page_template.h"

#include <fmt/format.h>

#include <span>

namespace heapprof::cli {
namespace {

// JSON in a script element must not contain "</script". "<" occurs only in JSON strings, where an escape means the
// same.
std::string without_markup(std::string_view json) {
  std::string text;
  text.reserve(json.size());
  for (const char c : json) c == '<' ? text.append("\\u003c") : text.append(1, c);
  return text;
}

void write_side(size_t number, const PageSide& side, ByteSink* sink) {
  const Profile& profile = *side.profile;
  const PlaceTree tree = build_place_tree(profile);
  const FrameNames names(profile, tree);
  PageTexts texts;
  const auto block = [&](std::string_view name, const PageColumns& columns) {
    write_page_block(fmt::format("{}.{}", number, name), columns.bytes(), sink);
  };
  for (size_t i = 0; i < profile.devices.size(); ++i)
    block(fmt::format("timeline.{}", i), page_timeline(fitted_timeline(profile.devices[i].timeline)));
  block("tree", page_tree(profile, tree, names, &texts));
  for (size_t i = 0; i < profile.devices.size(); ++i)
    block(fmt::format("sites.{}", i), page_sites(profile, tree, names, profile.devices[i], &texts));
  block("scopes", page_scopes(profile.scopes, &texts));
  write_page_block(fmt::format("{}.texts", number), texts.json(), sink);
}

void write_changes(const TwoProfiles& two, const DiffView& view, ByteSink* sink) {
  PageTexts texts;
  for (size_t i = 0; i < two.diff.devices.size(); ++i) {
    const PageColumns columns = page_diff(two, view, two.diff.devices[i], &texts);
    write_page_block(fmt::format("diff.{}", i), columns.bytes(), sink);
  }
  write_page_block("diff.texts", texts.json(), sink);
}

void write_page(std::span<const PageSide> sides, const TwoProfiles* two, const DiffView& view, ByteSink* sink) {
  const PageTemplate page = page_template();
  sink->write(page.head);
  StringSink summary;
  write_page_summary(sides, two, view, &summary);
  sink->write("<script type=\"application/json\" id=\"summary\">");
  sink->write(without_markup(summary.text()));
  sink->write("</script>\n");
  for (size_t i = 0; i < sides.size(); ++i) write_side(i, sides[i], sink);
  if (two != nullptr) write_changes(*two, view, sink);
  sink->write(page.tail);
}

}  // namespace

void write_report_page(const PageSide& side, ByteSink* sink) { write_page({&side, 1}, nullptr, {}, sink); }

void write_diff_page(const TwoProfiles& two, const DiffView& view, const BySide<PageSide>& sides, ByteSink* sink) {
  write_page({&sides[kBase], 2}, &two, view, sink);
}

}  // namespace heapprof::cli
