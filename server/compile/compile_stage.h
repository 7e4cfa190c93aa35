/* SPDX-License-Identifier: Apache-2.0
 * compile_stage.h: how far a compile is. */
#pragma once

enum compile_stage {
    COMPILE_STAGE_STARTING,
    COMPILE_STAGE_LOADING,   /* the library, and the description of the chip */
    COMPILE_STAGE_COMPILING, /* the program, up to its buffer assignment */
    COMPILE_STAGE_CODE,      /* the assignment is final; the compiler writes code */
};

/* "starting", "loading", "compiling", "code"; static storage. */
const char *compile_stage_name(enum compile_stage stage);
