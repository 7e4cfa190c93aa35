/* SPDX-License-Identifier: Apache-2.0 */
#include "whatif/checkpoint.h"

bool checkpoint_reader_note(void *context, uint32_t reader_at, uint32_t operand)
{
    struct checkpoint_reading *reading = context;
    const struct graph *graph = reading->work->graph;
    (void)operand;
    if (reader_at == HLO_NONE || graph_phase(graph, reader_at) != GRAPH_BACKWARD ||
        (reading->layer != HLO_NONE && reading->work->regions->of[reader_at] != reading->layer) ||
        reader_at == reading->dot_at)
        return true;
    if (graph_op(graph, reader_at) == GRAPH_DOT) {
        reading->dot_at = reader_at;
        reading->count++;
    } else if (!reading->is_computed_with) {
        reading->is_computed_with = true;
        reading->count++;
    }
    return reading->count < 2;
}
