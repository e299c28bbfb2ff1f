/// libcspace: relative poses of a pair of shapes - distance, gradient and moment arms from the phi_A + phi_B + |phi_A -
/// phi_B| minimiser; symmetries; samples; contact maps (fold + encoding + nets + unfold). One piece of code for
/// training and simulation.
///
/// Pose (theta, x, y): B seen from A, in A's frame, in units of L = max(R_A, R_B). Shape A has circumradius R_A/L, B
/// R_B/L. All equations: libcspace/README.md.
#ifndef CSPACE_H
#define CSPACE_H

#include "core.h"
#include "core_h5.h"
#include "nn.h"
#include "sdf.h"

#define CSPACE_SAMPLES_FORMAT "cem.samples"
#define CSPACE_SAMPLES_VERSION 1
#define CSPACE_MAPS_FORMAT "cem.maps"
#define CSPACE_MAPS_VERSION 2

/// A relative pose: B seen from A.
typedef struct cspace_pose {
    double theta; // rad, any; wrapped where needed
    double x, y;  // units of L, A's frame
} cspace_pose;

/// What a pair has to say at one pose (one contact). A's frame, units of L.
typedef struct cspace_contact {
    double d;       // signed distance, negative in overlap
    double d_theta; // rate of d when B turns about its centre, per rad
    double g[2];    // raw gradient of d with respect to B's centre; |g| may be below 1
    double r_a;     // (p - x_A).n
    double r_b;     // (p - x_B).n;  r_a - r_b = t.n exactly
} cspace_contact;

/// A pair of shapes with their grids, borrowed, and sizes.
typedef struct cspace_pair {
    const sdf_shape *a, *b;
    const sdf_grid *grid_a, *grid_b;
    double ratio;            // R_B / R_A
    double scale_a, scale_b; // circumradii in units of L: the larger is 1
} cspace_pair;
/// RANGE: ratio outside [1/64, 64].
core_status cspace_pair_init(const sdf_shape *a, const sdf_grid *grid_a, const sdf_shape *b, const sdf_grid *grid_b,
                             double ratio, cspace_pair *pair, core_error *err);

// ---------------------------------------------------------------------------------------------- minimiser

/// Search limits. cspace_search_default_def: tolerance 1e-4, max_cells 200000, no early exit.
typedef struct cspace_search_def {
    int cookie;
    double tolerance; // allowed error of d from the search itself, units of L; where d is saturated not below 1/8 grid
                      // cell
    double band;      // > 0: the search may stop early, reporting `outside`, once |d| > band is certain; 0: off
    int max_cells;    // cells examined before the best value so far is taken
} cspace_search_def;
/// The defaults named above.
cspace_search_def cspace_search_default_def(void);

/// What a search found.
typedef struct cspace_minimum {
    double d; // min over x of E(x) = 2 max(phi_A, phi_qB); beyond the band only its side (sign) is right if `outside`
    double p[2]; // minimiser x*, A's frame
    int count_cells;
    bool outside; // stopped early
} cspace_minimum;
/// Lipschitz branch and bound (E is 2-Lipschitz) on a quadtree, with a local descent first. Deterministic, no
/// allocation, thread-safe.
void cspace_minimise(const cspace_pair *pair, const cspace_search_def *def, const cspace_pose *pose, cspace_minimum *m);
/// d, raw gradient and moment arms at one pose. tolerance etc. from def (its band is ignored).
void cspace_numeric_contact(const cspace_pair *pair, const cspace_search_def *def, const cspace_pose *pose,
                            cspace_contact *contact);
/// As cspace_numeric_contact, smoothed: the mean of d over 6 poses at +-sqrt(3) sigma per axis of (L theta, x, y),
/// gradient by central differences over the same poses, moment arms of the centre pose. sigma in units of L, 0: plain.
void cspace_numeric_contact_smooth(const cspace_pair *pair, const cspace_search_def *def, double sigma,
                                   const cspace_pose *pose, cspace_contact *contact);

// ---------------------------------------------------------------------------------------------- exact

