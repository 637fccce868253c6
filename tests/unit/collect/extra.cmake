# Not a test: prints the table of tests/bench/collect.cc, and records and replays the rings of real programs.
add_executable(bench_collect EXCLUDE_FROM_ALL ${CMAKE_CURRENT_SOURCE_DIR}/bench/collect.cc
               ${CMAKE_CURRENT_SOURCE_DIR}/bench/record_tape.cc ${CMAKE_CURRENT_SOURCE_DIR}/bench/replay_tape.cc)
target_include_directories(bench_collect PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(bench_collect PRIVATE heapprof_cli_collect heapprof_cli_target heapprof_warnings)
# What a snapshot costs.
add_executable(bench_snapshots EXCLUDE_FROM_ALL ${CMAKE_CURRENT_SOURCE_DIR}/bench/snapshots.cc)
target_include_directories(bench_snapshots PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(bench_snapshots PRIVATE heapprof_cli_collect heapprof_warnings)
