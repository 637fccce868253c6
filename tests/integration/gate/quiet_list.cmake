# Rules of findings begin with a run of 1 s, which a neighbour makes of a shorter one.
set_tests_properties(integration.quiet_list PROPERTIES RUN_SERIAL TRUE)