/// Exact signed distance of the two polygonal regions: apart their distance, in overlap minus the translational
/// penetration depth (the shortest translation of B that ends the overlap; a pocket of free space inside A counts as
/// free). |g| = 1. Needs no grids. Read-only once made: one for all threads.
typedef struct cspace_exact cspace_exact;
/// What a query works in; one per thread.
typedef struct cspace_exact_scratch cspace_exact_scratch;
/// Cuts both outlines into convex parts (cost O(n^3) in their points). SHAPE, RANGE (outlines of too many parts),
/// MEMORY.
core_status cspace_exact_create(const cspace_pair *pair, cspace_exact **exact, core_error *err);
/// Accepts NULL.
void cspace_exact_destroy(cspace_exact **exact);
/// Memory for queries of this pair. MEMORY.
core_status cspace_exact_scratch_create(const cspace_exact *exact, cspace_exact_scratch **scratch, core_error *err);
/// Accepts NULL.
void cspace_exact_scratch_destroy(cspace_exact_scratch **scratch);
/// d, gradient and moment arms at one pose; NaN for a pose that is not finite. At a tie one of the contacts. No
/// allocation.
void cspace_exact_contact(const cspace_exact *exact, const cspace_pose *pose, cspace_contact *contact,
                          cspace_exact_scratch *scratch);
/// The same where |d| <= band; else false, much sooner, and the contact is NaN.
bool cspace_exact_near(const cspace_exact *exact, const cspace_pose *pose, double band, cspace_contact *contact,
                       cspace_exact_scratch *scratch);
/// The same where d <= apart, however deep the overlap.
bool cspace_exact_reaches(const cspace_exact *exact, const cspace_pose *pose, double apart, cspace_contact *contact,
                          cspace_exact_scratch *scratch);

/// As cspace_exact_contact, smoothed: means of d and of (r_a + r_b)/2 over 6 poses at +-sqrt(3) sigma per axis of
/// (L theta, x, y), gradient by central differences over the same. sigma in units of L, 0: plain.
void cspace_exact_contact_smooth(const cspace_exact *exact, double sigma, const cspace_pose *pose,
                                 cspace_contact *contact, cspace_exact_scratch *scratch);

/// The configuration obstacle at one angle, for many translations: answers are those of cspace_exact_contact to
/// rounding, much sooner. One per thread.
typedef struct cspace_obstacle cspace_obstacle;
/// exact is borrowed until the obstacle is destroyed. MEMORY.
core_status cspace_obstacle_create(const cspace_exact *exact, cspace_obstacle **obstacle, core_error *err);
/// Accepts NULL.
void cspace_obstacle_destroy(cspace_obstacle **obstacle);
/// Finds the boundary at an angle: all stretches of edge against corner that no overlap covers. Cost like that of some
/// ten to a hundred single queries. NONFINITE, MEMORY; the obstacle then answers with NaN.
core_status cspace_obstacle_turn(cspace_obstacle *obstacle, double theta, core_error *err);
/// d, gradient and moment arms with B's centre at t; NaN if it is not finite. False (and NaN) where |d| > band. The
/// obstacle keeps what it had to work out; no allocation.
bool cspace_obstacle_contact(cspace_obstacle *obstacle, const double t[2], double band, cspace_contact *contact);

// ---------------------------------------------------------------------------------------------- samples

/// Where labels come from.
typedef enum cspace_labels { CSPACE_LABELS_MINIMISER, CSPACE_LABELS_EXACT, CSPACE_LABELS_COUNT } cspace_labels;
/// Their names in commands and files.
extern const char *const cspace_labels_names[CSPACE_LABELS_COUNT];

/// How samples are drawn. cspace_sample_default_def: the values named.
typedef struct cspace_sample_def {
    int cookie;
    int64_t samples;      // 500000 (1000 .. 100 million)
    int64_t held_out;     // 20000: drawn by plain rejection with another seed, for accuracy tables
    double near_fraction; // 0.9 within the band of contact, the rest uniform over |t| <= R_A + R_B
    double band;          // 0.1 units of L
    double smoothing;     // 0: none (0 .. 0.1): width of the kernel d is averaged over, units of L
    uint64_t seed;
    int threads;
    cspace_labels labels;     // MINIMISER
    cspace_search_def search; // of the minimiser
} cspace_sample_def;
/// The defaults named above.
cspace_sample_def cspace_sample_default_def(void);

