target_include_directories(target_cuda_calls PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(target_cuda_calls PRIVATE -Wl,-rpath,${CMAKE_CURRENT_BINARY_DIR}/fake_cuda)
add_dependencies(target_cuda_calls fake_cuda)
