/// Inference: choice of the instruction set at run time, life of a kernel. The arithmetic is in nn_kernel_<set>.c.
#include "nn_private.h"

#include <math.h>

struct nn_kernel {
    nn_model model; // a copy, scaled for the kernels (nn_private.h)
    const nn_kernel_ops *ops;
    float *packed; // in the layout of ops
};

/// In the order of nn_isa, the best last.
static const nn_kernel_ops *const isa_table[] = {&nn__kernel_scalar_ops, &nn__kernel_avx2_ops, &nn__kernel_avx512_ops};
enum { ISA_COUNT = sizeof isa_table / sizeof isa_table[0] };

/// The implementation behind an nn_isa, NULL if it is unknown or this machine cannot run it.
static const nn_kernel_ops *find_ops(nn_isa isa) {
    int index = (int)isa;
    if (isa == NN_ISA_BEST) {
        for (index = ISA_COUNT - 1; index > 0 && !isa_table[index]->available();) index--;
    }
    if (index < 0 || index >= ISA_COUNT || !isa_table[index]->available()) return NULL;
    return isa_table[index];
}

bool nn_isa_available(nn_isa isa) {
    return find_ops(isa) != NULL;
}

const char *nn_isa_name(nn_isa isa) {
    if (isa == NN_ISA_BEST) return find_ops(isa)->name;
    return (int)isa >= 0 && (int)isa < ISA_COUNT ? isa_table[isa]->name : "unknown";
}

/// QReLU in units of 2e and its sums shifted by 1/2 (t = z/(2e) + 1/2), so that the corner costs no multiplication:
/// hidden weights stay, since what comes in and what goes out are scaled alike.
static void scale_model(nn_model *model) {
    if (model->activation != NN_QRELU) return;
    float unit = 2 * model->corner, inverse = 1 / unit;
    float *first = model->parameters, *last = model->parameters + model->offset_weight[model->layers];
    for (int i = 0; i < model->width * model->inputs; i++) first[i] *= inverse;
    for (int l = 0; l < model->layers; l++) {
        float *bias = model->parameters + model->offset_bias[l];
        for (int o = 0; o < model->width; o++) bias[o] = fmaf(bias[o], inverse, 0.5f);
    }
    for (int i = 0; i < model->heads * model->width; i++) last[i] *= unit;
}

core_status nn_kernel_create(const nn_model *model, nn_isa isa, nn_kernel **kernel, core_error *err) {
    core_status status = CORE_OK;
    nn_kernel *k = NULL;
    CORE_CHECK(model && kernel, CORE_ARG, "nn_kernel_create: null argument");
    CORE_TRY(nn_model_validate(model, err));
    const nn_kernel_ops *ops = find_ops(isa);
    CORE_CHECK(ops, CORE_UNSUPPORTED, "this machine cannot run the inference kernel '%s'", nn_isa_name(isa));

    CORE_NEW_DONE(k, 1);
    k->ops = ops;
    CORE_TRY_DONE(nn_model_copy(model, &k->model, err));
    scale_model(&k->model);
    CORE_NEW_DONE(k->packed, ops->count_packed(&k->model));
    ops->pack(&k->model, k->packed);
    *kernel = k;
    k = NULL;
done:
    nn_kernel_destroy(&k);
    return status;
}

void nn_kernel_destroy(nn_kernel **kernel) {
    if (!kernel || !*kernel) return;
    nn_model_clear(&(*kernel)->model);
    core_free((*kernel)->packed);
    core_free(*kernel);
    *kernel = NULL;
}

size_t nn_kernel_scratch_bytes(const nn_kernel *kernel, int n) {
    (void)n; // rows go through in blocks of fixed size
    return kernel->ops->scratch_bytes(&kernel->model);
}

void nn_kernel_evaluate(const nn_kernel *kernel, int n, int stride, const float *x, float *value, float *gradient,
                        void *scratch) {
    if (n <= 0) return;
    kernel->ops->evaluate(&kernel->model, kernel->packed, n, stride, x, value, gradient, scratch);
}
