target_include_directories(target_estimate_oracle PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/shared/include)
target_link_libraries(target_estimate_oracle PRIVATE -Wl,-rpath,${CMAKE_CURRENT_BINARY_DIR}/fake_cuda)
add_dependencies(target_estimate_oracle fake_cuda)
