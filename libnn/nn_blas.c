/// The one door to BLAS: the few products training needs, row-major, always adding to what is there.
#include "nn_private.h"

#include <cblas.h>

#define WORK_BYTES ((size_t)128 << 20) // mapped by OpenBLAS 0.3 for each thread that multiplies; touched as it is used

core_status nn__blas_init(core_error *err) {
    openblas_set_num_threads(1);
    void *room = core_realloc(NULL, 0, WORK_BYTES, 1); // never touched
    CORE_CHECK(room, CORE_MEMORY, "out of memory: BLAS needs %zu MB of address space", WORK_BYTES >> 20);
    core_free(room);
    return CORE_OK;
}

const char *nn_blas_core(void) {
    return openblas_get_corename();
}

void nn__blas_multiply(int m, int n, int k, const float *a, int lda, const float *b, int ldb, float *c, int ldc) {
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1, a, lda, b, ldb, 1, c, ldc);
}

void nn__blas_multiply_transposed_left(int m, int n, int k, const float *a, int lda, const float *b, int ldb, float *c,
                                       int ldc) {
    cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, m, n, k, 1, a, lda, b, ldb, 1, c, ldc);
}

void nn__blas_multiply_transposed_right(int m, int n, int k, const float *a, int lda, const float *b, int ldb, float *c,
                                        int ldc) {
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, m, n, k, 1, a, lda, b, ldb, 1, c, ldc);
}

void nn__blas_vector(int m, int n, const float *a, int lda, const float *x, float *y) {
    cblas_sgemv(CblasRowMajor, CblasNoTrans, m, n, 1, a, lda, x, 1, 1, y, 1);
}

void nn__blas_vector_transposed(int m, int n, const float *a, int lda, const float *x, float *y) {
    cblas_sgemv(CblasRowMajor, CblasTrans, m, n, 1, a, lda, x, 1, 1, y, 1);
}
