// Net inputs of a pose and their derivatives. Equations: libcspace/README.md, "Encodings".
#include "cspace.h"

#include <math.h>
#include <string.h>

typedef struct encoding_row {
    const char *name;
    int inputs;
} encoding_row;

static const encoding_row encodings[] = {
    [CSPACE_RAW] = {"raw", 3}, [CSPACE_SINCOS] = {"sincos", 4}, [CSPACE_TWOFRAME] = {"twoframe", 6}};

#define COUNT_ENCODINGS (sizeof encodings / sizeof encodings[0])

int cspace_encoding_inputs(cspace_encoding encoding, const cspace_fold *fold) {
    return encodings[encoding].inputs + (fold->count_kinks > 0 ? 1 : 0);
}

const char *cspace_encoding_name(cspace_encoding encoding) {
    return encodings[encoding].name;
}

core_status cspace_encoding_parse(const char *name, cspace_encoding *encoding, core_error *err) {
    CORE_CHECK(name && encoding, CORE_ARG, "cspace_encoding_parse: null argument");
    for (size_t i = 0; i < COUNT_ENCODINGS; i++)
        if (strcmp(name, encodings[i].name) == 0) {
            *encoding = (cspace_encoding)i;
            return CORE_OK;
        }
    return CORE_FAIL(err, CORE_ARG, "encoding: found \"%s\", expected raw, sincos or twoframe", name);
}

// Inputs of the pose alone.
static void encode_pose(cspace_encoding encoding, const cspace_pose *pose, double *x, double *jacobian) {
    if (encoding == CSPACE_RAW) {
        x[0] = core_wrap_angle(pose->theta) / CORE_PI;
        x[1] = pose->x;
        x[2] = pose->y;
        if (jacobian) jacobian[0] = 1.0 / CORE_PI, jacobian[4] = 1.0, jacobian[8] = 1.0;
        return;
    }
    double s, c;
    core_sincos(pose->theta, &s, &c);
    x[0] = c;
    x[1] = s;
    x[2] = pose->x;
    x[3] = pose->y;
    if (jacobian) jacobian[0] = -s, jacobian[3] = c, jacobian[7] = 1.0, jacobian[11] = 1.0;
    if (encoding == CSPACE_SINCOS) return;
    // w = R(-theta) t; d w/d theta = -R(pi/2) w = (w.y, -w.x).
    x[4] = c * pose->x + s * pose->y;
    x[5] = c * pose->y - s * pose->x;
    if (!jacobian) return;
    jacobian[12] = x[5], jacobian[13] = c, jacobian[14] = s;
    jacobian[15] = -x[4], jacobian[16] = -s, jacobian[17] = c;
}

void cspace_encode(cspace_encoding encoding, const cspace_fold *fold, const cspace_pose *pose, cspace_inputs *inputs,
                   double *jacobian) {
    const int n = encodings[encoding].inputs;
    if (jacobian) memset(jacobian, 0, 3 * (size_t)cspace_encoding_inputs(encoding, fold) * sizeof *jacobian);
    encode_pose(encoding, pose, inputs->x, jacobian);
    inputs->kink_slope = 0.0;
    if (fold->count_kinks == 0) return;
    inputs->x[n] = cspace_fold_kink(fold, pose->theta, &inputs->kink_slope);
    if (jacobian) jacobian[3 * n] = inputs->kink_slope;
}

void cspace_encoding_chain(cspace_encoding encoding, const cspace_fold *fold, const cspace_inputs *inputs,
                           const double *gradient, double slope[3]) {
    const double *x = inputs->x;
    if (encoding == CSPACE_RAW) {
        slope[0] = gradient[0] / CORE_PI;
        slope[1] = gradient[1];
        slope[2] = gradient[2];
    } else {
        const double c = x[0], s = x[1];
        slope[0] = c * gradient[1] - s * gradient[0];
        slope[1] = gradient[2];
        slope[2] = gradient[3];
        if (encoding == CSPACE_TWOFRAME) {
            slope[0] += x[5] * gradient[4] - x[4] * gradient[5];
            slope[1] += c * gradient[4] - s * gradient[5];
            slope[2] += s * gradient[4] + c * gradient[5];
        }
    }
    if (fold->count_kinks > 0) slope[0] += inputs->kink_slope * gradient[encodings[encoding].inputs];
}

void cspace_encode_normal(const cspace_pose *pose, const double slope[3], double x[CSPACE_NORMAL_INPUTS]) {
    const double length = sqrt(slope[1] * slope[1] + slope[2] * slope[2]);
    memset(x, 0, CSPACE_NORMAL_INPUTS * sizeof *x);
    if (!(length > 0.0)) return;
    double s, c;
    core_sincos(pose->theta, &s, &c);
    const double n[2] = {slope[1] / length, slope[2] / length};
    x[0] = n[0], x[1] = n[1];
    x[2] = c * n[0] + s * n[1], x[3] = c * n[1] - s * n[0];
    x[4] = slope[0] / length;
    x[5] = x[4] + pose->x * n[1] - pose->y * n[0];
    x[6] = pose->x * n[0] + pose->y * n[1];
}