/// A set of labelled poses. Owns its arrays.
typedef struct cspace_rows {
    int64_t n;
    double *pose;       // (n x 3) theta, x, y
    double *distance;   // (n)
    double *gradient;   // (n x 3) d_theta, g_x, g_y
    double *moment_arm; // (n x 2) r_a, r_b
} cspace_rows;
/// Frees and zeroes; accepts {0} and NULL.
void cspace_rows_clear(cspace_rows *rows);
/// The same samples as the pair (B, A) sees them. MEMORY.
core_status cspace_rows_swap(const cspace_rows *from, cspace_rows *to, core_error *err);

/// Content of a `*.samples.h5` file. Owns everything.
typedef struct cspace_samples {
    sdf_shape a, b;
    double ratio;
    char labels[16]; // of cspace_labels_names
    double near_fraction, band;
    double smoothing; // 0 in files without it
    uint64_t seed;
    double acceptance_rate; // of the rejection sampler
    uint64_t input_hash;    // of everything the result depends on: shapes, grids, options (staleness)
    cspace_rows training, held_out;
} cspace_samples;
/// Same seed, same bits for any number of threads. RANGE, NOT_CONVERGED (band never met), MEMORY.
core_status cspace_sample(const cspace_pair *pair, const cspace_sample_def *def, const core_progress *progress,
                          cspace_samples *samples, core_error *err);
/// Frees and zeroes; accepts {0} and NULL.
void cspace_samples_clear(cspace_samples *samples);
/// The input_hash that cspace_sample would store.
uint64_t cspace_sample_input_hash(const cspace_pair *pair, const cspace_sample_def *def);
/// Writes a *.samples.h5 file; provenance NULL allowed. IO, MEMORY.
core_status cspace_samples_write(const char *path, const cspace_samples *samples, const core_h5_provenance *provenance,
                                 core_error *err);
/// IO, FORMAT, VERSION_OTHER, NONFINITE, MEMORY. content_hash may be NULL.
core_status cspace_samples_read(const char *path, cspace_samples *samples, uint64_t *content_hash, core_error *err);
/// Names of the shapes and ratio alone, as they stand there. IO, FORMAT, VERSION_OTHER.
core_status cspace_samples_read_pair(const char *path, char a[CORE_NAME_MAX], char b[CORE_NAME_MAX], double *ratio,
                                     core_error *err);

// ---------------------------------------------------------------------------------------------- symmetries and folding

/// Largest distance, canonical units, by which an outline may miss its own image: shape files with five decimals pass,
/// and it is far below what any map resolves.
#define CSPACE_SYMMETRY_TOLERANCE 1e-5

/// Rotation order and mirror axis of an outline: invariant under R(2 pi/order); mirror: angle of an axis, NaN if there
/// is none. Found to `tolerance` (distance of the image's vertices and edge mid-points from the outline and vice versa,
/// ring by ring, canonical units); order up to 128. Cost O(128 + vertices^2) for usual shapes; deterministic.
typedef struct cspace_symmetry {
    int order;
    double mirror; // rad in [0, pi/order), or NaN
} cspace_symmetry;
cspace_symmetry cspace_symmetry_find(const core_outline *canonical, double tolerance);

/// Width of the strip at a glued face in which two images are blended, units of L.
#define CSPACE_BLEND_WIDTH 0.08
/// Training sees both images in a strip this much wider: the net is right where the blend needs it.
#define CSPACE_FOLD_REACH 1.5
#define CSPACE_KINKS_MAX 16
#define CSPACE_IMAGES_MAX 4

