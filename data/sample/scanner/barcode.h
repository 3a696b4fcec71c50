#ifndef PARCELWORKS_BARCODE_H
#define PARCELWORKS_BARCODE_H

#include <stddef.h>
#include <stdint.h>

#define BARCODE_MAX_DIGITS 20

enum barcode_status {
    BARCODE_OK = 0,
    BARCODE_TOO_SHORT,
    BARCODE_BAD_SYMBOL,
    BARCODE_BAD_CHECK
};

/* checksum.c */
int mod10_check_digit(const char *digits, size_t length);
uint16_t crc16_frame(const uint8_t *bytes, size_t length);

/* barcode.c */
enum barcode_status barcode_decode(const uint8_t *widths, size_t count, char *out);
const char *barcode_status_text(enum barcode_status status);

#endif
