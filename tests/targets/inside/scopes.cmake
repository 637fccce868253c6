target_include_directories(target_scopes PRIVATE ${PROJECT_SOURCE_DIR}/shared/include)
