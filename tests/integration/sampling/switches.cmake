# It is about moments of a program that runs.
set_tests_properties(integration.switches PROPERTIES RUN_SERIAL TRUE)
