# The collector has to be stopped before a busy program is at its end.
set_tests_properties(integration.drops_among_threads PROPERTIES RUN_SERIAL TRUE)
