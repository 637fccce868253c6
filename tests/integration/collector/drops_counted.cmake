# The collector has to be stopped before a busy program is at its end.
set_tests_properties(integration.drops_counted PROPERTIES RUN_SERIAL TRUE)
