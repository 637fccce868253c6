// cli/model/judge/scope_subject.cc: see scope_subject.h.
#include "cli/model/judge/scope_subject.h"

#include "cli/base/text.h"

namespace heapprof::cli {

std::string scope_path_text(const ScopePath& path) {
  std::string text;
  for (const ScopeName& scope : path) {
    if (!text.empty()) text += " > ";
    if (!scope.category.empty()) text += escape_controls(scope.category) + ": ";
    text += scope.name.empty() ? "[no name]" : escape_controls(scope.name);
  }
  return text;
}

bool is_in_bytes(const ScopeSubject& subject) { return scope_metric_field(subject.metric).is_in_bytes; }

bool is_average(const ScopeSubject& subject) { return subject.is_per_run && !is_in_bytes(subject); }

const char* scope_word(const ScopeSubject& subject) {
  const ScopeMetricField& field = scope_metric_field(subject.metric);
  return subject.is_per_run ? field.average : field.word;
}

std::string scope_shown(const ScopeSubject& subject) {
  std::string text = subject.metric == ScopeMetric::kCalls ? escape_controls(subject.call)
                                                           : std::string(scope_metric_field(subject.metric).shown);
  return subject.is_per_run ? text + " per run" : text;
}

}  // namespace heapprof::cli
