#include <stdlib.h>
#include <string.h>

#include "text.h"

#define CHUNK 8192  // a call's texts fit into one or two
#define ALIGNMENT 8

struct chunk {
    struct chunk *before;
    size_t used;
    size_t size;
    uint64_t bytes[];
};

arena call_memory;

static struct chunk *add_chunk(arena *memory, size_t wanted) {
    size_t size = wanted > CHUNK ? wanted : CHUNK;
    if (size > SIZE_MAX - sizeof(struct chunk)) {
        abort();
    }
    struct chunk *added = malloc(sizeof(struct chunk) + size);
    if (added == NULL) {
        abort();
    }
    *added = (struct chunk){.before = memory->last, .used = 0, .size = size};
    memory->last = added;
    return added;
}

void *arena_take(arena *memory, size_t count, size_t size) {
    if (size != 0 && count > (SIZE_MAX - ALIGNMENT) / size) {
        abort();
    }
    size_t wanted = (count * size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    struct chunk *from = memory->last;
    if (from == NULL || from->size - from->used < wanted) {
        from = add_chunk(memory, wanted);
    }
    void *taken = (char *)from->bytes + from->used;
    from->used += wanted;
    return memset(taken, 0, wanted);
}

void arena_clear(arena *memory) {
    struct chunk *one = memory->last;
    while (one != NULL) {
        struct chunk *before = one->before;
        free(one);
        one = before;
    }
    memory->last = NULL;
}
