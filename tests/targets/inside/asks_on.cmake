target_include_directories(target_asks_on PRIVATE ${PROJECT_SOURCE_DIR}/shared/include)
