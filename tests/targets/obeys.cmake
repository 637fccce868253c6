target_include_directories(target_obeys PRIVATE ${PROJECT_SOURCE_DIR}/shared/include)
