#include "base/sha256.h"

#include <string.h>

// First 32 bits of the fractional parts of the cube roots of the first 64 primes.
static const uint32_t K[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t turn(uint32_t x, int n)
{
    return x >> n | x << (32 - n);
}

static uint32_t get_word(const unsigned char* b)
{
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | (uint32_t)b[3];
}

// One block of 64 bytes into the state.
static void compress(uint32_t state[8], const unsigned char* block)
{
    uint32_t w[64], v[8];
    for (int i = 0; i < 16; i++) {
        w[i] = get_word(block + 4 * i);
    }
    for (int i = 16; i < 64; i++) {
        uint32_t s0 = turn(w[i - 15], 7) ^ turn(w[i - 15], 18) ^ w[i - 15] >> 3;
        uint32_t s1 = turn(w[i - 2], 17) ^ turn(w[i - 2], 19) ^ w[i - 2] >> 10;
        w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    memcpy(v, state, sizeof v);
    for (int i = 0; i < 64; i++) {
        uint32_t s1 = turn(v[4], 6) ^ turn(v[4], 11) ^ turn(v[4], 25);
        uint32_t t1 = v[7] + s1 + ((v[4] & v[5]) ^ (~v[4] & v[6])) + K[i] + w[i];
        uint32_t s0 = turn(v[0], 2) ^ turn(v[0], 13) ^ turn(v[0], 22);
        uint32_t t2 = s0 + ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
        memmove(v + 1, v, 7 * sizeof v[0]);
        v[4] += t1;
        v[0] = t1 + t2;
    }
    for (int i = 0; i < 8; i++) {
        state[i] += v[i];
    }
}

void itm_sha256_init(ItmSha256* sha)
{
    // first 32 bits of the fractional parts of the square roots of the first 8 primes
    *sha = (ItmSha256){
        .state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};
}

void itm_sha256_add(ItmSha256* sha, const void* bytes, size_t count)
{
    const unsigned char* at = bytes;
    size_t used = (size_t)(sha->length % 64);
    sha->length += count;
    while (count > 0) {
        size_t n = count < 64 - used ? count : 64 - used;
        memcpy(sha->block + used, at, n);
        at += n;
        count -= n;
        used = (used + n) % 64;
        if (used == 0) {
            compress(sha->state, sha->block);
        }
    }
}

void itm_sha256_get(const ItmSha256* sha, unsigned char digest[ITM_SHA256_BYTES])
{
    // a bit 1, zeros up to 8 bytes before the end of a block, and the length in bits
    static const unsigned char PADDING[64] = {0x80};
    ItmSha256 end = *sha;
    unsigned char length[8];
    for (int i = 0; i < 8; i++) {
        length[i] = (unsigned char)(8 * sha->length >> (56 - 8 * i));
    }
    itm_sha256_add(&end, PADDING, 1 + (119 - (size_t)(sha->length % 64)) % 64);
    itm_sha256_add(&end, length, 8);
    for (int i = 0; i < ITM_SHA256_BYTES; i++) {
        digest[i] = (unsigned char)(end.state[i / 4] >> (24 - 8 * (i % 4)));
    }
}

void itm_sha256_print(const ItmSha256* sha, char text[ITM_SHA256_TEXT])
{
    static const char DIGITS[] = "0123456789abcdef";
    unsigned char digest[ITM_SHA256_BYTES];
    itm_sha256_get(sha, digest);
    for (int i = 0; i < ITM_SHA256_BYTES; i++) {
        text[2 * i] = DIGITS[digest[i] >> 4];
        text[2 * i + 1] = DIGITS[digest[i] & 15];
    }
    text[ITM_SHA256_TEXT - 1] = '\0';
}
