# The driver of tests/integration/names_match.sh.
add_executable(symbolize_tool ${CMAKE_CURRENT_SOURCE_DIR}/support/symbolize_tool.cc)
target_link_libraries(symbolize_tool PRIVATE heapprof_cli_symbolize heapprof_warnings)
set_target_properties(symbolize_tool PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/support)
