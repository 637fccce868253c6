// tests/fuzz/profile_fuzz.cc: any bytes as a profile: a problem, or a profile that is written and read again to the
// same bytes, and exported in every format and table, and shown on a page; each device's DHAT file is a profile again.
// Frames without names get some, inlined ones among them, and then it is a profile still.
#include "cli/model/analysis/findings.h"
#include "cli/model/analysis/folding.h"
#include "cli/model/analysis/frame_kind.h"
#include "cli/model/analysis/script_frames.h"
#include "cli/model/analysis/warnings.h"
#include "cli/model/profile/invariants.h"
#include "cli/model/profile/name_frames.h"
#include "cli/read/read_profile.h"
#include "cli/write/export/formats.h"
#include "cli/write/html/page.h"
#include "cli/write/html/page_template.h"
#include "cli/write/profile/dhat.h"
#include "cli/write/report/tables/tables.h"

#include <cstdint>
#include <cstdlib>
#include <string_view>

using namespace heapprof::cli;

namespace {

void export_all(const Profile& profile) {
  for (const Device& device : profile.devices) {
    for (const ExportFormat& format : export_formats()) {
      StringSink sink;
      format.write(profile, {device.name, {}}, &sink);
      if (format.find_notes != nullptr) format.find_notes(profile, {device.name, {}});
      if (format.name != "dhat") continue;
      TextSource source(sink.text());
      if (!read_profile(&source, "exported")) std::abort();
    }
  }
}

void make_all_tables(const Profile& profile) {
  for (const ReportTable& table : report_tables()) {
    const CellTable made = make_table(table, profile, {});
    for (const std::vector<TableCell>& row : made.rows) {
      if (row.size() != made.columns.size()) std::abort();
    }
    if (table_csv(table.name, made).empty() || table_json(table.name, made).empty()) std::abort();
  }
}

size_t count_of(std::string_view text, std::string_view what) {
  size_t count = 0;
  for (size_t at = text.find(what); at != std::string_view::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

// Nothing of a profile adds an element to its page, or ends one.
void make_page(const Profile& profile) {
  StringSink sink;
  write_report_page({&profile, "input", find_warnings(profile)}, &sink);
  const PageTemplate bare = page_template();
  const size_t blocks = 4 + 2 * profile.devices.size();  // summary, tree, scopes, texts; a curve and sites of each
  for (const char* tag : {"<script", "</script", "<!--"}) {
    const size_t own = count_of(bare.head, tag) + count_of(bare.tail, tag);
    if (count_of(sink.text(), tag) != own + (std::string_view(tag) == "<!--" ? 0 : blocks)) std::abort();
  }
}

void name_all(Profile profile) {
  const bool was_right = find_violations(profile).empty();
  const NamelessFrames nameless = find_nameless_frames(profile);
  SymbolTable table;
  for (const Location& location : nameless.locations) {
    std::vector<SourceFrame>& frames = table.frames.emplace_back();
    if (location.svma % 4 == 0) continue;
    if (location.svma % 4 == 1) frames.push_back({"inner", "/a.h", static_cast<uint32_t>(location.svma % 7), true});
    frames.push_back({location.svma % 3 == 0 ? "" : "outer", "/a.c", 1, false});
  }
  add_names(nameless, table, &profile);
  if (was_right && !find_violations(profile).empty()) std::abort();
  StringSink sink;
  write_dhat(profile, &sink);
  TextSource source(sink.text());
  if (!read_profile(&source, "named")) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  TextSource source(std::string_view(reinterpret_cast<const char*>(data), size));
  const Result<Profile> first = read_profile(&source, "input");
  if (!first) {
    if (first.problem().exit_code != 3 || first.problem().what.empty()) std::abort();
    return 0;
  }
  const PlaceTree places = build_place_tree(*first);
  for (const Site& site : first->devices[0].sites) {
    const uint32_t place = places.place_node[site.node];
    if (place > site.node || (place == 0) != (site.node == 0)) std::abort();
  }
  const std::vector<FoldRules> all_rules = {{}, {{{"*a*", "", ""}}, 0, false, false, {}}, {{}, 0, true, false, {}}};
  for (const FoldRules& rules : all_rules) {
    Profile folded = *first;
    mark_folded(rules, &folded);
    const PlaceTree tree = build_place_tree(folded);
    for (const Device& device : folded.devices) {
      size_t sites = 0;
      for (const Place& place : find_places(folded, tree, device)) sites += place.sites.size();
      if (sites != device.sites.size()) std::abort();
      for (const Site& site : device.sites) {
        if ((tree.place_node[site.node] == 0) != (site.node == 0)) std::abort();
      }
    }
    for (const std::string& name : find_folded_names(folded)) {
      if (name.empty() || rules.all_frames) std::abort();
    }
  }
  if (can_have_findings(*first)) {
    find_script_hint(*first);
    for (const Finding& finding : find_findings(*first, places)) {
      if (finding.id.empty() || finding.device >= first->devices.size()) std::abort();
    }
  }
  StringSink once;
  write_dhat(*first, &once);
  TextSource again(once.text());
  const Result<Profile> second = read_profile(&again, "again");
  if (!second) std::abort();
  StringSink twice;
  write_dhat(*second, &twice);
  if (once.text() != twice.text()) std::abort();
  export_all(*first);
  make_all_tables(*first);
  make_page(*first);
  name_all(*first);
  return 0;
}
