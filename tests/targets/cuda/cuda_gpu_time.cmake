target_include_directories(target_cuda_gpu_time PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/shared/include)
target_link_libraries(target_cuda_gpu_time PRIVATE fake_cuda -Wl,-rpath,${CMAKE_CURRENT_BINARY_DIR}/fake_cuda)
add_dependencies(target_cuda_gpu_time fake_cuda)
