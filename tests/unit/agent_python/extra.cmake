# What the agent knows of CPython's memory, compiled as in the agent.
add_library(python_under_test OBJECT ${PROJECT_SOURCE_DIR}/agent/python/layout.cc)
target_link_libraries(python_under_test PRIVATE heapprof_agent_options heapprof_warnings)
target_link_libraries(unit_agent_python PRIVATE python_under_test)