/// How poses are folded before the nets see them (README.md, "Symmetries and folding"). order 1, no mirrors and no
/// swap: the identity.
typedef struct cspace_fold {
    int order_a, order_b;
    double mirror_a, mirror_b;      // NaN: none; the mirror fold needs both
    double origin_a, origin_b;      // bearings (rad) of the cells' centres: mirror axes, or 0
    bool swap;                      // A and B are the same shape of the same size: they may be exchanged
    double blend_width;             // width of the strips at glued faces, units of L; 0: no blending, d jumps there
    int count_kinks;                // angles at which faces are parallel: one more net input, the distance from them
    double kinks[CSPACE_KINKS_MAX]; // rad, of theta - origin_a + origin_b
    // Derived by cspace_fold_prepare:
    bool identity, mirror;       // nothing to fold; the mirror fold is on
    double axis_a[2], axis_b[2]; // cos, sin of the origins
    double edge[2][2];           // cos, sin of pi/order: ends of the cells of A and B
    double limit[2];             // largest width of a strip there, per unit of |t|
} cspace_fold;
/// Checks every field and derives the rest. RANGE, NONFINITE.
core_status cspace_fold_prepare(cspace_fold *fold, core_error *err);
/// Rotations, mirrors, exchange and parallel faces of two shapes, R_B/R_A = ratio, or the identity if `on` is false.
/// Prepared.
cspace_fold cspace_fold_make(const sdf_shape *a, const sdf_shape *b, double ratio, bool on);
/// Distance of theta (of a folded pose, rad) from the nearest angle at which faces are parallel, and its derivative
/// (+-1); without any: pi and 0.
double cspace_fold_kink(const cspace_fold *fold, double theta, double *slope);

/// One image of a pose in the fundamental domain. The map's answer is the sum of weight x answer at the image.
typedef struct cspace_image {
    cspace_pose pose;       // between frames turned to the cells' centres
    double weight;          // of all images sum to 1
    double weight_slope[3]; // d weight / d (theta, x, y) of the asker
    double turn[2], frame[2], lever[2];
    bool mirrored, swapped; // swapped: (r_a + r_b)/2 changes its sign
} cspace_image;
/// Images of a pose under a prepared fold: one, or inside strips at glued faces two or four (on average 1.1). reach:
/// strips are widened by this factor; an image beyond a strip itself has weight 1, its partner 0. 1 to evaluate,
/// CSPACE_FOLD_REACH to train. Returns their number; the first image is the one inside the domain.
int cspace_fold_images(const cspace_fold *fold, const cspace_pose *pose, double reach,
                       cspace_image images[CSPACE_IMAGES_MAX]);
/// A derivative with respect to the image's pose as one with respect to the asker's. In place is allowed.
void cspace_image_return(const cspace_image *image, const double slope[3], double asked[3]);
/// Which copy of the domain a pose lies in: a number that changes across every face, blended or reflecting, and nowhere
/// else. For measuring jumps: walk, compare, bisect. Bits 0-7 and 8-15: turns of A and of B (of both, exchanged); 16:
/// mirrored; 17: exchanged.
int cspace_fold_branch(const cspace_fold *fold, const cspace_pose *pose);
/// Answer for the pair (A, B) from one for (B, A): the pose to ask the swapped pair for, and its answer mapped back.
cspace_pose cspace_swap_pose(const cspace_pose *pose);
void cspace_swap_return(const cspace_pose *pose, cspace_contact *contact);

// ---------------------------------------------------------------------------------------------- encodings

/// Net inputs: RAW (theta/pi, x, y), SINCOS (cos, sin, x, y), TWOFRAME (cos, sin, t in A's frame, t in B's frame). A
/// fold with kinks adds the distance of theta from them.
typedef enum cspace_encoding { CSPACE_RAW, CSPACE_SINCOS, CSPACE_TWOFRAME } cspace_encoding;
/// Inputs from a pose, and those from a normal (cspace_encode_normal), at most.
#define CSPACE_INPUTS_MAX 7
#define CSPACE_NORMAL_INPUTS 7
/// Its name in files and options.
const char *cspace_encoding_name(cspace_encoding encoding);
/// ARG: unknown name.
core_status cspace_encoding_parse(const char *name, cspace_encoding *encoding, core_error *err);
/// Number of inputs of a pose folded by `fold`.
int cspace_encoding_inputs(cspace_encoding encoding, const cspace_fold *fold);

