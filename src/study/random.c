#include "study/random.h"

static uint64_t rotate(uint64_t x, int k)
{
    return x << k | x >> (64 - k);
}

ItmRandom itm_random_seed(uint64_t seed)
{
    ItmRandom random;
    for (int i = 0; i < 4; i++) {
        // splitmix64
        seed += 0x9e3779b97f4a7c15u;
        uint64_t z = seed;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
        z = (z ^ z >> 27) * 0x94d049bb133111ebu;
        random.state[i] = z ^ z >> 31;
    }
    return random;
}

uint64_t itm_random_next(ItmRandom* random)
{
    uint64_t* s = random->state;
    uint64_t result = rotate(s[1] * 5, 7) * 9, t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate(s[3], 45);
    return result;
}

double itm_random_real(ItmRandom* random)
{
    return ((double)(itm_random_next(random) >> 12) + 0.5) * 0x1p-52;
}

int itm_random_index(ItmRandom* random, int count)
{
    int index = (int)(itm_random_real(random) * count);
    return index < count ? index : count - 1;
}
