# The whole chain of commands, from shape file to pictures and numbers.
add_test(NAME cli_pipeline COMMAND bash ${CMAKE_CURRENT_SOURCE_DIR}/cli/pipeline.sh $<TARGET_FILE_DIR:simulate> ${CMAKE_SOURCE_DIR})
set_tests_properties(cli_pipeline PROPERTIES LABELS cli TIMEOUT 300)
add_test(NAME column_collapse COMMAND bash ${CMAKE_CURRENT_SOURCE_DIR}/reference/column_collapse.sh $<TARGET_FILE_DIR:simulate>
  ${CMAKE_SOURCE_DIR})
set_tests_properties(column_collapse PROPERTIES LABELS slow TIMEOUT 1800 RUN_SERIAL ON)
# Installed into a prefix, used by a program of a user's own.
add_test(NAME install COMMAND bash ${CMAKE_CURRENT_SOURCE_DIR}/install/install.sh ${CMAKE_BINARY_DIR}/bin ${CMAKE_BINARY_DIR} ${CMAKE_C_COMPILER}
  "$<$<BOOL:${CEM_SANITIZE}>:-fsanitize=address,undefined>")
set_tests_properties(install PROPERTIES LABELS cli TIMEOUT 300)
