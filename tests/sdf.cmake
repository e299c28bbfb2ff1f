# libsdf, the project's shapes and the sdfgen command.
foreach(module mass distance grid near shape image formats contour photo thickness posed file)
  cem_test(test_sdf_${module} unit/test_sdf_${module}.c unit sdf)
endforeach()
cem_test(test_sdf_order reference/test_sdf_order.c reference sdf)
target_include_directories(test_sdf_order PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/unit)
if(TARGET sdfgen)
  add_test(NAME cli_sdfgen COMMAND bash ${CMAKE_CURRENT_SOURCE_DIR}/cli/sdfgen.sh ${CMAKE_BINARY_DIR}/bin
    WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
  set_tests_properties(cli_sdfgen PROPERTIES LABELS cli TIMEOUT 300)
endif()
