/// sdf_grid_distance at four points at once, one to a lane, by AVX2: the operations of sdf__near_distance in its order,
/// without fused ones, so the bits are the same. Each point goes through the list of its own square.
/// Compiled with -mavx2; called only where that exists.
#include "sdf_near.h"

#include <immintrin.h>
#include <math.h>

/// Starts and directions of one edge for each lane, in columns.
typedef struct edges {
    __m256d a_x, a_y, e_x, e_y;
} edges;

static inline edges load(const sdf__near_edge *const edge[SDF_LANES]) {
    __m256d a = _mm256_loadu_pd(edge[0]->a), b = _mm256_loadu_pd(edge[1]->a);
    __m256d c = _mm256_loadu_pd(edge[2]->a), d = _mm256_loadu_pd(edge[3]->a);
    __m256d ab_even = _mm256_unpacklo_pd(a, b), ab_odd = _mm256_unpackhi_pd(a, b);
    __m256d cd_even = _mm256_unpacklo_pd(c, d), cd_odd = _mm256_unpackhi_pd(c, d);
    return (edges){_mm256_permute2f128_pd(ab_even, cd_even, 0x20), _mm256_permute2f128_pd(ab_odd, cd_odd, 0x20),
                   _mm256_permute2f128_pd(ab_even, cd_even, 0x31), _mm256_permute2f128_pd(ab_odd, cd_odd, 0x31)};
}

/// Four numbers, one of each row.
static inline __m256d gather(const double *a, const double *b, const double *c, const double *d) {
    return _mm256_set_pd(*d, *c, *b, *a);
}

/// Nearest edge of each lane.
typedef struct nearest {
    __m256d least, at, number; // squared distance, place along the edge, number in the lane's list
} nearest;

static inline nearest find(const sdf_near *near, const uint16_t *const list[SDF_LANES], const int count[SDF_LANES],
                           int most, __m256d px, __m256d py) {
    const __m256d zero = _mm256_setzero_pd(), one = _mm256_set1_pd(1.0);
    nearest best = {_mm256_set1_pd(INFINITY), zero, zero};
    for (int k = 0; k < most; k++) {
        const sdf__near_edge *e[SDF_LANES];
        for (int i = 0; i < SDF_LANES; i++) // a lane whose list has ended repeats its last edge
            e[i] = near->edges + list[i][k < count[i] ? k : count[i] - 1];
        const edges g = load(e);
        __m256d inverse =
            gather(&e[0]->inverse_length2, &e[1]->inverse_length2, &e[2]->inverse_length2, &e[3]->inverse_length2);
        __m256d x = _mm256_sub_pd(px, g.a_x), y = _mm256_sub_pd(py, g.a_y);
        __m256d at = _mm256_mul_pd(_mm256_add_pd(_mm256_mul_pd(x, g.e_x), _mm256_mul_pd(y, g.e_y)), inverse);
        __m256d t = _mm256_min_pd(one, _mm256_max_pd(zero, at));
        __m256d dx = _mm256_sub_pd(x, _mm256_mul_pd(t, g.e_x)), dy = _mm256_sub_pd(y, _mm256_mul_pd(t, g.e_y));
        __m256d d2 = _mm256_add_pd(_mm256_mul_pd(dx, dx), _mm256_mul_pd(dy, dy));
        __m256d nearer = _mm256_cmp_pd(d2, best.least, _CMP_LT_OQ);
        best.least = _mm256_blendv_pd(best.least, d2, nearer);
        best.at = _mm256_blendv_pd(best.at, at, nearer);
        best.number = _mm256_blendv_pd(best.number, _mm256_set1_pd(k), nearer);
    }
    return best;
}

void sdf__near_lanes_avx2(const sdf_grid *grid, const double *x, const double *y, double *d, double *gx, double *gy) {
    const uint16_t *list[SDF_LANES];
    int count[SDF_LANES], most = 0, least = SDF_NEAR_LIST_MAX;
    for (int i = 0; i < SDF_LANES; i++) {
        int round;
        count[i] = sdf__near_list(grid->near, (const double[]){x[i], y[i]}, &list[i], &round);
        most = count[i] > most ? count[i] : most;
        least = count[i] < least ? count[i] : least;
    }
    if (least == 0) { // some point has no list
        sdf__near_lanes_scalar(grid, x, y, d, gx, gy);
        return;
    }
    __m256d px = _mm256_loadu_pd(x), py = _mm256_loadu_pd(y);
    const nearest best = find(grid->near, list, count, most, px, py);
    int number[SDF_LANES];
    double at[SDF_LANES], sign[SDF_LANES];
    const sdf__near_edge *e[SDF_LANES];
    _mm_storeu_si128((__m128i *)number, _mm256_cvttpd_epi32(best.number));
    _mm256_storeu_pd(at, best.at);
    for (int i = 0; i < SDF_LANES; i++) {
        e[i] = grid->near->edges + list[i][number[i]];
        sign[i] = e[i]->sign[at[i] > 0.0];
    }
    const edges g = load(e);
    const __m256d n_x = gather(e[0]->n, e[1]->n, e[2]->n, e[3]->n);
    const __m256d n_y = gather(e[0]->n + 1, e[1]->n + 1, e[2]->n + 1, e[3]->n + 1);
    __m256d beyond = _mm256_cmp_pd(best.at, _mm256_setzero_pd(), _CMP_GT_OQ);
    __m256d inner = _mm256_and_pd(beyond, _mm256_cmp_pd(best.at, _mm256_set1_pd(1.0), _CMP_LT_OQ));
    // beside the edge
    __m256d v_x = _mm256_sub_pd(px, g.a_x), v_y = _mm256_sub_pd(py, g.a_y);
    __m256d plain = _mm256_add_pd(_mm256_mul_pd(v_x, n_x), _mm256_mul_pd(v_y, n_y));
    // around a corner
    __m256d signs = _mm256_loadu_pd(sign), distance = _mm256_sqrt_pd(best.least);
    v_x = _mm256_blendv_pd(v_x, _mm256_sub_pd(v_x, g.e_x), beyond);
    v_y = _mm256_blendv_pd(v_y, _mm256_sub_pd(v_y, g.e_y), beyond);
    v_x = _mm256_div_pd(_mm256_mul_pd(signs, v_x), distance);
    v_y = _mm256_div_pd(_mm256_mul_pd(signs, v_y), distance);
    __m256d by_normal = _mm256_or_pd(inner, _mm256_cmp_pd(distance, _mm256_set1_pd(SDF_NEAR_TOUCHING), _CMP_LE_OQ));
    _mm256_storeu_pd(d, _mm256_blendv_pd(_mm256_mul_pd(signs, distance), plain, inner));
    _mm256_storeu_pd(gx, _mm256_blendv_pd(v_x, n_x, by_normal));
    _mm256_storeu_pd(gy, _mm256_blendv_pd(v_y, n_y, by_normal));
}
