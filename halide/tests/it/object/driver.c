/* Runs the calls that its input describes by words of eight bytes, and writes what became of them.

   argument: name length, name, kind, type, then a parameter's bits, or dims, (min, extent, stride) each, bytes, the bytes
   call:     number of arguments, size of the message, memory cap, arguments
   answer:   code, length of the message, message, the bytes of each output
   Each buffer ends where memory ends. A call with -1 arguments is the typed function of the header. */
#include "scaled.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define MOST 8

static int64_t word(void)
{
    int64_t value = 0;
    if (fread(&value, sizeof value, 1, stdin) != 1)
        exit(feof(stdin) ? 0 : 90);
    return value;
}

static void answer(int64_t value)
{
    fwrite(&value, sizeof value, 1, stdout);
}

/* Memory of so many bytes with none behind it. */
static char *guarded(size_t bytes)
{
    size_t page = 4096, whole = (bytes + page - 1) / page * page;
    char *all = mmap(NULL, whole + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED || mprotect(all + whole, page, PROT_NONE) != 0)
        exit(91);
    return all + whole - bytes;
}

struct read {
    char name[64];
    halide_dim dim[MOST];
    halide_buffer buffer;
    int64_t bytes;
};

static halide_argument read_argument(struct read *own)
{
    halide_argument made = { NULL, 0, 0, 0, NULL };
    int64_t length = word();
    if (length > 0) {
        if (length >= 64 || fread(own->name, 1, length, stdin) != (size_t)length)
            exit(92);
        own->name[length] = 0;
        made.name = own->name;
    }
    made.kind = (int32_t)word();
    made.type = (int32_t)word();
    own->bytes = 0;
    if (made.kind == HALIDE_PARAM) {
        made.bits = (uint64_t)word();
        return made;
    }
    int32_t dims = (int32_t)word();
    for (int32_t d = 0; d < dims && d < MOST; d++) {
        own->dim[d].min = word();
        own->dim[d].extent = word();
        own->dim[d].stride = word();
    }
    own->bytes = word();
    char *data = guarded((size_t)own->bytes);
    if (fread(data, 1, own->bytes, stdin) != (size_t)own->bytes)
        exit(93);
    halide_buffer buffer = { data, made.type, dims, own->dim };
    own->buffer = buffer;
    made.buffer = &own->buffer;
    return made;
}

int main(void)
{
    for (;;) {
        static struct read read[MOST];
        halide_argument arguments[MOST];
        char message[1000];
        int64_t count = word(), size = word(), typed = count < 0;
        halide_options options = { 2, 0, (uint64_t)word() };
        if (typed)
            count = 6;
        for (int64_t i = 0; i < count; i++)
            arguments[i] = read_argument(&read[i]);
        memset(message, 'x', sizeof message);
        message[size] = 0;
        int code;
#ifdef TYPED
        float gain;
        memcpy(&gain, &arguments[0].bits, sizeof gain);
        if (typed)
            code = scaled(gain, (int32_t)arguments[1].bits, arguments[2].buffer, arguments[3].buffer,
                          arguments[4].buffer, arguments[5].buffer, message, (size_t)size);
        else
#endif
            code = halide_run_with(&scaled_pipeline, arguments, (size_t)count, &options, message, (size_t)size);
        if (code == HALIDE_OK)
            message[0] = 0;
        answer(code);
        answer((int64_t)strlen(message));
        fwrite(message, 1, strlen(message), stdout);
        for (int64_t i = 0; i < count; i++)
            if (arguments[i].kind == HALIDE_OUTPUT)
                fwrite(arguments[i].buffer->data, 1, read[i].bytes, stdout);
        halide_free_memory(&scaled_pipeline);
    }
}
