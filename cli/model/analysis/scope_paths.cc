// cli/model/analysis/scope_paths.cc: if a recursive function opens a scope, its paths are as long as the recursion is
// deep, so all path texts together would take the square of the depth. So texts are made one by one, and only if a glob
// needs them.
#include "cli/model/analysis/scope_paths.h"

#include "cli/base/glob.h"
#include "cli/base/text.h"

namespace heapprof::cli {

namespace {

std::string own_name(const Scope& scope) { return scope.name.empty() ? "[no name]" : escape_controls(scope.name); }

template <typename NameOf>
std::string path_by(const NameOf& name_of, const Scopes& scopes, uint32_t index) {
  constexpr int kMostLevels = 256;
  std::vector<const Scope*> levels;
  uint32_t place = index + 1;
  for (; place != 0 && levels.size() < kMostLevels; place = scopes.scopes[place - 1].parent)
    levels.push_back(&scopes.scopes[place - 1]);
  std::string text = place == 0 ? "" : "… > ";
  for (size_t i = levels.size(); i-- > 0;) text += name_of(*levels[i]) + (i == 0 ? "" : " > ");
  return text;
}

}  // namespace

std::string name_of_scope(const Scope& scope) {
  return scope.category.empty() ? own_name(scope) : escape_controls(scope.category) + ": " + own_name(scope);
}

std::string path_of_scope(const Scopes& scopes, uint32_t index) { return path_by(name_of_scope, scopes, index); }

bool is_scope_meant(const Scopes& scopes, uint32_t index, std::string_view glob) {
  const Scope& scope = scopes.scopes[index];
  if (glob_matches(glob, own_name(scope)) || glob_matches(glob, name_of_scope(scope))) return true;
  return scope.parent != 0 &&
         (glob_matches(glob, path_of_scope(scopes, index)) || glob_matches(glob, path_by(own_name, scopes, index)));
}

std::vector<uint32_t> find_scopes_meant(const Scopes& scopes, std::string_view glob) {
  std::vector<uint32_t> found;
  for (uint32_t i = 0; i < scopes.scopes.size(); ++i) {
    if (is_scope_meant(scopes, i, glob)) found.push_back(i);
  }
  return found;
}

}  // namespace heapprof::cli
