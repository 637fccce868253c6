# What a snapshot costs.
add_executable(bench_snapshots EXCLUDE_FROM_ALL ${CMAKE_CURRENT_SOURCE_DIR}/bench/snapshots.cc)
target_include_directories(bench_snapshots PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(bench_snapshots PRIVATE heapprof_cli_collect heapprof_warnings)
