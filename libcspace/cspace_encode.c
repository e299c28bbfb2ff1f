// Net inputs of a pose and their derivatives. Equations: libcspace/README.md, "Encodings".
#include "cspace.h"

#include <string.h>

typedef struct encoding_row {
    const char *name;
    int inputs;
} encoding_row;

static const encoding_row encodings[] = {
    [CSPACE_RAW] = {"raw", 3}, [CSPACE_SINCOS] = {"sincos", 4}, [CSPACE_TWOFRAME] = {"twoframe", 6}};

#define COUNT_ENCODINGS (sizeof encodings / sizeof encodings[0])

int cspace_encoding_inputs(cspace_encoding encoding) {
    return encodings[encoding].inputs;
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

void cspace_encode(cspace_encoding encoding, const cspace_pose *pose, double *x, double *jacobian) {
    const int n = encodings[encoding].inputs;
    if (jacobian) memset(jacobian, 0, 3 * (size_t)n * sizeof *jacobian);
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

void cspace_encoding_chain(cspace_encoding encoding, const double *x, const double *gradient, double slope[3]) {
    if (encoding == CSPACE_RAW) {
        slope[0] = gradient[0] / CORE_PI;
        slope[1] = gradient[1];
        slope[2] = gradient[2];
        return;
    }
    const double c = x[0], s = x[1];
    slope[0] = c * gradient[1] - s * gradient[0];
    slope[1] = gradient[2];
    slope[2] = gradient[3];
    if (encoding == CSPACE_SINCOS) return;
    slope[0] += x[5] * gradient[4] - x[4] * gradient[5];
    slope[1] += c * gradient[4] - s * gradient[5];
    slope[2] += s * gradient[4] + c * gradient[5];
}
