#include "barcode.h"

#include <string.h>

#define BARS_PER_DIGIT 5

/* Five bars a digit, exactly two of them wide (W), the rest narrow (n). */
static const char *const PATTERNS[10] = {
    "nnWWn", "WnnnW", "nWnnW", "WWnnn", "nnWnW",
    "WnWnn", "nWWnn", "nnnWW", "WnnWn", "nWnWn"
};

/* Halfway between the thinnest and the thickest bar of the scan. */
static uint8_t wide_threshold(const uint8_t *widths, size_t count)
{
    uint8_t low = widths[0];
    uint8_t high = widths[0];
    for (size_t i = 1; i < count; i++) {
        if (widths[i] < low) {
            low = widths[i];
        }
        if (widths[i] > high) {
            high = widths[i];
        }
    }
    return (uint8_t)(low + (high - low) / 2);
}

static int match_digit(const uint8_t *widths, uint8_t threshold)
{
    char seen[BARS_PER_DIGIT + 1] = {0};
    for (int i = 0; i < BARS_PER_DIGIT; i++) {
        seen[i] = widths[i] > threshold ? 'W' : 'n';
    }
    for (int digit = 0; digit < 10; digit++) {
        if (strcmp(seen, PATTERNS[digit]) == 0) {
            return digit;
        }
    }
    return -1;
}

/*
 * Turn measured bar widths into the digits of a parcel number and verify
 * the last one. `out` needs room for BARCODE_MAX_DIGITS + 1 characters.
 */
enum barcode_status barcode_decode(const uint8_t *widths, size_t count, char *out)
{
    size_t digits = count / BARS_PER_DIGIT;
    if (digits < 2 || digits > BARCODE_MAX_DIGITS) {
        return BARCODE_TOO_SHORT;
    }
    uint8_t threshold = wide_threshold(widths, count);
    for (size_t i = 0; i < digits; i++) {
        int digit = match_digit(widths + i * BARS_PER_DIGIT, threshold);
        if (digit < 0) {
            return BARCODE_BAD_SYMBOL;
        }
        out[i] = (char)('0' + digit);
    }
    out[digits] = '\0';
    if (mod10_check_digit(out, digits - 1) != out[digits - 1] - '0') {
        return BARCODE_BAD_CHECK;
    }
    return BARCODE_OK;
}

const char *barcode_status_text(enum barcode_status status)
{
    switch (status) {
    case BARCODE_OK:
        return "ok";
    case BARCODE_TOO_SHORT:
        return "PW-8001 wrong length";
    case BARCODE_BAD_SYMBOL:
        return "PW-8002 unreadable bars";
    case BARCODE_BAD_CHECK:
        return "PW-8003 check digit differs";
    }
    return "unknown";
}
