# It measures the memory of a program while threads and a collector work.
set_tests_properties(integration.attach PROPERTIES RUN_SERIAL TRUE)