/// What a net sees of one folded pose.
typedef struct cspace_inputs {
    double x[CSPACE_INPUTS_MAX];
    double kink_slope; // derivative of the last input with respect to theta, if the fold has kinks
} cspace_inputs;
/// Inputs of a folded pose and, unless NULL, their Jacobian (inputs x 3) row-major with respect to (theta, x, y).
void cspace_encode(cspace_encoding encoding, const cspace_fold *fold, const cspace_pose *pose, cspace_inputs *inputs,
                   double *jacobian);
/// Derivative with respect to (theta, x, y) from that with respect to the inputs: slope = J^T gradient.
void cspace_encoding_chain(cspace_encoding encoding, const cspace_fold *fold, const cspace_inputs *inputs,
                           const double *gradient, double slope[3]);
/// Further inputs of a moment-arm net that sees the distance net's answer at the same folded pose, slope = (d_theta,
/// g): n = g/|g| in A's and in B's frame, d_theta/|g|, d_theta/|g| + t x n, t.n. All 0 where g = 0.
void cspace_encode_normal(const cspace_pose *pose, const double slope[3], double x[CSPACE_NORMAL_INPUTS]);

// ---------------------------------------------------------------------------------------------- contact maps

/// Accuracy of a map on held-out samples within |d| < 0.1 of contact (units of L, degrees, fractions).
typedef struct cspace_error_stats {
    int64_t n;                                              // samples used
    double d_mean, d_p50, d_p99, d_max;                     // of |d_hat - d|
    double d_bias;                                          // mean of d_hat - d
    double sign_errors;                                     // fraction with the wrong sign, of those with |d| > .005
    double normal_mean, normal_p50, normal_p90, normal_p99; // degrees
    double slope_mean;                                      // mean | |g_hat| - |g| |
    double arm_mean, arm_p50, arm_p99;                      // |r_hat - r| of both arms
} cspace_error_stats;

/// Distance bands of an error statement: band k holds the poses with edges[k] <= d < edges[k + 1], row CSPACE_BANDS of
/// every table all of them.
#define CSPACE_BANDS 6
extern const double cspace_band_edges[CSPACE_BANDS + 1]; // units of L: -.1, -.03, -.01, 0, .01, .03, .1
/// Depths whose missed overlaps are counted, units of L: .005, .01, .02, .05.
#define CSPACE_DEPTHS 4
extern const double cspace_depths[CSPACE_DEPTHS];

/// Where the image a fold takes of a pose changes, and the branch cut of the angle.
typedef enum cspace_seam {
    CSPACE_SEAM_PI,         // theta = +-pi
    CSPACE_SEAM_ROTATION_A, // A's bearing leaves its cell
    CSPACE_SEAM_ROTATION_B, // B's does
    CSPACE_SEAM_MIRROR,     // the mirror image takes over
    CSPACE_SEAM_SWAP,       // the image with A and B exchanged takes over
    CSPACE_SEAM_COUNT
} cspace_seam;
/// Their names in tables and files.
extern const char *const cspace_seam_names[CSPACE_SEAM_COUNT];

/// Jumps of a map between the two sides of its seams, 1e-9 apart. A jump of the normal is the least of |turn| and |turn
/// - exact turn|, where the exact normal turns by the latter within 1e-4: true kinks count as no error.
typedef struct cspace_jump_stats {
    int64_t n;                                  // crossings looked at
    double d_mean, d_p99, d_max;                // units of L
    double normal_mean, normal_p99, normal_max; // degrees
} cspace_jump_stats;

