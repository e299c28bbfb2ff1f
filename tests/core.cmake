# libcore and cmd_common, and the architecture's rules.
foreach(part buffer alloc csv random math thread team text file h5 h5_damage)
  cem_test(test_core_${part} unit/test_core_${part}.c unit core)
endforeach()
set_tests_properties(test_core_h5_damage PROPERTIES ENVIRONMENT
  "LSAN_OPTIONS=suppressions=${CMAKE_CURRENT_SOURCE_DIR}/unit/hdf5.supp")
cem_test(test_cmd_common unit/test_cmd_common.c unit cmd_common core)
add_test(NAME dependencies COMMAND ${CMAKE_COMMAND} -DROOT=${CMAKE_SOURCE_DIR} -DCOMPILER=${CMAKE_C_COMPILER}
  "-DINCLUDES=${hdf5_INCLUDE};${yaml_INCLUDE};${geos_INCLUDE};${openblas_INCLUDE};${stb_INCLUDE}"
  -P ${CMAKE_CURRENT_SOURCE_DIR}/unit/dependencies.cmake)
set_tests_properties(dependencies PROPERTIES LABELS unit TIMEOUT 120)
