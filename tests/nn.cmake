# Networks: model and files, reference, training, inference kernels.
cem_test(test_nn_model unit/test_nn_model.c unit nn core)
cem_test(test_nn_reference unit/test_nn_reference.c unit nn core)
cem_test(test_nn_shard unit/test_nn_shard.c unit nn core)
cem_test(test_nn_soap unit/test_nn_soap.c unit nn core)
cem_test(test_nn_train unit/test_nn_train.c unit nn core)
cem_test(test_nn_kernel unit/test_nn_kernel.c unit nn core)
cem_test(bench_nn bench/bench_nn.c bench nn core)
set_source_files_properties(bench/bench_nn.c PROPERTIES COMPILE_OPTIONS "-mavx2;-mfma")