/// The error statement of a map: what it gets wrong, by distance from contact. Exact: the two outlines' own distance
/// and depth. Poses are put in bands by the exact distance, by the label where there is none. n = 0 in a table: nothing
/// to compare.
typedef struct cspace_statement {
    int64_t poses;                                     // held-out poses used; 0: not measured
    bool exact;                                        // the outlines were asked
    cspace_error_stats map_exact[CSPACE_BANDS + 1];    // the map against exact geometry: what counts
    cspace_error_stats map_labels[CSPACE_BANDS + 1];   // the map against its own labels: the nets' share
    cspace_error_stats labels_exact[CSPACE_BANDS + 1]; // the labels against exact geometry: their share
    cspace_error_stats swap[CSPACE_BANDS + 1]; // equal shapes: the map against its own answer, A and B exchanged
    cspace_jump_stats jump[CSPACE_BANDS + 1];  // at all seams
    cspace_jump_stats seam[CSPACE_SEAM_COUNT]; // by kind of seam, all bands
    int64_t overlaps[CSPACE_DEPTHS];           // poses that overlap by more than cspace_depths[k], all depths
    int64_t missed[CSPACE_DEPTHS];             // of these, where the map sees none
    double missed_deepest;                     // deepest overlap the map does not see, 0: none
} cspace_statement;

/// A contact map of one pair. Owns its nets. `{0}` is "nothing".
typedef struct cspace_map {
    char a[CORE_NAME_MAX], b[CORE_NAME_MAX];
    double ratio, scale_a, scale_b;
    uint64_t hash_a, hash_b; // of the canonical outlines
    char labels[16];
    double smoothing; // of the labels, units of L; 0: none
    cspace_fold fold;
    cspace_encoding encoding;
    bool arm_normal;               // the moment-arm net also sees the distance net's normal
    nn_model distance, moment_arm; // outputs d and s = (r_a + r_b)/2
    nn_kernel *kernel_distance, *kernel_moment_arm;
    cspace_error_stats error;
    cspace_statement statement;
    char recipe[16];
    nn_train_report train_distance, train_moment_arm;
    double core_seconds; // processor time of the training, rows and interrupted calls included; 0: not known
    uint64_t input_hash; // of samples and training options (staleness)
} cspace_map;
/// Frees and zeroes; accepts {0} and NULL.
void cspace_map_clear(cspace_map *map);
/// Builds the inference kernels from the models. isa: NN_ISA_BEST normally.
core_status cspace_map_prepare(cspace_map *map, nn_isa isa, core_error *err);

/// Number that changes wherever the map may jump or reflect: faces of the fold, and theta = +-pi of a raw encoding.
int cspace_map_branch(const cspace_map *map, const cspace_pose *pose);

/// What a query of maps works in; one per thread.
typedef struct cspace_map_scratch cspace_map_scratch;
/// For up to `capacity` >= 1 poses a call, of any map. ARG, RANGE, MEMORY.
core_status cspace_map_scratch_create(int capacity, cspace_map_scratch **scratch, core_error *err);
/// Accepts NULL.
void cspace_map_scratch_destroy(cspace_map_scratch **scratch);
/// Contacts at n poses (n <= capacity). Moment arms are evaluated where d < arm_below only (INFINITY: everywhere,
/// -INFINITY: nowhere; elsewhere r_a = t.n/2, r_b = -t.n/2). Row i depends on pose i alone, to the bit. No allocation.
void cspace_map_evaluate(const cspace_map *map, const cspace_pose *poses, int n, double arm_below,
                         cspace_contact *contacts, cspace_map_scratch *scratch);
/// Distances alone at n poses (n <= capacity), to the bit those of cspace_map_evaluate, at about half its cost. No
/// allocation.
void cspace_map_distance(const cspace_map *map, const cspace_pose *poses, int n, double *d,
                         cspace_map_scratch *scratch);

/// cspace_train_def.arm_width that is left to the pair: 24 where the fold exchanges the shapes (equal ones of one
/// size), else 32.
#define CSPACE_ARM_WIDTH_AUTO (-1)

