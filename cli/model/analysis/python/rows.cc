// cli/model/analysis/python/rows.cc: see rows.h. Of an import it keeps the frame of the machinery that looks the
// module up, what runs right inside of it (which names the module), and a reload() right outside of it.
#include "cli/model/analysis/python/rows.h"

#include <algorithm>

namespace heapprof::cli {

PythonRows::PythonRows(const Profile& profile) : profile_(profile) {
  if (has_python(profile)) frames_.emplace(profile);
}

void PythonRows::find(const std::vector<uint32_t>& stack, size_t taken, std::vector<uint32_t>* besides) const {
  besides->clear();
  if (!frames_) return;
  const auto kind = [&](size_t at) { return frames_->of_frame(stack[at]); };
  const auto is_python = [&](size_t at) { return is_of_python(profile_, profile_.frames[stack[at]]); };
  size_t own = 0;
  while (own < stack.size() && kind(own) != PythonFrame::kOwn) ++own;
  if (own < taken) return;
  if (own == stack.size()) return find_start(stack, taken, besides);
  size_t find = own;  // the machinery's outermost frame of the import, or the user's own
  for (size_t at = own; at-- > 0;) {
    if (kind(at) == PythonFrame::kImport && profile_.frames[stack[at]].function == "_find_and_load") {
      find = at;
      break;
    }
  }
  const auto keep = [&](size_t at) {
    if (at >= taken && at < own) besides->push_back(stack[at]);
  };
  if (find < own) {
    size_t module = find;  // what runs inside of the machinery
    while (module-- > 0 && (!is_python(module) || kind(module) == PythonFrame::kImport)) {
    }
    keep(module);  // none: too large a number
    keep(find);
    size_t outer = find + 1;
    while (outer < own && !is_python(outer)) ++outer;
    if (outer < own && profile_.frames[stack[outer]].function == "reload") keep(outer);
  }
  size_t kept = 0;
  for (size_t at = own; at < stack.size() && kept < kMostOwn; ++at) {
    if (kind(at) != PythonFrame::kOwn) continue;
    besides->push_back(stack[at]);
    ++kept;
  }
}

void PythonRows::find_start(const std::vector<uint32_t>& stack, size_t taken, std::vector<uint32_t>* besides) const {
  for (size_t at = stack.size(); at-- > taken;) {
    if (!profile_.frames[stack[at]].function.starts_with("Py_Initialize")) continue;
    besides->push_back(stack[at]);
    return;
  }
}

}  // namespace heapprof::cli
