/* SPDX-License-Identifier: Apache-2.0 */
#include "whatif/checkpoint.h"

/* Going backward, in the layer that makes the value; or going forward there, when what it makes is computed again. */
static bool is_read_again(const struct checkpoint_reading *reading, uint32_t reader_at, uint32_t kernel_at)
{
    struct checkpoint *work = reading->work;
    if (reading->layer != HLO_NONE && work->regions->of[reader_at] != reading->layer)
        return false;
    if (value_phases(&work->walk, reader_at) & 1U << GRAPH_BACKWARD)
        return true;
    return reading->layer != HLO_NONE && graph_phase(work->graph, reader_at) == GRAPH_FORWARD &&
           work->recompute.is_needed[reader_at] && variant_step(work->variant, kernel_at) < work->first_backward;
}

bool checkpoint_reader_note(void *context, uint32_t reader_at, uint32_t operand)
{
    struct checkpoint_reading *reading = context;
    uint32_t kernel_at = reader_at == HLO_NONE ? HLO_NONE : variant_scheduled(reading->work->variant, reader_at);
    (void)operand;
    if (kernel_at == HLO_NONE || kernel_at == reading->kernel_at || !is_read_again(reading, reader_at, kernel_at))
        return true;
    reading->kernel_at = kernel_at;
    /* A loop takes its part in each round: the whole value is there before the loop begins. */
    bool is_part = reading->layer != HLO_NONE && graph_op(reading->work->graph, reader_at) == GRAPH_SLICE &&
                   graph_loop_body_around(reading->work->graph, reader_at) != HLO_NONE;
    reading->count += is_part ? 2 : 1;
    return reading->count < 2;
}
