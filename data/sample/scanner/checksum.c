#include "barcode.h"

/* One step of the CCITT polynomial for a single byte. */
static uint16_t crc16_step(uint16_t crc, uint8_t byte)
{
    crc ^= (uint16_t)(byte << 8);
    for (int bit = 0; bit < 8; bit++) {
        if (crc & 0x8000u) {
            crc = (uint16_t)((crc << 1) ^ 0x1021u);
        } else {
            crc = (uint16_t)(crc << 1);
        }
    }
    return crc;
}

/*
 * Guard a frame on the serial line between scanner and host against
 * flipped bits.
 */
uint16_t crc16_frame(const uint8_t *bytes, size_t length)
{
    uint16_t crc = 0xFFFFu;
    for (size_t i = 0; i < length; i++) {
        crc = crc16_step(crc, bytes[i]);
    }
    return crc;
}

/*
 * The last figure of a printed parcel number. Weights 3 and 1 alternate from
 * the right, which catches a mistyped digit and most swapped neighbours.
 */
int mod10_check_digit(const char *digits, size_t length)
{
    int sum = 0;
    for (size_t i = 0; i < length; i++) {
        int weight = ((length - i) % 2 == 1) ? 3 : 1;
        sum += weight * (digits[i] - '0');
    }
    return (10 - sum % 10) % 10;
}
