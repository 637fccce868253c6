// cli/check/check_outputs.h: what `heapprof check` shows and writes, and the tested commit.
#pragma once

#include "cli/base/result.h"
#include "cli/check/check.h"
#include "cli/model/judge/budget.h"
#include "cli/model/judge/verdict.h"
#include "cli/write/check/check_report.h"

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace heapprof::cli {

// ---- check_files.cc ----

// What `heapprof check` writes besides its outputs: kept profiles, baselines, raised limits.

// The copy is complete or not there.
Result<Done> copy_file(const std::string& from, const std::string& to);
// Copies the profile, and makes the folders above the baseline. Does nothing if both are one file.
Result<Done> replace_baseline(const std::string& profile, const std::string& baseline);
// Raises limits in the file itself and keeps its mode, but only if the file has not changed while programs ran. Returns
// the number of raised limits. The verdicts are judged again by the written limits.
Result<size_t> update_budget_file(const BudgetFile& file, std::vector<Verdict>* verdicts);

// ---- check_outputs.cc ----

// The verdicts on the terminal, in files, and on GitHub.

// A problem if one of the files cannot be made, or would overwrite another; found before the program runs.
Result<Done> try_outputs(const CheckOptions& options);
// Writes all outputs. An error with one is reported, and the others are still written. False: there was an error.
bool write_outputs(const CheckReport& report, const CheckOptions& options);

// The nearest folder, from the current one upwards, that holds .git. Without one, the workspace that GitHub or GitLab
// names, if the current folder is in it; else the current folder. These services identify files by their path below it.
std::string project_folder();
std::string folder_in_project();  // the current one, as "ci/" or ""

// ---- commit.cc ----

// Which commit is being tested: as CI says, else as git says for the current folder.

// `given` if it is not empty; else GITHUB_SHA, CI_COMMIT_SHA; else git's HEAD; empty if unknown.
std::string find_commit(const std::string& given);

// The same by the given environment alone, without git. For tests.
std::string commit_of_environment(const std::function<const char*(const char* variable)>& environment);

}  // namespace heapprof::cli