/// How a map is trained.
typedef struct cspace_train_def {
    int cookie;
    char recipe[16];           // "default", "accurate" or "paper", for the record
    cspace_encoding encoding;  // TWOFRAME
    bool fold;                 // true
    double far_weight;         // 0.1: weight of samples with |d| > 0.12
    int64_t samples;           // rows of the file used, 0: all
    bool arm_normal;           // false; true: the distance net is trained first, the moment-arm net sees its normals
    int arm_layers, arm_width; // of the moment-arm net; 0: those of `net`; width CSPACE_ARM_WIDTH_AUTO
    double arm_clip;        // 0: none; errors of s beyond this, units of L, count linearly in the moment-arm net's loss
    int tries;              // 1: seeds that are tried while d misses the target; epochs and seconds are shared out
    double target;          // 0: mean error of d, units of L, that ends the tries
    const char *state_path; // NULL; a file to save the unfinished training in every few seconds and to go on from if
                            // it is there, to the same bits; borrowed, the caller removes it
    bool state_replace;     // false; true: a file there that is of other samples or options, or broken, is replaced
    nn_train_def net;       // of both nets; its gradient weight and heads act on the distance net alone;
                            // heads 0: 1 for equal shapes with a mirror, else 4
} cspace_train_def;
/// Recipes by name ("default", "accurate", "paper"); ARG: unknown.
core_status cspace_train_recipe(const char *name, cspace_train_def *def, core_error *err);
/// The input_hash that cspace_train would store: samples and options, not the threads.
uint64_t cspace_train_input_hash(uint64_t samples_input_hash, const cspace_train_def *def);
/// Trains both nets, measures the error on the held-out rows. RANGE, SHAPE (no negative or no positive distances),
/// NONFINITE, MEMORY; of state_path IO, FORMAT, ARG (other samples or options). NOT_CONVERGED (message: step and
/// cause): *map holds the best weights there were, prepared; where the moment-arm net waited for the distance net
/// (arm_normal), its weights are zero.
core_status cspace_train(const cspace_samples *samples, const cspace_train_def *def, const core_progress *progress,
                         cspace_map *map, core_error *err);
/// Statistics of a prepared map against labelled rows with |d| < band.
core_status cspace_map_measure(const cspace_map *map, const cspace_rows *rows, double band, cspace_error_stats *stats,
                               core_error *err);

/// Takes the error statement of a prepared map. Equations and choices: libcspace/README.md, "The error statement".
/// @param a, b [in] the map's shapes
/// @param rows [in] held-out labelled poses of the pair in stored order, at least one within .1 of contact
/// @return OK; ARG: null pointer, map not prepared; RANGE: no pose within .1 of contact; MEMORY
/// Outlines the exact back end refuses are left out (exact: false). Deterministic. Cost: one exact query and two or
/// three map queries a row, and up to 10,000 walks over the seams: .3 to 1 s.
core_status cspace_statement_measure(const cspace_map *map, const sdf_shape *a, const sdf_shape *b,
                                     const cspace_rows *rows, cspace_statement *statement, core_error *err);
/// "training of the distance net went wrong at step ...": what a user should know about the training of one of the
/// nets (0: distance, 1: moment arm), a sentence without full stop; false and an empty text if all went well.
bool cspace_map_trouble(const cspace_map *map, int net, char *text, size_t n_bytes);

/// A report on maps as one self-contained HTML file: a table with marks, loss curves, histograms of errors, slices of d
/// over t with the zero set of the map on the exact one (libcspace/README.md, "The report").
typedef struct cspace_report cspace_report;
/// A page without maps. ARG, MEMORY.
core_status cspace_report_create(cspace_report **report, core_error *err);
/// Accepts NULL.
void cspace_report_destroy(cspace_report **report);
/// Adds a map with its statement; arguments and errors as of cspace_statement_measure, but no pose need be near. On
/// failure the report is as before. Cost: 150,000 queries of map and outlines.
core_status cspace_report_add(cspace_report *report, const cspace_map *map, const sdf_shape *a, const sdf_shape *b,
                              const cspace_rows *rows, core_error *err);
/// Writes the page; the report may grow on. ARG, IO, MEMORY.
core_status cspace_report_write(cspace_report *report, const char *path, core_error *err);

