# What users include, on the path that they include it by.
target_link_libraries(unit_public_headers PRIVATE Threads::Threads)
