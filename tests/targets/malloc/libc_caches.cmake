add_library(target_thread_local MODULE targets/loader/plugins/thread_local.cc)
set_target_properties(target_thread_local PROPERTIES OUTPUT_NAME thread_local PREFIX ""
                      LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/targets)
target_compile_definitions(target_libc_caches PRIVATE PLUGIN="${CMAKE_CURRENT_BINARY_DIR}/targets/thread_local.so")
add_dependencies(target_libc_caches target_thread_local)

add_executable(target_libc_caches_static targets/malloc/libc_caches.cc)  # libstdc++ inside of it
set_target_properties(target_libc_caches_static PROPERTIES OUTPUT_NAME libc_caches_static RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/targets)
target_compile_definitions(target_libc_caches_static PRIVATE PLUGIN="${CMAKE_CURRENT_BINARY_DIR}/targets/thread_local.so")
target_compile_options(target_libc_caches_static PRIVATE -g -O1)
target_link_options(target_libc_caches_static PRIVATE -static-libstdc++)
