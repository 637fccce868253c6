target_include_directories(target_measures PRIVATE ${PROJECT_SOURCE_DIR}/shared/include)
