// cli/write/report/scopes/scope_sections.cc: see scope_sections.h.
#include "cli/write/report/scopes/scope_sections.h"

#include "cli/write/report/scopes/critical_path_text.h"
#include "cli/write/report/scopes/instances_text.h"
#include "cli/write/report/scopes/scopes_text.h"

namespace heapprof::cli {

bool is_about_scopes(const ReportView& view) {
  return view.scopes || view.stable || !view.instances.empty() || view.critical_path;
}

std::string scope_sections(const Profile& profile, const ReportView& view, size_t columns) {
  std::string text;
  if (view.scopes || view.stable)
    text += scopes_text(profile, {columns, view.exact_bytes, view.stable, view.categories});
  if (!view.instances.empty()) {
    InstancesLook look{columns, view.exact_bytes};
    if (view.top) look.top = *view.top;
    text += instances_text(profile, view.instances, look);
  }
  if (view.critical_path) {
    CriticalPathLook look{columns};
    if (view.top) look.top = *view.top;
    text += critical_path_text(profile.scopes, look);
  }
  return text;
}

}  // namespace heapprof::cli
