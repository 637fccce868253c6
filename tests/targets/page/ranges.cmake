target_include_directories(target_ranges PRIVATE ${PROJECT_SOURCE_DIR}/shared/include)
