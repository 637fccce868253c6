// tests/fuzz/budget_fuzz.cc: any bytes as a file of budgets: a problem with words, or budgets that judge a profile,
// whose verdicts every format of output takes, and whose raised limits are a file of as many budgets again that is then
// kept.
#include "cli/model/judge/budget_update.h"
#include "cli/model/judge/scope_numbers.h"
#include "cli/read/read_budget.h"
#include "cli/read/read_profile.h"
#include "cli/write/check/formats.h"

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

using namespace heapprof::cli;

namespace {

// 12,096 bytes of two blocks by main → grow, and 77 of one without a name that were never freed.
constexpr std::string_view kProfile =
    R"({"dhatFileVersion":2,"mode":"heap","verb":"Allocated","bklt":true,"bkacc":false,"tu":"instrs","Mtu":"Minstr",)"
    R"("tuth":500,"cmd":"./render small.usd","pid":7,"te":100,"tg":50,"pps":[)"
    R"({"tb":12096,"tbk":2,"tl":70,"mb":9312,"mbk":2,"gb":8000,"gbk":1,"eb":0,"ebk":0,"fs":[1,2]},)"
    R"({"tb":77,"tbk":1,"tl":0,"mb":77,"mbk":1,"gb":77,"gbk":1,"eb":77,"ebk":1,"fs":[3]}],)"
    R"x("ftbl":["[root]","0x1: main (a.cc:3)","0x2: grow(int) (a.cc:9)","0x3: ??? (in /lib/x.so)"]})x";

// load > json: parse, with a call in three.
Scopes scopes() {
  Scopes scopes;
  scopes.scopes.resize(2);
  scopes.scopes[0].name = "load";
  scopes.scopes[0].begun = 1;
  scopes.scopes[1].parent = 1;
  scopes.scopes[1].category = "json";
  scopes.scopes[1].name = "parse";
  scopes.scopes[1].begun = 3;
  scopes.scopes[1].memory = {{"host", 12'096, 2, 77, 1, 9'000}};
  scopes.scopes[1].calls = {{"copy to host", 1, 0, 0}, {"synchronize stream", UINT64_MAX / 200, 0, 0}};
  return scopes;
}

Verdict judge_one(const Budget& budget, const Profile& profile) {
  Verdict verdict;
  verdict.name = budget.name;
  verdict.command = budget.command;
  verdict.profile = "x.json";
  verdict.message = budget.message;
  Evidence evidence;
  evidence.subjects = find_subjects(budget, profile, false);
  for (Subject& subject : find_scope_subjects(budget, {profile}, &profile))
    evidence.subjects.push_back(std::move(subject));
  evidence.runs = {measure(budget, evidence.subjects, profile)};
  verdict.judged = judge(budget, evidence);
  verdict.devices = measure_devices({profile});
  find_culprits(budget, profile, nullptr, "", &verdict.judged);
  return verdict;
}

CheckReport judge_all(const BudgetFile& file, const Profile& profile) {
  CheckReport report;
  for (const Budget& named : file.budgets) {
    const Budget budget = with_defaults(file.defaults, named);
    std::vector<Problem> warnings;
    if (check_budget(budget, profile, "x.json", &warnings)) report.verdicts.push_back(judge_one(budget, profile));
  }
  return report;
}

void show(const CheckReport& report) {
  for (const CheckFormat& format : check_formats()) {
    StringSink sink;
    format.write(report, &sink);
  }
  render_check_text(report, {}, false);
  render_check_annotations(report);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const Profile profile = [] {
    TextSource source(kProfile);
    Profile read = *read_profile(&source, "x.json");
    read.scopes = scopes();
    read.api.kernel_launches = 1;
    return read;
  }();
  const Result<BudgetFile> file = parse_budget({reinterpret_cast<const char*>(data), size}, "heapprof.toml");
  if (!file) {
    if (file.problem().exit_code != 2 || file.problem().what.empty()) std::abort();
    return 0;
  }
  CheckReport report = judge_all(*file, profile);
  show(report);
  const RaisedLimits raised = raise_limits(file->text, &report.verdicts);
  const Result<BudgetFile> again = parse_budget(raised.text, "heapprof.toml");
  if (!again || again->budgets.size() != file->budgets.size()) std::abort();
  CheckReport kept = judge_all(*again, profile);
  if (raise_limits(again->text, &kept.verdicts).count != 0) std::abort();
  return 0;
}
