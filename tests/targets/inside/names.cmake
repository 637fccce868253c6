target_include_directories(target_names PRIVATE ${PROJECT_SOURCE_DIR}/shared/include)
