// cli/read/device_reader.cc: objects with a stack are read with the list of fields, and everything else by hand.
//
// Fields come from visit_… of cli/model/profile/fields.h, which the writer uses too, so neither can have one that the
// other lacks. A stack or a list is not a field, so each object's own reader handles these keys. A repeated name is
// refused, because it is ambiguous.
#include "cli/read/extension_parts.h"
#include "cli/read/field_reader.h"

namespace heapprof::cli {
namespace {

// An object with a stack (without one if `points` is null) and the fields that visit(reader) knows: other(key) takes
// the rest.
template <typename Visit, typename Other>
void read_stacked(JsonPull* json, PointReader* points, uint32_t* node, Visit&& visit, Other&& other) {
  if (!json->begin_object()) return;
  uint64_t seen = 0;
  std::string key;
  while (json->next_key(&key)) {
    if (key == "fs" && points != nullptr) {
      if (*node != 0) json->fail("the name \"fs\" comes twice in one object");
      points->read_stack(json, node);
      continue;
    }
    FieldReader reader(json, key);
    visit(reader);
    if (reader.index() < 0) {
      if (!other(key)) json->skip_value();
      continue;
    }
    if ((seen >> reader.index() & 1) != 0)
      json->fail("the name \"" + escape_controls(key) + "\" comes twice in one object");
    seen |= uint64_t{1} << reader.index();
  }
}

void read_live_site(JsonPull* json, PointReader* points, LiveSite* live_site) {
  read_stacked(
      json, points, &live_site->node, [live_site](FieldReader& reader) { visit_live_site(*live_site, reader); },
      [](const std::string&) { return false; });
}

void read_refusal(JsonPull* json, PointReader* points, Refusal* refusal) {
  read_stacked(
      json, points, &refusal->node, [refusal](FieldReader& reader) { visit_refusal(*refusal, reader); },
      [&](const std::string& key) {
        if (key != "holders" || !refusal->live_sites.empty()) return false;
        if (!json->begin_array()) return true;
        while (json->next_element() && !json->failed())
          read_live_site(json, points, &refusal->live_sites.emplace_back());
        return true;
      });
}

void visit_part(OwnerPart* part, FieldReader& reader) { visit_owner_part(*part, reader); }
void visit_part(UntouchedPart* part, FieldReader& reader) { visit_untouched_part(*part, reader); }

// Reads an object that has fields, and a list of blocks by stack.
template <typename Part, typename VisitFields>
void read_blocks_of(JsonPull* json, PointReader* points, std::vector<Part>* parts, const VisitFields& visit_fields) {
  const auto read_part = [&](Part* part) {
    read_stacked(
        json, points, &part->node, [part](FieldReader& reader) { visit_part(part, reader); },
        [](const std::string&) { return false; });
  };
  uint32_t no_stack = 0;
  read_stacked(json, points, &no_stack, visit_fields, [&](const std::string& key) {
    if (key != "blocks_of" || !parts->empty()) return false;
    if (!json->begin_array()) return true;
    while (json->next_element() && !json->failed()) read_part(&parts->emplace_back());
    return true;
  });
}

void read_named_site(JsonPull* json, PointReader* points, NamedSite* site) {
  read_stacked(
      json, points, &site->node, [site](FieldReader& reader) { visit_named_site(*site, reader); },
      [](const std::string&) { return false; });
}

void read_named(JsonPull* json, PointReader* points, NamedMemory* named) {
  uint32_t no_stack = 0;
  read_stacked(
      json, points, &no_stack, [named](FieldReader& reader) { visit_named(*named, reader); },
      [&](const std::string& key) {
        if (key != "sites" || !named->sites.empty()) return false;
        if (!json->begin_array()) return true;
        while (json->next_element() && !json->failed()) read_named_site(json, points, &named->sites.emplace_back());
        return true;
      });
}

void read_api_call(JsonPull* json, PointReader* points, ApiCall* call) {
  read_stacked(
      json, points, &call->node, [call](FieldReader& reader) { visit_api_call(*call, reader); },
      [](const std::string&) { return false; });
}

void read_estimate(JsonPull* json, PointReader* points, Estimate* estimate) {
  read_stacked(
      json, points, &estimate->node, [estimate](FieldReader& reader) { visit_estimate(*estimate, reader); },
      [](const std::string&) { return false; });
}

void read_large_block(JsonPull* json, PointReader* points, LargeBlock* block) {
  read_stacked(
      json, points, &block->node, [block](FieldReader& reader) { visit_large_block(*block, reader); },
      [](const std::string&) { return false; });
}

void read_snapshot_device(JsonPull* json, PointReader* points, SnapshotDevice* device) {
  uint32_t no_stack = 0;
  read_stacked(
      json, points, &no_stack, [device](FieldReader& reader) { visit_snapshot_device(*device, reader); },
      [&](const std::string& key) {
        if (key != "largest" || !device->largest.empty()) return false;
        if (!json->begin_array()) return true;
        while (json->next_element() && !json->failed()) read_large_block(json, points, &device->largest.emplace_back());
        return true;
      });
}

void read_tensor_site(JsonPull* json, PointReader* points, TensorSite* site) {
  read_stacked(
      json, points, &site->node, [site](FieldReader& reader) { visit_tensor_site(*site, reader); },
      [](const std::string&) { return false; });
}

void read_large_tensor(JsonPull* json, PointReader* points, LargeTensor* tensor) {
  read_stacked(
      json, points, &tensor->node, [tensor](FieldReader& reader) { visit_large_tensor(*tensor, reader); },
      [](const std::string&) { return false; });
}

void read_tensors(JsonPull* json, PointReader* points, std::vector<SnapshotTensors>* all) {
  if (!json->begin_array()) return;
  while (json->next_element() && !json->failed()) {
    SnapshotTensors& tensors = all->emplace_back();
    const auto read_sites = [&] {
      if (!json->begin_array()) return;
      while (json->next_element() && !json->failed()) read_tensor_site(json, points, &tensors.sites.emplace_back());
    };
    const auto read_largest = [&] {
      if (!json->begin_array()) return;
      while (json->next_element() && !json->failed()) read_large_tensor(json, points, &tensors.largest.emplace_back());
    };
    MemberReader(
        json, {{"device", [&] { read_text(json, &tensors.device); }}, {"sites", read_sites}, {"largest", read_largest}})
        .read();
  }
}

void read_snapshot(JsonPull* json, PointReader* points, Snapshot* snapshot) {
  uint32_t no_stack = 0;
  read_stacked(
      json, points, &no_stack, [snapshot](FieldReader& reader) { visit_snapshot(*snapshot, reader); },
      [&](const std::string& key) {
        if (key == "lost_tensors_count") return json->read_unsigned(&snapshot->lost_tensors), true;
        if (key == "tensors" && snapshot->tensors.empty()) return read_tensors(json, points, &snapshot->tensors), true;
        if (key != "devices" || !snapshot->devices.empty()) return false;
        if (!json->begin_array()) return true;
        while (json->next_element() && !json->failed())
          read_snapshot_device(json, points, &snapshot->devices.emplace_back());
        return true;
      });
}

}  // namespace

void read_refusals(JsonPull* json, PointReader* points, std::vector<Refusal>* refusals) {
  if (!json->begin_array()) return;
  while (json->next_element() && !json->failed()) read_refusal(json, points, &refusals->emplace_back());
}

void read_lost_owners(JsonPull* json, PointReader* points, std::vector<LostOwners>* all) {
  if (!json->begin_array()) return;
  while (json->next_element() && !json->failed()) {
    LostOwners& owners = all->emplace_back();
    read_blocks_of(json, points, &owners.parts, [&](FieldReader& reader) { visit_lost_owners(owners, reader); });
  }
}

void read_held_by(JsonPull* json, PointReader* points, std::vector<Holder>* all) {
  if (!json->begin_array()) return;
  while (json->next_element() && !json->failed()) {
    Holder& holder = all->emplace_back();
    read_blocks_of(json, points, &holder.parts, [&](FieldReader& reader) { visit_holder(holder, reader); });
  }
}

void read_fragmentation(JsonPull* json, PointReader* points, Fragmentation* fragmentation) {
  read_blocks_of(json, points, &fragmentation->pinning,
                 [&](FieldReader& reader) { visit_fragmentation(*fragmentation, reader); });
}

void read_untouched(JsonPull* json, PointReader* points, Untouched* untouched) {
  read_blocks_of(json, points, &untouched->parts, [&](FieldReader& reader) { visit_untouched(*untouched, reader); });
}

void read_names(JsonPull* json, PointReader* points, std::vector<NamedMemory>* names) {
  if (!json->begin_array()) return;
  while (json->next_element() && !json->failed()) read_named(json, points, &names->emplace_back());
}

void read_segments(JsonPull* json, PointReader* points, SegmentsUse* segments) {
  const auto read_use = [&](SegmentUse* use) {
    uint32_t no_stack = 0;
    read_stacked(
        json, points, &no_stack, [use](FieldReader& reader) { visit_segment(*use, reader); },
        [](const std::string&) { return false; });
  };
  const auto read_moment = [&](SegmentsMoment* moment) {
    uint32_t no_stack = 0;
    read_stacked(
        json, points, &no_stack, [moment](FieldReader& reader) { visit_segments_moment(*moment, reader); },
        [&](const std::string& key) {
          if (key != "segments" || !moment->segments.empty()) return false;
          if (!json->begin_array()) return true;
          while (json->next_element() && !json->failed()) read_use(&moment->segments.emplace_back());
          return true;
        });
  };
  MemberReader(json, {{"at_peak", [&] { read_moment(&segments->at_peak); }},
                      {"at_end", [&] { read_moment(&segments->at_end); }},
                      {"at_refusal", [&] { read_moment(&segments->at_refusal); }}})
      .read();
}

void read_unseen(JsonPull* json, PointReader* points, UnseenMemory* unseen) {
  uint32_t no_stack = 0;
  read_stacked(
      json, points, &no_stack, [unseen](FieldReader& reader) { visit_unseen(*unseen, reader); },
      [&](const std::string& key) {
        if (key != "estimates" || !unseen->estimates.empty()) return false;
        if (!json->begin_array()) return true;
        while (json->next_element() && !json->failed()) read_estimate(json, points, &unseen->estimates.emplace_back());
        return true;
      });
}

void read_snapshots(JsonPull* json, PointReader* points, Snapshots* snapshots) {
  uint32_t no_stack = 0;
  read_stacked(
      json, points, &no_stack, [snapshots](FieldReader& reader) { visit_snapshots(*snapshots, reader); },
      [&](const std::string& key) {
        if (key != "snapshots" || !snapshots->snapshots.empty()) return false;
        if (!json->begin_array()) return true;
        while (json->next_element() && !json->failed()) {
          if (snapshots->snapshots.size() == kMostSnapshots) json->fail("there are more snapshots than heapprof reads");
          read_snapshot(json, points, &snapshots->snapshots.emplace_back());
        }
        return true;
      });
}

void read_part(JsonPull* json, MergedPart* part) {
  uint32_t no_stack = 0;
  const auto visit = [part](FieldReader& reader) {
    visit_merged_part(*part, reader);
    visit_job(part->job, reader);
  };
  read_stacked(json, nullptr, &no_stack, visit, [&](const std::string& key) {
    if (key != "places" || !part->rows.empty()) return false;
    read_structs(json, &part->rows, [](PartRow& row, FieldReader& reader) { visit_part_row(row, reader); });
    return true;
  });
}

void read_api(JsonPull* json, PointReader* points, DeviceApi* api) {
  const auto read_calls = [&] {
    if (!json->begin_array()) return;
    while (json->next_element() && !json->failed()) read_api_call(json, points, &api->calls.emplace_back());
  };
  const auto read_threads = [&] {
    read_structs(json, &api->threads, [](ApiThread& thread, FieldReader& reader) { visit_api_thread(thread, reader); });
  };
  MemberReader(json, {{"kernel_launches_count", [&] { json->read_unsigned(&api->kernel_launches); }},
                      {"calls", read_calls},
                      {"threads", read_threads}})
      .read();
}

}  // namespace heapprof::cli
