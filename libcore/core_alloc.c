/// Allocation: zeroed, aligned, overflow-checked, counted.
/// The counter and the failure injection are the only mutable process-wide state of libcore; both are atomics and exist
/// so that tests can state "a step allocates nothing" and can make every single allocation fail.
#include "core.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define ALLOC_ALIGNMENT ((size_t)64)
/// A larger request comes from a corrupt number, not from a need; refused before the system is asked.
#define ALLOC_MAX_BYTES ((size_t)1 << 39)

static atomic_uint_fast64_t core__alloc_count;
static atomic_uint_fast64_t core__alloc_until_failure;

/// Counts one allocation; true if the injection wants this one to fail.
static bool alloc_injected(void) {
    atomic_fetch_add_explicit(&core__alloc_count, 1, memory_order_relaxed);
    uint_fast64_t left = atomic_load_explicit(&core__alloc_until_failure, memory_order_relaxed);
    while (left > 0) {
        if (atomic_compare_exchange_weak(&core__alloc_until_failure, &left, left - 1)) return left == 1;
    }
    return false;
}

/// Bytes to ask the system for, a multiple of the alignment; 0 if the product is too large.
static size_t alloc_bytes(size_t count, size_t size) {
    if (count == 0 || size == 0) return ALLOC_ALIGNMENT;
    if (count > ALLOC_MAX_BYTES / size) return 0;
    return (count * size + ALLOC_ALIGNMENT - 1) / ALLOC_ALIGNMENT * ALLOC_ALIGNMENT;
}

void *core_alloc(size_t count, size_t size) {
    size_t bytes = alloc_bytes(count, size);
    if (alloc_injected() || bytes == 0) return NULL;
    void *p = aligned_alloc(ALLOC_ALIGNMENT, bytes);
    if (p) memset(p, 0, bytes);
    return p;
}

void *core_realloc(void *old, size_t old_count, size_t count, size_t size) {
    // realloc() would lose the alignment
    size_t bytes = alloc_bytes(count, size);
    if (alloc_injected() || bytes == 0) return NULL;
    void *p = aligned_alloc(ALLOC_ALIGNMENT, bytes);
    if (!p) return NULL;
    size_t kept = old_count < count ? old_count : count;
    if (old && kept > 0) memcpy(p, old, kept * size);
    free(old);
    return p;
}

void core_free(void *p) {
    free(p);
}

uint64_t core_alloc_count(void) {
    return atomic_load_explicit(&core__alloc_count, memory_order_relaxed);
}

void core_alloc_fail_after(uint64_t n) {
    atomic_store(&core__alloc_until_failure, n);
}
