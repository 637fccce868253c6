// cli/write/encode/frame_json.h: one frame in the JSON of reports and findings: writes the known members into an open
// object.
#pragma once

#include "cli/model/profile/profile.h"
#include "cli/write/encode/json_stream.h"

#include <cstdint>

namespace heapprof::cli {

inline void write_frame(const Profile& profile, uint32_t index, JsonWriter* json) {
  const Frame& frame = profile.frames[index];
  if (!frame.function.empty()) json->text("function", frame.function);
  if (!frame.file.empty()) json->text("file", frame.file);
  if (frame.line > 0) json->count("line", frame.line);
  if (frame.inferred) json->flag("inferred", true);
  if (frame.module < profile.modules.size()) json->text("module", profile.modules[frame.module].path);
  if (frame.function.empty()) json->count("address", frame.svma);
}

}  // namespace heapprof::cli
