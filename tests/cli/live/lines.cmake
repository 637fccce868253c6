# It is about what happens between two samples.
set_tests_properties(cli.live.lines PROPERTIES RUN_SERIAL TRUE)
