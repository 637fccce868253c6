// cli/model/analysis/python/rows.cc: see rows.h. This is the simple way, for one stack. For a million stacks, GroupRows
// finds the same from facts about their nodes (group_rows.cc).
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
    return numbers.try_emplace(name, 1 + static_cast<uint32_t>(numbers.size())).first->second;
  };
  const uint32_t standard = number_of("");
  packages_.resize(profile.frames.size(), 0);
  for (uint32_t i = 0; i < profile.frames.size(); ++i) {
    const Frame& frame = profile.frames[i];
    const PythonFrame kind = frames_->of_frame(i);
    const bool is_object = kind == PythonFrame::kLibrary && frame.module < profile.modules.size();
    const bool is_standard = is_object && frames_->paths().object(frame.module) == ObjectOrigin::kStandard;
    std::string name;
    if (kind == PythonFrame::kPackage) name = frames_->paths().package(frame.file);
    if (is_object) name = frames_->paths().package_of_object(frame.module);
    if (kind == PythonFrame::kStandard || is_standard) {
      packages_[i] = standard;
    } else if (!name.empty()) {
      packages_[i] = number_of(name);
    }
  }
}

bool PythonRows::find(const std::vector<uint32_t>& stack, size_t taken, std::vector<uint32_t>* besides) const {
  besides->clear();
  if (!frames_) return false;
  const size_t size = stack.size();
  size_t own = 0;
  while (own < size && kind(stack[own]) != PythonFrame::kOwn) ++own;
  if (own < taken) return true;
  size_t python = own;  // further out than the user frames
  while (python < size && !is_python(stack[python])) ++python;
  const bool has_own = own < size;
  bool is_inside = python < size;
  constexpr size_t kNone = SIZE_MAX;
  size_t find = kNone, machinery = kNone, module = kNone, start = kNone, unread = kNone, tensor = kNone;
  size_t line = kNone, asks = kNone, instead = kNone, outside = kNone, interpreter = kNone;
  size_t generated = kNone;
  bool has_package = false;
  uint32_t first_package = 0;
  std::vector<size_t> runs;
  for (size_t at = own; at-- > 0;) {
    const uint32_t frame = stack[at];
    const PythonFrame kind = this->kind(frame);
    if (!is_inside && kind == PythonFrame::kGenerated) generated = at;
    is_inside = is_inside || is_python(frame);
    if (!is_inside && (kind == PythonFrame::kHost || kind == PythonFrame::kLibrary)) outside = at;
    if (interpreter == kNone && kind == PythonFrame::kInterpreter) interpreter = at;
    if (is_python(frame)) unread = kNone;
    if (unread == kNone && kind == PythonFrame::kEvaluator) unread = at;
    if (tensor == kNone && asks_for_tensor(frame)) tensor = at;
    if (start == kNone && is_start(frame)) start = at;
    if (machinery != kNone && module == kNone && is_python(frame) && kind != PythonFrame::kImport) module = at;
    if (machinery == kNone && kind == PythonFrame::kImport) {
      machinery = at;
      asks = line;
    }
    if (find == kNone && kind == PythonFrame::kImport && is_called(frame, "_find_and_load")) find = at;
    if (is_line(frame)) line = at;
    if (kind == PythonFrame::kPackage && !has_package) {
      has_package = true;
      first_package = package(frame);
    }
    if (stands_in(kind, has_package && package(frame) == first_package, has_package, instead != kNone)) instead = at;
    if (package(frame) == 0) continue;
    if (runs.empty() || package(stack[runs.back()]) != package(frame)) {
      runs.push_back(at);
    } else if (is_line(frame)) {
      runs.back() = at;
    }
  }
  std::vector<size_t> kept(runs.end() - static_cast<std::ptrdiff_t>(std::min(runs.size(), kMostRuns)), runs.end());
  for (const size_t at : {tensor, start, unread, asks, machinery, module, find, outside, generated}) kept.push_back(at);
  if (find != kNone) {
    size_t outer = find + 1;
    while (outer < own && !is_python(stack[outer])) ++outer;
    if (outer < own && is_called(stack[outer], "reload")) kept.push_back(outer);
  }
  if (!has_own || !is_python(stack[own])) kept.push_back(instead);
  if (!has_own && runs.empty()) kept.push_back(interpreter);
  std::erase(kept, kNone);
  std::sort(kept.begin(), kept.end());
  kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
  size_t lines = 0;
  for (size_t at = own; at < size && lines < kMostOwn; ++at) {
    if (this->kind(stack[at]) != PythonFrame::kOwn) continue;
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
  return is_inside && (has_own || !runs.empty());
}

}  // namespace heapprof::cli
