/* The runtime of pipelines that halide compiled ahead of time. */
#ifndef HALIDE_RUNTIME_H
#define HALIDE_RUNTIME_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A compiled pipeline: the symbol NAME_pipeline of its object. */
typedef struct halide_pipeline halide_pipeline;

/* The types of elements and of parameters. A bool is a byte, 0 or 1. */
enum {
    HALIDE_BOOL, HALIDE_I8, HALIDE_I16, HALIDE_I32, HALIDE_I64, HALIDE_U8, HALIDE_U16, HALIDE_U32, HALIDE_U64,
    HALIDE_F16, HALIDE_BF16, HALIDE_F32, HALIDE_F64
};

/* One dimension: the first coordinate, the number of coordinates, and the distance of neighbours in elements. */
typedef struct halide_dim {
    int64_t min, extent, stride;
} halide_dim;

/* Elements in memory: `data` is the address of the element at the first coordinates. */
typedef struct halide_buffer {
    void *data;
    int32_t type;
    int32_t dims;
    const halide_dim *dim;
} halide_buffer;

/* The kinds of arguments. */
enum { HALIDE_PARAM, HALIDE_IMAGE, HALIDE_OUTPUT };

/* One argument of a run, in any order among those of other kinds. Without a name it is the next one of its kind in the
   order of the pipeline; outputs have no names. A parameter is `type` and `bits`, the lowest bytes of which are its
   value; an image or an output is `buffer`. */
typedef struct halide_argument {
    const char *name;
    int32_t kind;
    int32_t type;
    uint64_t bits;
    const halide_buffer *buffer;
} halide_argument;

/* How to run. All zeros is the default. */
typedef struct halide_options {
    /* The most threads that parallel loops use; 0: as many as there are processors. */
    uint32_t threads;
    uint32_t reserved;
    /* The most bytes that the run may allocate at once; 0: no limit. */
    uint64_t memory_cap;
} halide_options;

/* What a run returns. Outputs are written in part, if at all, only where it says so. */
enum {
    HALIDE_OK = 0,
    /* An argument is missing, unknown, of another type or shape, or against a rule of the pipeline. */
    HALIDE_ARGUMENT = 1,
    /* The sizes of the buffers do not suit each other or the schedule; or a coordinate leaves the range of its type,
       or a promise of the schedule does not hold: then outputs may have been written. */
    HALIDE_CALL = 2,
    /* Memory is exhausted, or the cap on it. Outputs may have been written. */
    HALIDE_MEMORY = 3,
    /* The processor lacks instructions that the code uses. */
    HALIDE_MACHINE = 4,
    /* The object is of another version than the runtime. */
    HALIDE_OBJECT = 5,
    /* A mistake of halide's own. Outputs may have been written. */
    HALIDE_INTERNAL = 6
};

/* Runs a pipeline. Returns HALIDE_OK, or another of these numbers after writing what is wrong to `message`: UTF-8 that
   ends with a zero, cut to `message_size` bytes. `message` may be null. May be called from many threads at once. Buffers
   of outputs must not overlap with any other buffer. */
int halide_run(const halide_pipeline *pipeline, const halide_argument *arguments, size_t count, char *message,
               size_t message_size);

/* The same with options, which may be null. */
int halide_run_with(const halide_pipeline *pipeline, const halide_argument *arguments, size_t count,
                    const halide_options *options, char *message, size_t message_size);

/* Frees the memory that a pipeline keeps from its runs for the next one. */
void halide_free_memory(const halide_pipeline *pipeline);

/* Arguments by name; NULL for the next one. */
static inline halide_argument halide_param(const char *name, int32_t type, const void *value, size_t size)
{
    halide_argument made = { name, HALIDE_PARAM, type, 0, NULL };
    memcpy(&made.bits, value, size < sizeof made.bits ? size : sizeof made.bits);
    return made;
}
static inline halide_argument halide_image(const char *name, const halide_buffer *buffer)
{
    halide_argument made = { name, HALIDE_IMAGE, 0, 0, buffer };
    return made;
}
static inline halide_argument halide_output(const halide_buffer *buffer)
{
    halide_argument made = { NULL, HALIDE_OUTPUT, 0, 0, buffer };
    return made;
}

#ifdef __cplusplus
}
#endif

#endif
