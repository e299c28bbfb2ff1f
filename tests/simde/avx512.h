/// Included by the compiler before nn_kernel_avx512.c when that file is compiled for its test: AVX-512 by SIMDe on any
/// machine with AVX2. SIMDe includes the compiler's own header first, so that the file's include of it does nothing.
/// What the machine has is not asked.
#ifndef TESTS_SIMDE_AVX512_H
#define TESTS_SIMDE_AVX512_H

#define SIMDE_ENABLE_NATIVE_ALIASES
#include <simde/x86/avx512.h>

#define __builtin_cpu_supports(name) true

#endif
