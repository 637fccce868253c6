// cli/model/analysis/operators.cc: a scope comes after its parent, so one pass is enough to follow the nesting.
#include "cli/model/analysis/operators.h"

#include "cli/base/saturating.h"

#include <algorithm>
#include <map>

namespace heapprof::cli {

namespace {

std::string innermost_name(const std::string& path) {
  constexpr std::string_view kStep = " > ";
  const size_t at = path.rfind(kStep);
  return at == std::string::npos ? path : path.substr(at + kStep.size());
}

class OperatorSums {
 public:
  explicit OperatorSums(const Scopes& scopes) : scopes_(scopes.scopes), with_inner_(memory_with_inner(scopes)) {}

  std::vector<OperatorSum> take() {
    std::vector<bool> is_counted(scopes_.size());  // by scope: whether it was counted at its forward operator
    for (size_t i = 0; i < scopes_.size(); ++i) {
      const Scope& scope = scopes_[i];
      if (scope.parent != 0 && is_counted[scope.parent - 1]) {
        is_counted[i] = true;
      } else if (!scope.backward_of.empty()) {
        is_counted[i] = true;
        count_backward(i);
      } else if (scope.is_operator) {
        add(scope.begun, scope.own_time_ns, scope.memory, &sums_[scope.name]);
      }
    }
    std::vector<OperatorSum> sums;
    for (auto& [name, sum] : sums_) {
      sum.name = name;
      sums.push_back(std::move(sum));
    }
    std::stable_sort(sums.begin(), sums.end(), [](const OperatorSum& a, const OperatorSum& b) {
      return add_saturating(a.own_time_ns, a.backward_time_ns) > add_saturating(b.own_time_ns, b.backward_time_ns);
    });
    return sums;
  }

 private:
  static void add(uint64_t begun, uint64_t time_ns, const std::vector<ScopeMemory>& memory, OperatorSum* sum) {
    sum->begun = add_saturating(sum->begun, begun);
    sum->own_time_ns = add_saturating(sum->own_time_ns, time_ns);
    for (const ScopeMemory& of_device : memory) add_scope_memory(of_device, &sum->memory);
  }

  // Work whose forward operator is unknown counts for the backward function itself.
  void count_backward(size_t index) {
    const Scope& scope = scopes_[index];
    uint64_t begun = scope.begun, time_ns = scope.time_ns;
    std::vector<ScopeMemory> memory = with_inner_[index];
    for (const BackwardWork& work : scope.backward_of) {
      OperatorSum& sum = sums_[innermost_name(work.operator_path)];
      sum.backward_begun = add_saturating(sum.backward_begun, work.begun);
      sum.backward_time_ns = add_saturating(sum.backward_time_ns, work.time_ns);
      begun = rest_of(begun, work.begun);
      time_ns = rest_of(time_ns, work.time_ns);
      for (const ScopeMemory& of_device : work.memory) {
        add_scope_memory(of_device, &sum.backward_memory);
        for (ScopeMemory& all : memory) {
          if (all.device != of_device.device) continue;
          all.allocated_bytes = rest_of(all.allocated_bytes, of_device.allocated_bytes);
          all.allocated_blocks = rest_of(all.allocated_blocks, of_device.allocated_blocks);
          all.freed_bytes = rest_of(all.freed_bytes, of_device.freed_bytes);
          all.freed_blocks = rest_of(all.freed_blocks, of_device.freed_blocks);
        }
      }
    }
    if (begun != 0) add(begun, time_ns, memory, &sums_[scope.name]);
  }

  const std::vector<Scope>& scopes_;
  std::vector<std::vector<ScopeMemory>> with_inner_;
  std::map<std::string, OperatorSum> sums_;
};

}  // namespace

std::vector<OperatorSum> sum_operators(const Scopes& scopes) {
  const bool has_any = std::any_of(scopes.scopes.begin(), scopes.scopes.end(),
                                   [](const Scope& scope) { return scope.is_operator || !scope.backward_of.empty(); });
  return has_any ? OperatorSums(scopes).take() : std::vector<OperatorSum>{};
}

}  // namespace heapprof::cli
