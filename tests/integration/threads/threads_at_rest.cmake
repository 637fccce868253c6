# It measures resident memory, which rings take more of where the collector has no processor.
set_tests_properties(integration.threads_at_rest PROPERTIES RUN_SERIAL TRUE)
