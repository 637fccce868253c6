target_link_libraries(unit_model PRIVATE heapprof_cli_write)  # the oracle compares what is written
