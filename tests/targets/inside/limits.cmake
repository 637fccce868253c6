target_include_directories(target_limits PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/shared/include)
target_link_libraries(target_limits PRIVATE -Wl,-rpath,${CMAKE_CURRENT_BINARY_DIR}/fake_cuda)
add_dependencies(target_limits fake_cuda)
