# Its programs allocate by a clock: a neighbour that takes the processor changes what they did.
set_tests_properties(integration.findings PROPERTIES RUN_SERIAL TRUE)
