// cli/base/problems.h: every error and warning of the command-line tool, in one place.
//
// To add one, declare a function here, put its text into the problems_*.cc of its section, and add a line to
// HEAPPROF_PROBLEMS; a unit test walks that list. An id is never reused. exit_code 0 makes it a warning. `program` and
// `file` arguments are what the user typed.
#pragma once

#include "cli/base/problem_arguments.h"
#include "cli/base/result.h"
#include "cli/base/terminal.h"

#include <cstdint>
#include <string>
#include <vector>

namespace heapprof::cli {

// X(id, function, sample arguments)
#define HEAPPROF_PROBLEMS(X)                                                                                       \
  X("HP001", program_not_found, ("./servr"))                                                                       \
  X("HP002", program_not_executable, ("./server", "permission denied"))                                            \
  X("HP003", program_is_directory, ("./build"))                                                                    \
  X("HP004", program_is_static, ("./server"))                                                                      \
  X("HP005", program_has_privileges, ("/usr/bin/passwd", "is setuid"))                                             \
  X("HP006", program_for_other_machine, ("./server", "a 32-bit x86 program"))                                      \
  X("HP007", program_needs_other_libc, ("./server", "/lib/ld-musl-x86_64.so.1"))                                   \
  X("HP008", program_without_loader, ("./server", "/lib64/ld-linux-x86-64.so.9"))                                  \
  X("HP009", interpreter_not_found, ("./run.sh", "/opt/lua"))                                                      \
  X("HP010", interpreters_too_deep, ("./run.sh"))                                                                  \
  X("HP011", program_has_unknown_format, ("./notes.bin"))                                                          \
  X("HP012", program_has_sanitizer, ("./server", "AddressSanitizer", "-fsanitize=address"))                        \
  X("HP013", program_defines_malloc, ("./server", "malloc, free"))                                                 \
  X("HP014", program_is_damaged, ("./server", "the program headers lie beyond the end of the file"))               \
  X("HP015", program_not_inspected, ("./server", "permission denied"))                                             \
  X("HP016", program_hides_allocations, ("./server"))                                                              \
  X("HP017", kernel_has_other_pages, (65536))                                                                      \
  X("HP030", agent_not_found, ("/usr/lib/heapprof/libheapprof.so"))                                                \
  X("HP031", output_not_writable, ("/proc/x.json", "permission denied"))                                           \
  X("HP032", disk_full, ("x.json", "no space left on device"))                                                     \
  X("HP033", nothing_profiled, ("./server"))                                                                       \
  X("HP034", protocol_mismatch, (Versions{2, 1}))                                                                  \
  X("HP035", arena_refused, ("memfd_create: operation refused"))                                                   \
  X("HP036", agent_stopped, ("the agent could not map its memory"))                                                \
  X("HP037", launch_failed, ("./server", "resource temporarily unavailable"))                                      \
  X("HP038", events_lost, (Share{1204, 18400000}))                                                                 \
  X("HP039", stacks_truncated, (Share{12, 18400000}))                                                              \
  X("HP310", inner_allocator_not_hooked, ("server", "jemalloc: free is shorter than a jump"))                      \
  X("HP340", objects_in_own_pool, ("PHP", Share{47, 50}, "USE_ZEND_ALLOC=0 heapprof run -- php a.php"))            \
  X("HP341", names_partly_read, ("render (/build/render.dwo is not there)"))                                       \
  X("HP040", modules_bypass_hooks, ("libfoo.so.1, libbar.so.2"))                                                   \
  X("HP041", self_test_failed, ("pvalloc"))                                                                        \
  X("HP042", clock_without_time, ("sequence"))                                                                     \
  X("HP043", socket_refused, ("/tmp/x", "permission denied"))                                                      \
  X("HP044", verification_failed, (Share{3, 18400000}))                                                            \
  X("HP045", reference_unwinder_missing, ("--verify-stacks"))                                                      \
  X("HP046", records_corrupt, (2))                                                                                 \
  X("HP047", numbers_disagree, ("the sites' peak_bytes sum to 10, the device says 12"))                            \
  X("HP048", profile_incomplete, ("the collector detached at 37.2 s"))                                             \
  X("HP049", output_is_directory, ("results"))                                                                     \
  X("HP330", output_not_trusted, ("/tmp/x.json", "/tmp/x.json is a symbolic link of user nobody"))                 \
  X("HP331", loader_starts_nothing, ("/lib64/ld-linux-x86-64.so.2", "--list"))                                     \
  X("HP332", agent_path_not_loadable, ("/opt/my tools/lib/heapprof/libheapprof.so", "no space left on device"))    \
  X("HP050", unknown_flag, ("--tpo", "--top", "report"))                                                           \
  X("HP051", missing_program, ("check"))                                                                           \
  X("HP052", bad_value, ("--top", "many", "a number from 1 to 1,000,000"))                                         \
  X("HP053", ambiguous_size, ("512M", "512MiB (536,870,912) or 512MB (512,000,000)"))                              \
  X("HP054", bad_size, ("12 parsecs"))                                                                             \
  X("HP055", unknown_command, ("reprot", "report"))                                                                \
  X("HP056", missing_profile, ("report"))                                                                          \
  X("HP057", unknown_device, ("cuda:0", "host"))                                                                   \
  X("HP058", unexpected_argument, ("b.json", "report"))                                                            \
  X("HP059", missing_value, ("--top", "N"))                                                                        \
  X("HP060", profile_not_readable, ("x.json", "no such file or directory"))                                        \
  X("HP061", profile_not_json, ("x.json", 12, "missing a comma or ] after an array element"))                      \
  X("HP062", profile_not_dhat, ("x.json", "there is no dhatFileVersion"))                                          \
  X("HP063", profile_too_new, ("x.json", "the heapprof extension", Versions{2, 1}))                                \
  X("HP064", profile_broken, ("x.json", "pps[3].fs names frame 12 of 9"))                                          \
  X("HP065", profile_too_large, ("x.json", Sizes{1ull << 40, 1ull << 32}))                                         \
  X("HP343", profile_unpacks_too_far, ("x.json.gz", 64 << 20))                                                     \
  X("HP344", not_a_history, ("x.json"))                                                                            \
  X("HP345", profile_elsewhere, ("x.json", "there was no room", "/tmp/x.json"))                                    \
  X("HP066", stdout_not_writable, ("no space left on device"))                                                     \
  X("HP067", metric_not_in_profile, ("dhat.out.4711", "temporary"))                                                \
  X("HP068", names_missing, ("gdb", Share{27, 36}, NamesAdvice{"gdb", "heapprof symbolize x.json"}))               \
  X("HP069", program_replaced, ("./server", "statically linked"))                                                  \
  X("HP070", programs_not_profiled, ("busybox (statically linked) 3 times"))                                       \
  X("HP080", suppressions_not_readable, ("my.supp", "no such file or directory"))                                  \
  X("HP081", suppression_broken, (FileLine{"my.supp", 3}, "the reason is missing", false))                         \
  X("HP082", nothing_to_merge, ())                                                                                 \
  X("HP083", folder_without_profiles, ("results"))                                                                 \
  X("HP084", profiles_do_not_add, ("a.json", "dhat.out", "one is of heapprof, one of valgrind"))                   \
  X("HP085", profile_named_twice, ("a.json"))                                                                      \
  X("HP086", output_not_named, ("merge"))                                                                          \
  X("HP087", process_not_found, ("4711"))                                                                          \
  X("HP088", process_not_profiled, ("4711"))                                                                       \
  X("HP089", snapshot_refused, ("4711", "another snapshot of it is being taken"))                                  \
  X("HP090", process_not_ours, ("4711", "ada"))                                                                    \
  X("HP091", missing_pid, ("snapshot"))                                                                            \
  X("HP092", nobody_answers, ("4711"))                                                                             \
  X("HP346", malloc_replaced, ("./server", false))                                                                 \
  X("HP093", memory_limit_reached, ("heapprof reached its memory limit at 12.3 s"))                                \
  X("HP094", names_not_read, ("libfoo.so.1"))                                                                      \
  X("HP095", memory_refused, ("write x.json"))                                                                     \
  X("HP096", profile_without_offsets, ("dhat.out.4711", "it is of valgrind"))                                      \
  X("HP097", script_without_names,                                                                                 \
    ("JavaScript", "host", Share{95, 100}, 12, "NODE_OPTIONS=--perf-basic-prof heapprof run -- node a.js"))        \
  X("HP100", unknown_directive, ("p.%q.json", "%q"))                                                               \
  X("HP101", processes_refused, (12, "too many open files"))                                                       \
  X("HP102", root_image_replaced, ("sh", "/opt/server"))                                                           \
  X("HP103", summary_left_out, ("x.json"))                                                                         \
  X("HP111", device_was_full, ("cuda:0", 3))                                                                       \
  X("HP112", limit_of_unused_device, ("cuda:5"))                                                                   \
  X("HP113", functions_unknown, ("cuMemAlloc of CUDA 14.0"))                                                       \
  X("HP114", device_memory_unmatched, (12))                                                                        \
  X("HP115", libunwind_not_used, (60000))                                                                          \
  X("HP116", blocks_of_elsewhere, (Share{12, 600}))                                                                \
  X("HP117", fold_unused, ("function:pool_*"))                                                                     \
  X("HP342", code_unused, ("*/third/*"))                                                                           \
  X("HP120", different_commands, ("./render a.usd", "./render b.usd"))                                             \
  X("HP121", nothing_to_compare, ())                                                                               \
  X("HP122", profile_not_whole, ("x.json", "the collector detached at 37.2 s"))                                    \
  X("HP123", tools_count_differently, ("a.json is of heapprof", "dhat.out of valgrind"))                           \
  X("HP124", folder_needs_folder, ("new", "base.json"))                                                            \
  X("HP125", profiles_without_partner, ("old/a.json, new/b.json"))                                                 \
  X("HP126", no_command_in_both, ("old", "new"))                                                                   \
  X("HP127", no_base_of_command, ("baselines", "./render a.usd"))                                                  \
  X("HP130", format_not_named, ("folded, pprof", "x.json"))                                                        \
  X("HP131", binary_on_terminal, ("pprof", "x.json"))                                                              \
  X("HP132", metric_not_exported, ("dhat", "the file holds all of them"))                                          \
  X("HP133", history_not_named, ())                                                                                \
  X("HP134", history_line_unusable, (FileLine{"ci.jsonl", 12}, "it is cut off"))                                   \
  X("HP135", history_not_readable, ("ci.jsonl", "no such file or directory"))                                      \
  X("HP136", history_not_writable, ("ci.jsonl", "permission denied"))                                              \
  X("HP137", nothing_in_history, ("ci.jsonl", "device cuda:0", "host"))                                            \
  X("HP138", nothing_to_add, ("ci.jsonl"))                                                                         \
  X("HP139", no_device_trace, ("x.json", "it is a sum of profiles"))                                               \
  X("HP140", nothing_to_check, ())                                                                                 \
  X("HP141", no_limits, ("./render"))                                                                              \
  X("HP142", budget_not_readable, ("heapprof.toml", "no such file or directory"))                                  \
  X("HP143", budget_broken, (FileLine{"heapprof.toml", 7}, "peak takes a size such as 512 MiB, not 'much'"))       \
  X("HP144", unknown_budget_key, (FileLine{"heapprof.toml", 7}, "peek", "peak", "peak, total"))                    \
  X("HP145", limit_for_unknown_device, (FileLine{"--max-peak", 0}, "cuda0", "host, cuda:0"))                       \
  X("HP146", limit_not_needed, (FileLine{"heapprof.toml", 3}, "cuda:0", "host"))                                   \
  X("HP147", site_matches_nothing, (FileLine{"heapprof.toml", 9}, "Tile::decod"))                                  \
  X("HP148", limit_not_measured, (FileLine{"heapprof.toml", 9}, "all.json", "the peaks are of different moments")) \
  X("HP149", no_budget_for, ("x.json", "./render small.usd", "heapprof.toml"))                                     \
  X("HP150", no_budget_named, ("rendr*", "render-small, render-large"))                                            \
  X("HP151", budget_without_command, (FileLine{"heapprof.toml", 7}, "render-small"))                               \
  X("HP152", checked_program_failed, ("./tests", "exit 3"))                                                        \
  X("HP153", checked_profile_incomplete, ("x.json", "events lost: 12"))                                            \
  X("HP154", checked_without_profile, ("./tests"))                                                                 \
  X("HP155", baseline_missing, ("ci/base.json"))                                                                   \
  X("HP156", baseline_of_other_program, ("ci/base.json", "server", "render"))                                      \
  X("HP157", baseline_counts_otherwise, ("ci/base.json"))                                                          \
  X("HP158", budget_not_updated, ("heapprof.toml", "it changed during the run"))                                   \
  X("HP159", flag_needs_another, ("--update-baseline", "--baseline FILE"))                                         \
  X("HP160", runs_of_profiles, ("--runs"))                                                                         \
  X("HP161", others_not_judged, (3, false))                                                                        \
  X("HP162", baseline_of_failed_program, ("ci/base.json"))                                                         \
  X("HP163", only_defaults_apply, ("./render small.usd", "heapprof.toml"))                                         \
  X("HP164", replaced_not_judged, (2))                                                                             \
  X("HP165", outputs_to_one_file, ("--junit", "--json", "out.json"))                                               \
  X("HP166", scope_matches_nothing, (FileLine{"heapprof.toml", 9}, "serve > decod", "'serve > decode'"))           \
  X("HP167", scopes_missing, (FileLine{"heapprof.toml", 9}, "x.json"))                                             \
  X("HP168", scopes_not_whole, (FileLine{"heapprof.toml", 9}, "x.json", "12 begins"))                              \
  X("HP169", device_not_called, (FileLine{"heapprof.toml", 9}, "calls_per_run"))                                   \
  X("HP170", findings_need_ours, ("dhat.out.4711"))                                                                \
  X("HP171", findings_not_in_format, ("csv"))                                                                      \
  X("HP172", flags_exclude_each_other, ("--findings", "--tree"))                                                   \
  X("HP180", contracts_not_readable, ("contracts.toml", "no such file or directory"))                              \
  X("HP181", no_contract_named, ("exact*", "kept, lost"))                                                          \
  X("HP182", contracts_stand_alone, ("--max-peak"))                                                                \
  X("HP183", history_without_runs, ("ci.jsonl", "./render"))                                                       \
  X("HP184", history_not_made_baseline, ("ci.jsonl"))                                                              \
  X("HP185", history_begins, ("ci.jsonl", "./render"))                                                             \
  X("HP186", program_did_not_start, ("./server", "exit 127"))                                                      \
  X("HP187", children_never_profiled, (3, "worker (4711), worker (4712)", "./server"))                             \
  X("HP190", command_is_file, ("x.json", "heapprof report x.json", "to read the profile"))                         \
  X("HP191", one_profile_too_many, ("a.json", "b.json"))                                                           \
  X("HP192", estimate_of_what, ("tensr", "tensor"))                                                                \
  X("HP193", estimate_lacks, ("tensor", "--dtype", "tensor 32x4096 --dtype bf16"))                                 \
  X("HP194", flag_of_other_estimate, ("--layers", "tensor", "kv-cache"))                                           \
  X("HP195", bad_estimate_value, ("7Q", "a number of parameters", "7B, 1.5M or 13e9"))                             \
  X("HP196", unknown_dtype, ("f23", "f32", "f64, f32"))                                                            \
  X("HP197", estimate_overflows, ("tensor", "4294967296×4294967296 elements × 4 B (f32)"))                         \
  X("HP198", device_not_measured, ("cuda:0", "libcuda.so.1: cannot open shared object file"))                      \
  X("HP200", bad_interval, ("1ns"))                                                                                \
  X("HP201", no_snapshots, ("r.json"))                                                                             \
  X("HP202", unknown_snapshot, ("end", "r.json", "1 to 7, loaded, trained"))                                       \
  X("HP203", several_snapshots, ("loaded", "r.json", "2, 5"))                                                      \
  X("HP204", snapshots_not_merged, (12))                                                                           \
  X("HP208", nvtx_tool_unreadable, ("/opt/nsys/libinject.so", "no such file or directory"))                        \
  X("HP209", nvtx_left_to_cuda_tool, ("/opt/nsys/libinject.so"))                                                   \
  X("HP210", nvtx_left_to_tool, (2))                                                                               \
  X("HP347", no_source_of_name, ("r.json", "tiel.cc", "tile.cc", false))                                           \
  X("HP220", no_scope_of_name, ("r.json", "decod", "serve > decode"))                                              \
  X("HP221", categories_not_readable, ("c.toml", "no such file or directory"))                                     \
  X("HP222", categories_broken, ("c.toml:3: the category has no name"))                                            \
  X("HP223", no_runs_of_scopes, ("r.json", true))                                                                  \
  X("HP230", interpreters_not_read, ("Python 3.15"))                                                               \
  X("HP231", python_frames_broken, (3))                                                                            \
  X("HP232", python_codes_lost, (12))                                                                              \
  X("HP233", python_calls_unread, (3))                                                                             \
  X("HP234", objects_not_recorded, ("the interpreter was running before it was found"))                            \
  X("HP235", tensors_without_address, (40))                                                                        \
  X("HP236", operators_not_recorded, ("it lacks the function that reports them"))                                  \
  X("HP237", operators_without_scopes, (12))                                                                       \
  X("HP238", operators_need_stacks, ())                                                                            \
  X("HP239", top_refused, ("4711", "four others watch it"))                                                        \
  X("HP240", live_needs_output, ("./server"))                                                                      \
  X("HP241", live_needs_terminal, ("./server"))                                                                    \
  X("HP242", bad_top_interval, ("5 parsecs"))                                                                      \
  X("HP280", attach_refused, ("4711", "operation not permitted"))                                                  \
  X("HP281", attach_impossible, ("4711", "it has no glibc"))                                                       \
  X("HP282", attach_found_no_thread, ("4711", "it is in malloc"))                                                  \
  X("HP283", attach_sees_no_agent, ("4711", "/usr/lib/heapprof/libheapprof.so"))                                   \
  X("HP284", attach_failed, ("4711", "it did not return in time"))                                                 \
  X("HP285", already_profiled, ("4711"))                                                                           \
  X("HP286", bad_attach_time, ("5 parsecs"))                                                                       \
  X("HP287", detach_failed, ("4711", "it did not return in time"))                                                 \
  X("HP288", process_not_attached, ("4711"))                                                                       \
  X("HP289", attach_unsupported, ("64-bit Arm"))                                                                   \
  X("HP290", profile_is_partial, ("r.json", "was paused"))                                                         \
  X("HP291", flags_exclude, ("--sample", "--leak-check", "both need every block"))                                 \
  X("HP292", order_refused, ("pause", "4711", "its heapprof belongs to another user"))                             \
  X("HP293", bad_mark_name, ("", 119))                                                                             \
  X("HP294", bad_start, ("noon"))                                                                                  \
  X("HP295", numbers_are_estimates, ("512 KiB"))                                                                   \
  X("HP245", folders_have_no_page, ("after"))                                                                      \
  X("HP250", one_profile_in_format, ("pprof", "b.json", "--format perfetto"))                                      \
  X("HP260", bad_listen_address, ("localhost:http", "the port is a number from 0 to 65,535"))                      \
  X("HP261", cannot_listen, ("127.0.0.1:7171", "address already in use"))                                          \
  X("HP262", listen_needs_token, ("0.0.0.0:7171"))                                                                 \
  X("HP263", bad_token, ("the file token.txt", "it has 3 characters, and 16 are the fewest"))                      \
  X("HP264", host_refused, ("rebound.example"))                                                                    \
  X("HP265", token_refused, ())                                                                                    \
  X("HP266", bad_http_request, ("there is no /debug/pprof/mutex here"))                                            \
  X("HP267", server_is_busy, ("eight intervals are being measured"))                                               \
  X("HP268", push_refused, ("http://pyroscope:4040", "it answered 401"))                                           \
  X("HP269", push_needs_curl, ("no such file or directory"))                                                       \
  X("HP270", ranks_failed, (2, "rank 17 on node3: killed by signal 9"))                                            \
  X("HP271", ranks_missing, (2, 64, "40, 41"))                                                                     \
  X("HP272", step_incomplete, ("all.json", "3 (did not come)", 64))                                                \
  X("HP273", step_not_coordinated, ("/shared/all.json.step", "process 0 did not say what to do"))                  \
  X("HP274", process_merged_twice, ("rank 3 on node0", "rank.3.json"))

// Before the start: what the program is (cli/target/elf_check.cc).
Problem program_not_found(const std::string& program);
Problem program_not_executable(const std::string& program, const std::string& reason);
Problem program_is_directory(const std::string& program);
Problem program_is_static(const std::string& program);
Problem loader_starts_nothing(const std::string& loader, const std::string& option);
Problem program_has_privileges(const std::string& program, const std::string& why);  // "is setuid"
Problem program_for_other_machine(const std::string& program, const std::string& kind);
Problem program_needs_other_libc(const std::string& program, const std::string& loader);
Problem program_without_loader(const std::string& program, const std::string& loader);
Problem interpreter_not_found(const std::string& script, const std::string& interpreter);
Problem interpreters_too_deep(const std::string& script);
Problem program_has_unknown_format(const std::string& program);
Problem program_has_sanitizer(const std::string& program, const std::string& sanitizer, const std::string& flag);
Problem program_defines_malloc(const std::string& program, const std::string& functions);  // warning
// what: the allocator, and why it is not hooked. A warning.
Problem inner_allocator_not_hooked(const std::string& program, const std::string& what);
Problem program_hides_allocations(const std::string& program);
Problem program_is_damaged(const std::string& program, const std::string& reason);
Problem program_not_inspected(const std::string& program, const std::string& reason);  // warning

// Around the run.
Problem kernel_has_other_pages(uint64_t page_bytes);
Problem agent_not_found(const std::string& looked_at);
Problem output_not_writable(const std::string& file, const std::string& reason);
Problem profile_elsewhere(const std::string& file, const std::string& reason, const std::string& elsewhere);
Problem output_not_trusted(const std::string& file, const std::string& found);
Problem output_is_directory(const std::string& file);
Problem agent_path_not_loadable(const std::string& agent, const std::string& reason);
Problem disk_full(const std::string& file, const std::string& reason);
Problem nothing_profiled(const std::string& program);
Problem program_did_not_start(const std::string& program, const std::string& end);
// names: empty if they are not known any more, for example when a profile is read. A warning.
Problem children_never_profiled(uint64_t count, const std::string& names, const std::string& program);
Problem protocol_mismatch(Versions agent);
Problem arena_refused(const std::string& reason);
Problem agent_stopped(const std::string& reason);
Problem processes_refused(uint64_t processes, const std::string& reason);            // warning
Problem root_image_replaced(const std::string& program, const std::string& became);  // warning
Problem memory_refused(const std::string& purpose);                                  // "write x.json"
Problem device_was_full(const std::string& device, uint64_t refused);
Problem limit_of_unused_device(const std::string& device);
Problem nvtx_tool_unreadable(const std::string& file, const std::string& reason);  // warning
Problem nvtx_left_to_cuda_tool(const std::string& file);                           // warning
Problem summary_left_out(const std::string& path);                                 // the profile is written
Problem launch_failed(const std::string& program, const std::string& reason);
Problem socket_refused(const std::string& path, const std::string& reason);
Problem reference_unwinder_missing(const std::string& flag);

// About the numbers, in the summary and the report; all but numbers_disagree are warnings.
Problem events_lost(Share lost);
// runtime: the runtime whose code the stacks go through, "node"; empty: they go through the program's own code.
Problem stacks_truncated(Share truncated, const std::string& runtime = "");
// A runtime's pool allocator cuts objects from large pieces (cli/model/analysis/own_pools.h).
Problem objects_in_own_pool(const std::string& owner, Share peak_bytes, const std::string& command);
Problem modules_bypass_hooks(const std::string& modules);
Problem functions_unknown(const std::string& functions);  // of the CUDA driver
Problem device_memory_unmatched(uint64_t events);
Problem nvtx_left_to_tool(uint64_t objects);
Problem interpreters_not_read(const std::string& interpreters);
Problem python_frames_broken(uint64_t stacks);
Problem python_codes_lost(uint64_t times);
Problem python_calls_unread(uint64_t sites);
Problem objects_not_recorded(const std::string& reason);
Problem tensors_without_address(uint64_t reports);
Problem operators_not_recorded(const std::string& reason);
Problem operators_without_scopes(uint64_t operators);
Problem operators_need_stacks();
Problem program_replaced(const std::string& program, const std::string& why);
Problem programs_not_profiled(const std::string& programs);
// A warning. truncated: the number of stacks that were unwound through such code by frame pointers. `command` enables
// the names.
Problem script_without_names(const std::string& language, const std::string& device, Share peak_bytes,
                             uint64_t truncated, const std::string& command);
Problem names_missing(const std::string& module, Share peak_bytes, const NamesAdvice& advice);
Problem self_test_failed(const std::string& functions);
Problem clock_without_time(const std::string& clock);
Problem verification_failed(Share mismatched);
Problem libunwind_not_used(uint64_t stacks);
Problem blocks_of_elsewhere(Share blocks);
Problem records_corrupt(uint64_t records);
Problem profile_incomplete(const std::string& reason);
Problem memory_limit_reached(const std::string& reason);
// A warning in a run and a report; an error if the run was to be judged.
Problem malloc_replaced(const std::string& program, bool is_judged);
Problem names_not_read(const std::string& modules);
// Debug information that the compiler put into separate files, which are missing or unreadable.
Problem names_partly_read(const std::string& modules);
Problem numbers_disagree(const std::string& detail);

// Usage and output.
Problem unknown_flag(const std::string& flag, const std::string& nearest, const std::string& command);
Problem missing_program(const std::string& command);
Problem unknown_directive(const std::string& name, const std::string& directive);
Problem bad_value(const std::string& flag, const std::string& value, const std::string& expected);
Problem missing_value(const std::string& flag, const std::string& placeholder);
Problem ambiguous_size(const std::string& text, const std::string& alternatives);
Problem bad_size(const std::string& text);
Problem bad_interval(const std::string& text);  // of snapshots
Problem no_snapshots(const std::string& file);
Problem unknown_snapshot(const std::string& name, const std::string& file, const std::string& known);
Problem several_snapshots(const std::string& name, const std::string& file, const std::string& numbers);
Problem snapshots_not_merged(uint64_t snapshots);
// `which` names them, or the first of them.
Problem ranks_failed(uint64_t count, const std::string& which);
Problem ranks_missing(uint64_t count, uint64_t ranks, const std::string& which);
// For merge as a job step.
Problem step_incomplete(const std::string& file, const std::string& which, uint64_t processes);
Problem step_not_coordinated(const std::string& folder, const std::string& why);
Problem process_merged_twice(const std::string& name, const std::string& file);
Problem categories_not_readable(const std::string& file, const std::string& reason);
Problem categories_broken(const std::string& what);
Problem no_runs_of_scopes(const std::string& file, bool has_scopes);
// has_frames: frames have the name, but no lines in the debug information
Problem no_source_of_name(const std::string& file, const std::string& name, const std::string& nearest,
                          bool has_frames);
Problem no_scope_of_name(const std::string& file, const std::string& glob, const std::string& nearest);
Problem unknown_command(const std::string& command, const std::string& nearest);
Problem command_is_file(const std::string& word, const std::string& command, const std::string& purpose);
// `folder`: the searched folder; empty: none was searched
Problem missing_profile(const std::string& command, const std::string& folder = "");
Problem unknown_device(const std::string& device, const std::string& devices);
Problem metric_not_in_profile(const std::string& file, const std::string& metric);
Problem findings_need_ours(const std::string& file);
Problem findings_not_in_format(const std::string& format);
Problem flags_exclude_each_other(const std::string& first, const std::string& second);
Problem stdout_not_writable(const std::string& reason);
Problem one_profile_too_many(const std::string& first, const std::string& second);
Problem one_profile_in_format(const std::string& format, const std::string& second, const std::string& others);

// Serving over HTTP (cli/serve), and sending to a server.
Problem bad_listen_address(const std::string& address, const std::string& reason);
Problem cannot_listen(const std::string& address, const std::string& reason);
Problem listen_needs_token(const std::string& address);
Problem bad_token(const std::string& source, const std::string& reason);
Problem host_refused(const std::string& host);
Problem token_refused();
Problem bad_http_request(const std::string& what);
Problem server_is_busy(const std::string& reason);
Problem push_refused(const std::string& url, const std::string& reason);
Problem push_needs_curl(const std::string& reason);
Problem unexpected_argument(const std::string& argument, const std::string& command);

// Reading a profile.
Problem profile_not_readable(const std::string& file, const std::string& reason);
Problem profile_not_json(const std::string& file, uint64_t offset_bytes, const std::string& reason);
Problem profile_not_dhat(const std::string& file, const std::string& reason);
Problem profile_too_new(const std::string& file, const std::string& what, Versions versions);
Problem profile_broken(const std::string& file, const std::string& reason);
Problem profile_too_large(const std::string& file, Sizes sizes);
Problem profile_unpacks_too_far(const std::string& file, uint64_t limit_bytes);

// Files of suppressions.
Problem suppressions_not_readable(const std::string& file, const std::string& reason);
Problem suppression_broken(const FileLine& at, const std::string& reason, bool is_fold);
Problem fold_unused(const std::string& rule);
Problem code_unused(const std::string& glob);

// Merging profiles.
Problem nothing_to_merge();
Problem folder_without_profiles(const std::string& folder);
Problem profiles_do_not_add(const std::string& first, const std::string& second, const std::string& why);
Problem profile_named_twice(const std::string& file);
Problem output_not_named(const std::string& command);

// Comparing profiles. Warnings are different_commands, tools_count_differently and profiles_without_partner.
Problem different_commands(const std::string& base, const std::string& current);
Problem nothing_to_compare();
Problem profile_not_whole(const std::string& file, const std::string& reason);
Problem tools_count_differently(const std::string& base_of, const std::string& current_of);  // "a.json is of heapprof"
Problem folder_needs_folder(const std::string& folder, const std::string& file);
Problem profiles_without_partner(const std::string& files);
Problem no_command_in_both(const std::string& base, const std::string& current);
Problem folders_have_no_page(const std::string& folder);
Problem no_base_of_command(const std::string& folder, const std::string& command);

// Exports and histories.
Problem profile_without_offsets(const std::string& file, const std::string& reason);
Problem format_not_named(const std::string& formats, const std::string& file);
Problem binary_on_terminal(const std::string& format, const std::string& file);
Problem metric_not_exported(const std::string& format, const std::string& reason);
Problem no_device_trace(const std::string& file, const std::string& reason);
Problem history_not_named();
Problem history_line_unusable(const FileLine& at, const std::string& reason);  // warning
Problem history_not_readable(const std::string& file, const std::string& reason);
Problem history_not_writable(const std::string& file, const std::string& reason);
Problem not_a_history(const std::string& file);
Problem nothing_in_history(const std::string& file, const std::string& wanted, const std::string& there);
Problem nothing_to_add(const std::string& file);

// Snapshots; `pid` is what the user typed.
Problem process_not_found(const std::string& pid);
Problem process_not_profiled(const std::string& pid);
Problem process_not_ours(const std::string& pid, const std::string& user, const std::string& command = "snapshot");
Problem snapshot_refused(const std::string& pid, const std::string& reason);
Problem nobody_answers(const std::string& pid);
Problem missing_pid(const std::string& command);

// Watching live.
Problem attach_refused(const std::string& pid, const std::string& reason);
Problem attach_impossible(const std::string& pid, const std::string& reason);
Problem attach_unsupported(const std::string& processor);
Problem attach_found_no_thread(const std::string& pid, const std::string& obstacle);
Problem attach_sees_no_agent(const std::string& pid, const std::string& agent);
Problem attach_failed(const std::string& pid, const std::string& reason);
Problem already_profiled(const std::string& pid);
Problem profile_is_partial(const std::string& file, const std::string& how);
Problem flags_exclude(const std::string& flag, const std::string& other, const std::string& reason);
Problem order_refused(const std::string& command, const std::string& pid, const std::string& reason);
Problem bad_mark_name(const std::string& name, size_t most_bytes);
Problem bad_start(const std::string& value);
Problem numbers_are_estimates(const std::string& interval);
Problem bad_attach_time(const std::string& value);
Problem process_not_attached(const std::string& pid);
Problem detach_failed(const std::string& pid, const std::string& reason);
Problem top_refused(const std::string& pid, const std::string& reason);
Problem live_needs_output(const std::string& program);
Problem live_needs_terminal(const std::string& program);
Problem bad_top_interval(const std::string& text);

// Checking budgets; a FileLine with line 0 is a flag.
Problem nothing_to_check();
Problem no_limits(const std::string& what);
Problem budget_not_readable(const std::string& file, const std::string& reason);
Problem budget_broken(const FileLine& at, const std::string& reason);
Problem unknown_budget_key(const FileLine& at, const std::string& key, const std::string& nearest,
                           const std::string& known);
Problem limit_for_unknown_device(const FileLine& at, const std::string& device, const std::string& devices);
Problem limit_not_needed(const FileLine& at, const std::string& device, const std::string& devices);  // warning
Problem site_matches_nothing(const FileLine& at, const std::string& pattern);                         // warning
Problem limit_not_measured(const FileLine& at, const std::string& file, const std::string& why);
Problem no_budget_for(const std::string& profile, const std::string& command, const std::string& file);
Problem no_budget_named(const std::string& glob, const std::string& names);
Problem budget_without_command(const FileLine& at, const std::string& name);
Problem checked_program_failed(const std::string& program, const std::string& how);
Problem checked_profile_incomplete(const std::string& file, const std::string& reason);
Problem checked_without_profile(const std::string& program);
Problem baseline_missing(const std::string& file);
Problem baseline_of_other_program(const std::string& file, const std::string& other, const std::string& program);
Problem baseline_counts_otherwise(const std::string& file);
Problem budget_not_updated(const std::string& file, const std::string& reason);
Problem flag_needs_another(const std::string& flag, const std::string& other);
Problem runs_of_profiles(const std::string& flag);
Problem others_not_judged(uint64_t processes, bool is_each_judged);  // warning
Problem baseline_of_failed_program(const std::string& file);
Problem only_defaults_apply(const std::string& program, const std::string& file);  // warning
Problem replaced_not_judged(uint64_t programs);                                    // warning
Problem outputs_to_one_file(const std::string& first, const std::string& second, const std::string& file);
Problem scope_matches_nothing(const FileLine& at, const std::string& pattern, const std::string& nearest);
Problem scopes_missing(const FileLine& at, const std::string& file);
Problem scopes_not_whole(const FileLine& at, const std::string& file, const std::string& lost);
Problem device_not_called(const FileLine& at, const std::string& key);

// Contracts, and a history as baseline.
Problem contracts_not_readable(const std::string& file, const std::string& reason);
Problem no_contract_named(const std::string& glob, const std::string& ids);
Problem contracts_stand_alone(const std::string& other);
Problem history_without_runs(const std::string& file, const std::string& program);
Problem history_not_made_baseline(const std::string& file);
Problem history_begins(const std::string& file, const std::string& program);  // warning

// Estimates: their inputs, and the memory that they are to fit into.
Problem estimate_of_what(const std::string& word, const std::string& nearest);  // word: empty if there was none
Problem estimate_lacks(const std::string& kind, const std::string& missing, const std::string& example);
Problem flag_of_other_estimate(const std::string& flag, const std::string& kind, const std::string& others);
Problem bad_estimate_value(const std::string& text, const std::string& expected, const std::string& examples);
Problem unknown_dtype(const std::string& word, const std::string& nearest, const std::string& known);
Problem estimate_overflows(const std::string& kind, const std::string& formula);
Problem device_not_measured(const std::string& device, const std::string& reason);

// The text of strerror, beginning in lower case as the sentences do.
std::string errno_text(int error_number);

// The four parts as text, each line ended; colour marks the word "error" or "warning". On a terminal, lines are broken
// at its width; elsewhere each part is one line.
std::string format_problem(const Problem& problem, const Terminal& terminal);
void print_problem(const Problem& problem, ColorMode mode = ColorMode::kAuto);  // on stderr

// `run` has its own codes: 126 and 127 for the program's start, 125 for all other errors of heapprof.
int run_exit_code(const Problem& problem);

}  // namespace heapprof::cli
