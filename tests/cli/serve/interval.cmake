# It is about what happens within an interval of seconds.
set_tests_properties(cli.serve.interval PROPERTIES RUN_SERIAL TRUE)
