// cli/model/analysis/python/rows.cc: see rows.h. GroupRows finds the same for each of a million stacks, by what it
// knows of their nodes (group_rows.cc); this is the plain way, for a stack.
#include "cli/model/analysis/python/rows.h"

#include <algorithm>
#include <map>
#include <string>

namespace heapprof::cli {

PythonRows::PythonRows(const Profile& profile) : profile_(profile) {
  if (!has_python(profile)) return;
  frames_.emplace(profile);
  std::map<std::string, uint32_t> numbers;
  const auto number_of = [&numbers](const std::string& name) {
    return numbers.try_emplace(name, kHosts + 1 + static_cast<uint32_t>(numbers.size())).first->second;
  };
  const uint32_t standard = number_of("");
  packages_.resize(profile.frames.size(), 0);
  for (uint32_t i = 0; i < profile.frames.size(); ++i) {
    const Frame& frame = profile.frames[i];
    std::string name;
    switch (frames_->of_frame(i)) {
      case PythonFrame::kHost: packages_[i] = kHosts; break;
      case PythonFrame::kStandard: packages_[i] = standard; break;
      case PythonFrame::kPackage: name = frames_->paths().package(frame.file); break;
      case PythonFrame::kLibrary:
        if (frame.module >= profile.modules.size()) break;
        if (frames_->paths().object(frame.module) == ObjectOrigin::kStandard)
          packages_[i] = standard;
        else
          name = frames_->paths().package_of_object(frame.module);
        break;
      default: break;
    }
    if (!name.empty()) packages_[i] = number_of(name);
  }
}

bool PythonRows::find(const std::vector<uint32_t>& stack, size_t taken, std::vector<uint32_t>* besides) const {
  besides->clear();
  if (!frames_) return false;
  const size_t size = stack.size();
  size_t own = 0;
  while (own < size && kind(stack[own]) != PythonFrame::kOwn) ++own;
  if (own < taken) return true;
  std::vector<size_t> kept;
  size_t find = own;    // the machinery's outermost frame of the import, or the user's own
  size_t start = own;   // of the interpreter
  size_t unread = own;  // a function that runs Python
  size_t machinery = own;
  size_t tensor = own;
  size_t runs = 0;
  bool is_inside = own < size;  // of Python
  bool run_is_inside = false;
  for (size_t at = own; at-- > 0;) {
    const uint32_t frame = stack[at];
    if (tensor == own && asks_for_tensor(frame)) tensor = at;
    if (machinery == own && kind(frame) == PythonFrame::kImport) machinery = at;
    if (find == own && kind(frame) == PythonFrame::kImport && is_called(frame, "_find_and_load")) find = at;
    if (start == own && is_start(frame)) start = at;
    if (unread == own && kind(frame) == PythonFrame::kEvaluator) unread = at;
    is_inside = is_inside || is_python(frame);
    if (package(frame) == 0 || (package(frame) == kHosts && is_inside)) continue;
    if (runs == 0 || package(stack[kept.back()]) != package(frame) || run_is_inside != is_inside) {
      kept.push_back(at);
      run_is_inside = is_inside;
      ++runs;
    } else if (stands_for_run(frame) || !is_inside) {
      kept.back() = at;
    }
  }
  if (runs > kMostRuns) kept.erase(kept.begin() + 1, kept.end() - (kMostRuns - 1));
  if (tensor < own) kept.push_back(tensor);
  if (machinery < own) kept.push_back(machinery);
  if (find < own) {
    size_t module = find;  // what runs inside of the machinery
    while (module-- > 0 && (!is_python(stack[module]) || kind(stack[module]) == PythonFrame::kImport)) {
    }
    if (module < find) kept.push_back(module);
    kept.push_back(find);
    size_t outer = find + 1;
    while (outer < own && !is_python(stack[outer])) ++outer;
    if (outer < own && is_called(stack[outer], "reload")) kept.push_back(outer);
    if (own == size) {
      while (outer < own && !is_line(stack[outer])) ++outer;
      if (outer < own) kept.push_back(outer);
    }
  }
  if (own == size && start < own) kept.push_back(start);
  if (own == size && runs == 0 && unread < own) kept.push_back(unread);
  std::sort(kept.begin(), kept.end());
  kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
  size_t lines = 0;
  for (size_t at = own; at < size && lines < kMostOwn; ++at) {
    if (kind(stack[at]) != PythonFrame::kOwn) continue;
    kept.push_back(at);
    ++lines;
  }
  size_t next = taken;
  for (const size_t at : kept) {
    if (at < taken) continue;
    if (at != next) besides->push_back(kLeftOut);
    besides->push_back(stack[at]);
    next = at + 1;
  }
  return runs > 0 || lines > 0;
}

}  // namespace heapprof::cli
