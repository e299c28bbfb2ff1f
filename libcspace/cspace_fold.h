/// Shared between the files of the fold; nobody else includes it.
#ifndef CSPACE_FOLD_H
#define CSPACE_FOLD_H

/// cos and sin of `turns` of 2 pi/order; exact for quarter turns, so that images under these are exact to the bit.
void cspace__turn(int turns, int order, double angle[2]);
/// Turns of 2 pi/order to take off the bearing of u so that |bearing| <= pi/order; NaN: 0.
int cspace__count_turns(int order, const double u[2]);

#endif
