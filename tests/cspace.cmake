# Labels: minimiser, gradient, sampler, their file and the command.
cem_test(test_cspace_minimiser unit/test_cspace_minimiser.c unit cspace sdf core)
cem_test(test_cspace_gradient unit/test_cspace_gradient.c unit cspace sdf core)
cem_test(test_cspace_exact unit/test_cspace_exact.c unit cspace sdf core)
cem_test(test_cspace_sampler unit/test_cspace_sampler.c unit cspace sdf core)
cem_test(test_cspace_samples_file unit/test_cspace_samples_file.c unit cspace sdf core)
cem_test(bench_labels bench/bench_labels.c bench cspace sdf core)
add_test(NAME cli_csample COMMAND bash ${CMAKE_CURRENT_SOURCE_DIR}/cli/csample.sh ${CMAKE_BINARY_DIR}/bin)
set_tests_properties(cli_csample PROPERTIES LABELS cli TIMEOUT 300)
