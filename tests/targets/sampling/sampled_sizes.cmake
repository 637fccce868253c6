target_include_directories(target_sampled_sizes PRIVATE ${PROJECT_SOURCE_DIR}/shared/include)