/// Writes the statement into a group of an HDF5 file / reads it back; every dataset says what it is and has units.
/// IO; FORMAT, NONFINITE.
core_status cspace_statement_write_h5(core_h5 *file, const char *group, const cspace_statement *statement,
                                      core_error *err);
core_status cspace_statement_read_h5(core_h5 *file, const char *group, cspace_statement *statement, core_error *err);

// ---------------------------------------------------------------------------------------------- bundles

/// MAPS.h5 in memory. Owns everything.
typedef struct cspace_bundle {
    int count_maps;
    cspace_map *maps; // kernels prepared
    int count_shapes;
    sdf_shape *shapes;
} cspace_bundle;
/// Frees and zeroes; accepts {0} and NULL.
void cspace_bundle_clear(cspace_bundle *bundle);
/// Puts a map in (moved: *map becomes {0}), replacing the one of the same pair and ratio; its shapes are copied in if
/// new. SHAPE: another shape of the same name is there already.
core_status cspace_bundle_add(cspace_bundle *bundle, cspace_map *map, const sdf_shape *a, const sdf_shape *b,
                              core_error *err);
/// MAPS.h5 under a temporary name, renamed; provenance NULL allowed. IO, MEMORY.
core_status cspace_bundle_write(const char *path, const cspace_bundle *bundle, const core_h5_provenance *provenance,
                                core_error *err);
/// IO, FORMAT, VERSION_OTHER, NONFINITE, UNSUPPORTED, MEMORY. content_hash may be NULL.
core_status cspace_bundle_read(const char *path, cspace_bundle *bundle, uint64_t *content_hash, core_error *err);
/// Map of shapes a and b with R_B/R_A = ratio (to 1e-6 relative; NaN: any if unique). *swapped: the stored order is (b,
/// a), to be asked through cspace_swap_pose/return. ARG: none or several; the message lists what is there.
core_status cspace_bundle_find(const cspace_bundle *bundle, const char *a, const char *b, double ratio,
                               const cspace_map **map, bool *swapped, core_error *err);
/// Shape by name, borrowed; NULL if it is not there.
const sdf_shape *cspace_bundle_shape(const cspace_bundle *bundle, const char *name);
/// Canonical order of a pair: by name, equal names by ratio <= 1. Returns true if (a, b) has to be exchanged.
bool cspace_pair_is_swapped(const char *a, const char *b, double ratio);

// ---------------------------------------------------------------------------------------------- all stages

/// One grain type for the pipeline.
typedef struct cspace_pipeline_shape {
    const char *path; // shape file
    double radius;    // relative sizes give the ratios; 1 for all if none are known
} cspace_pipeline_shape;
/// How all stages work. cspace_pipeline_default_def: the values named and the defaults of the parts.
typedef struct cspace_pipeline_def {
    int cookie;
    int resolution; // 256; SDF_RESOLUTION_AUTO: of each shape by its thinnest wall or gap
    double margin;  // 1.0
    sdf_read_def read;
    cspace_sample_def sample;
    cspace_train_def train;
} cspace_pipeline_def;
/// Defaults with the training recipe of this name. ARG: unknown.
core_status cspace_pipeline_default_def(const char *recipe, cspace_pipeline_def *def, core_error *err);
/// What a call did, for the command to print.
typedef struct cspace_pipeline_report {
    int count_grids_built, count_grids_reused;
    int count_samples_built, count_samples_reused;
    int count_maps_built, count_maps_reused;
} cspace_pipeline_report;
/// Shapes -> grids -> samples -> maps -> bundle at maps_path, every pair including each with itself; what is current by
/// content hash is reused (intermediates in maps_path.cache/; rules: libcspace/README.md, "Pipeline"). provenance,
/// progress: NULL allowed. The same file twice counts once; two different shapes of one name: SHAPE.
core_status cspace_pipeline_run(const cspace_pipeline_shape *shapes, int count_shapes, const char *maps_path,
                                const cspace_pipeline_def *def, const core_h5_provenance *provenance,
                                const core_progress *progress, cspace_bundle *bundle, cspace_pipeline_report *report,
                                core_error *err);

#endif
