target_include_directories(target_cuda_runtime PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(target_cuda_runtime PRIVATE fake_cudart -Wl,-rpath,${CMAKE_CURRENT_BINARY_DIR}/fake_cuda)
# The same with a runtime of its own.
add_executable(target_cuda_runtime_static targets/cuda/cuda_runtime.cc fake_cuda/fake_cudart.cc)
set_target_properties(target_cuda_runtime_static PROPERTIES OUTPUT_NAME cuda_runtime_static RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/targets)
target_include_directories(target_cuda_runtime_static PRIVATE ${PROJECT_SOURCE_DIR})
target_compile_options(target_cuda_runtime_static PRIVATE -g -O1 -Wall -Wextra -Werror)
target_link_libraries(target_cuda_runtime_static PRIVATE Threads::Threads ${CMAKE_DL_LIBS} -Wl,-rpath,${CMAKE_CURRENT_BINARY_DIR}/fake_cuda)
add_dependencies(target_cuda_runtime_static fake_cuda)
