target_include_directories(target_torch_locked PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(target_torch_locked PRIVATE fake_torch -Wl,-rpath,${CMAKE_CURRENT_BINARY_DIR}/fake_torch)
