# What the agent knows of a process, compiled as in the agent.
add_library(process_under_test OBJECT ${PROJECT_SOURCE_DIR}/agent/process/own_memory.cc ${PROJECT_SOURCE_DIR}/agent/process/early.cc ${PROJECT_SOURCE_DIR}/agent/process/link_map.cc
            ${PROJECT_SOURCE_DIR}/agent/process/loaded_object.cc ${PROJECT_SOURCE_DIR}/agent/process/thread_stacks.cc ${PROJECT_SOURCE_DIR}/agent/arch/${HEAPPROF_ARCH}/vector_state.cc)
target_link_libraries(process_under_test PRIVATE heapprof_agent_options heapprof_warnings)
target_link_libraries(unit_agent_process PRIVATE process_under_test Threads::Threads)
