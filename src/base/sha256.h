// SHA-256 (FIPS 180-4): which files made a result, and whether a file is still as it was written.
#ifndef ITM_BASE_SHA256_H
#define ITM_BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

#define ITM_SHA256_BYTES 32
#define ITM_SHA256_TEXT 65  // hexadecimal digits and a zero byte

// A digest that grows with its input.
typedef struct ItmSha256 {
    uint32_t state[8];
    uint64_t length;          // bytes so far
    unsigned char block[64];  // those of them that wait for a whole block
} ItmSha256;

void itm_sha256_init(ItmSha256* sha);
void itm_sha256_add(ItmSha256* sha, const void* bytes, size_t count);
// The digest of everything so far; sha can go on.
void itm_sha256_get(const ItmSha256* sha, unsigned char digest[ITM_SHA256_BYTES]);
// The same as text.
void itm_sha256_print(const ItmSha256* sha, char text[ITM_SHA256_TEXT]);

#endif
