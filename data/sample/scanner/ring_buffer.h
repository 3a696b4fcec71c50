#ifndef PARCELWORKS_RING_BUFFER_H
#define PARCELWORKS_RING_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Must be a power of two, see RING_WRAP. */
#define RING_CAPACITY 256u

/* Map an ever-growing counter to a slot without a division. */
#define RING_WRAP(counter) ((counter) & (RING_CAPACITY - 1u))

struct ring_buffer {
    uint8_t slots[RING_CAPACITY];
    size_t head;
    size_t tail;
};

void ring_init(struct ring_buffer *ring);
size_t ring_count(const struct ring_buffer *ring);
bool ring_try_push(struct ring_buffer *ring, uint8_t byte);
void ring_push_overwrite(struct ring_buffer *ring, uint8_t byte);
bool ring_pop(struct ring_buffer *ring, uint8_t *out);

#endif
