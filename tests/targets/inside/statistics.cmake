target_include_directories(target_statistics PRIVATE ${PROJECT_SOURCE_DIR}/shared/include)
