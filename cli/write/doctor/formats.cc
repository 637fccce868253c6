// cli/write/doctor/formats.cc: one line per format.
#include "cli/write/doctor/formats.h"

namespace heapprof::cli {

std::span<const DoctorFormat> doctor_formats() {
  static constexpr DoctorFormat kFormats[] = {{"text", render_doctor_text}, {"json", render_doctor_json}};
  return kFormats;
}

}  // namespace heapprof::cli
