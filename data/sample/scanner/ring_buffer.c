#include "ring_buffer.h"

void ring_init(struct ring_buffer *ring)
{
    ring->head = 0;
    ring->tail = 0;
}

size_t ring_count(const struct ring_buffer *ring)
{
    return ring->head - ring->tail;
}

static bool is_full(const struct ring_buffer *ring)
{
    return ring_count(ring) == RING_CAPACITY;
}

/*
 * Store a byte, or refuse it when there is no room. Used for scans, where
 * losing old data is worse than making the laser wait.
 */
bool ring_try_push(struct ring_buffer *ring, uint8_t byte)
{
    if (is_full(ring)) {
        return false;
    }
    ring->slots[RING_WRAP(ring->head)] = byte;
    ring->head++;
    return true;
}

/*
 * Store a byte in any case; the oldest one is thrown away when there is no
 * room. Used for the debug trace, where only recent data matters.
 */
void ring_push_overwrite(struct ring_buffer *ring, uint8_t byte)
{
    if (is_full(ring)) {
        ring->tail++;
    }
    ring_try_push(ring, byte);
}

bool ring_pop(struct ring_buffer *ring, uint8_t *out)
{
    if (ring_count(ring) == 0) {
        return false;
    }
    *out = ring->slots[RING_WRAP(ring->tail)];
    ring->tail++;
    return true;
}
