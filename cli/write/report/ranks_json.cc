// cli/write/report/ranks_json.cc: see json_parts.h.
#include "cli/model/profile/fields.h"
#include "cli/write/encode/field_writer.h"
#include "cli/write/report/json_parts.h"
#include "cli/write/report/report_sections.h"
#include "cli/write/text/run_text.h"

#include <string>

namespace heapprof::cli {

void write_inputs(const Profile& profile, JsonWriter* json) {
  const FieldWriter fields(json);
  write_structs(
      "inputs", profile.merged,
      [&](const MergedPart& part) {
        fields("input", part.input);
        fields("file", part.file);
        fields("pid", part.pid);
        fields("end", end_text(part.end));
        if (part.job.has_rank()) visit_job(part.job, fields);
        fields("device", part.device);
        fields("peak_bytes", part.peak_bytes);
        fields("leaked_bytes", part.leaked_bytes);
        fields("total_bytes", part.total_bytes);
        fields("allocations_count", part.total_blocks);
        if (part.rows.empty()) return;
        write_structs(
            "places", part.rows, [&](const PartRow& row) { visit_part_row(row, fields); }, json);
      },
      json);
}

void write_spread(const Profile& profile, const Device& device, const Place& place, JsonWriter* json) {
  const std::optional<uint32_t> site = largest_spread_site(device, place);
  if (!site) return;
  const SiteSpread& spread = device.sites[*site].spread[0];
  const FieldWriter fields(json);
  write_struct(
      "by_input",
      [&] {
        fields("stacks_count", uint64_t{place.sites.size()});
        fields("inputs_count", spread.inputs);
        for (size_t i = 0; i < kSpreadFields; ++i) {
          const std::string name(spread_fields()[i].name);
          fields(name + "_bytes", device.sites[*site].numbers.*spread_fields()[i].number);
          fields(name + "_min_bytes", spread.of[i].min);
          fields(name + "_max_bytes", spread.of[i].max);
          fields(name + "_max_input", spread.of[i].max_input);
          const Job& job = part_of_input(profile, spread.of[i].max_input).job;
          if (job.has_rank()) fields(name + "_max_rank", job.rank);
        }
      },
      json);
}

}  // namespace heapprof::cli
