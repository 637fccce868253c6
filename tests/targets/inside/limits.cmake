target_include_directories(target_limits PRIVATE ${PROJECT_SOURCE_DIR}/shared/include)
