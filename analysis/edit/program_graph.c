/* SPDX-License-Identifier: Apache-2.0 */
#include "edit/program_graph.h"

bool program_graph_build(const struct program *program, struct program_graph *out)
{
    struct str none = {"", 0};
    if (!hlo_read(program_write(program), 0, KIND_HLO_MODULE, none, program->arena, &out->hlo, program->err))
        return false;
    graph_build(&out->hlo, program->arena, program->arena, &out->graph);
    return true;
}

uint32_t program_graph_first(const struct program *program, const struct program_graph *graph,
                             const struct program_body *body)
{
    return graph->hlo.computations[body - program->bodies].instruction_first;
}
