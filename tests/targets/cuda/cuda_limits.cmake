target_include_directories(target_cuda_limits PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(target_cuda_limits PRIVATE -Wl,-rpath,${CMAKE_CURRENT_BINARY_DIR}/fake_cuda)
add_dependencies(target_cuda_limits fake_cuda)
