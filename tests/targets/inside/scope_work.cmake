target_include_directories(target_scope_work PRIVATE ${PROJECT_SOURCE_DIR}/shared/include)
