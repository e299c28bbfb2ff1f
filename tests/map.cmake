# Contact maps: symmetries, folding, encodings, evaluation, bundles, training, pipeline; their commands.
cem_test(test_cspace_symmetry unit/test_cspace_symmetry.c unit cspace)
cem_test(test_cspace_fold unit/test_cspace_fold.c unit cspace)
cem_test(test_cspace_encode unit/test_cspace_encode.c unit cspace)
cem_test(test_cspace_map unit/test_cspace_map.c unit cspace)
cem_test(test_cspace_batch unit/test_cspace_batch.c unit cspace)
cem_test(test_cspace_bundle unit/test_cspace_bundle.c unit cspace cem::hdf5)
cem_test(test_cspace_statement unit/test_cspace_statement.c unit cspace)
cem_test(test_cspace_train unit/test_cspace_train.c unit cspace)
cem_test(test_cspace_train_state unit/test_cspace_train_state.c unit cspace)
set_tests_properties(test_cspace_train_state PROPERTIES ENVIRONMENT
  "LSAN_OPTIONS=suppressions=${CMAKE_CURRENT_SOURCE_DIR}/unit/hdf5.supp")
cem_test(test_cspace_report unit/test_cspace_report.c unit cspace)
cem_test(test_cspace_pipeline unit/test_cspace_pipeline.c unit cspace)

add_executable(bench_map bench/bench_map.c)
target_link_libraries(bench_map PRIVATE cspace cem_flags m)
target_include_directories(bench_map PRIVATE unit)
set_target_properties(bench_map PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
add_test(NAME bench_map COMMAND bench_map)
set_tests_properties(bench_map PROPERTIES LABELS bench TIMEOUT 300)

foreach(command nntrain mkmaps mapquery)
  add_test(NAME cli_${command} COMMAND bash ${CMAKE_CURRENT_SOURCE_DIR}/cli/${command}.sh ${CMAKE_BINARY_DIR}/bin)
  set_tests_properties(cli_${command} PROPERTIES LABELS cli TIMEOUT 300)
endforeach()

# Rest on trained maps: trains two pairs on exact labels, then sets grains on a fixed one.
add_executable(map_rest reference/map_rest.c)
target_link_libraries(map_rest PRIVATE sim cem_flags m)
set_target_properties(map_rest PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
add_test(NAME map_rest COMMAND bash ${CMAKE_CURRENT_SOURCE_DIR}/reference/map_rest.sh ${CMAKE_BINARY_DIR})
set_tests_properties(map_rest PROPERTIES LABELS slow TIMEOUT 1800)

# The physics of trained maps: trains #, square and U once for a build folder.
add_executable(map_physics reference/map_physics.c)
target_link_libraries(map_physics PRIVATE sim cem_flags cem::cmocka m)
target_include_directories(map_physics PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
set_target_properties(map_physics PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
add_test(NAME map_physics COMMAND bash ${CMAKE_CURRENT_SOURCE_DIR}/reference/map_physics.sh ${CMAKE_BINARY_DIR})
set_tests_properties(map_physics PROPERTIES LABELS slow TIMEOUT 1800)
