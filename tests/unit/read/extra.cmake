target_link_libraries(unit_read PRIVATE heapprof_cli_write ZLIB::ZLIB)
