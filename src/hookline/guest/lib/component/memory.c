// What a host takes memory with, for what it hands over.
#include <stdlib.h>
#include <string.h>

#include "../text.h"

__attribute__((export_name("cabi_realloc"))) void *cabi_realloc(void *old, size_t old_size, size_t alignment,
                                                                size_t size) {
    (void)alignment;  // never over 8 in this interface, which is what every piece of an arena has
    void *larger = arena_take(&call_memory, size, 1);
    return old_size == 0 ? larger : memcpy(larger, old, old_size < size ? old_size : size);
}

// The adapter of WASI asks here, once, for the memory of its own, which outlives every call.
__attribute__((export_name("cabi_realloc_adapter"))) void *cabi_realloc_adapter(void *old, size_t old_size,
                                                                                size_t alignment, size_t size) {
    (void)old_size;
    if (old != NULL) {
        return realloc(old, size);
    }
    void *taken = aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
    if (taken == NULL) {
        abort();
    }
    return taken;
}
