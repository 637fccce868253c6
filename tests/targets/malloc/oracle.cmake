# The oracle in parts; its frames must stay as its keys name them.
target_sources(target_oracle PRIVATE targets/malloc/oracle/books.cc targets/malloc/oracle/sites.cc targets/malloc/oracle/worker.cc)
target_compile_options(target_oracle PRIVATE -fno-optimize-sibling-calls -Wno-alloc-size-larger-than)

# The same with an allocator inside: one executable for each archive that there is (libjemalloc-dev,
# libgoogle-perftools-dev).
foreach(allocator jemalloc tcmalloc_minimal)
  find_library(HEAPPROF_STATIC_${allocator} NAMES lib${allocator}.a)
  if(HEAPPROF_STATIC_${allocator})
    add_executable(oracle_in_${allocator} $<TARGET_OBJECTS:target_oracle>)
    set_target_properties(oracle_in_${allocator} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/targets)
    target_link_libraries(oracle_in_${allocator} PRIVATE ${HEAPPROF_STATIC_${allocator}} Threads::Threads ${CMAKE_DL_LIBS} m)
  endif()
endforeach()
