/// Pictures of one frame, for the tests of drawing.
#ifndef VIEW_DRAW_H
#define VIEW_DRAW_H

#include "sim_view.h"

/// sim_view_draw_panels with one panel.
static inline core_status view_draw(core_run_reader *run, int64_t frame, const sim_view_def *def, sim_image *image,
                                    core_error *err) {
    const sim_view_panel panel = {.run = run, .frame = frame};
    return sim_view_draw_panels(1, &panel, def, image, err);
}

#endif
