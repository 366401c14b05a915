// SHA-256 of many independent blocks of 4096 bytes, written from FIPS 180-4. A single stream of SHA-256 keeps one execution unit waiting for
// itself; independent blocks do not. Plain C behind an interface of plain C: no memory but the stack's, no state, no lookups by data.
#ifdef __linux__
#define _GNU_SOURCE
#include <sched.h>
#endif
#include <unistd.h>

#include "CHashLanes.h"

int usableCoreCount(void) {
#ifdef __linux__
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set) > 0 ? CPU_COUNT(&set) : 1;
#endif
  const long count = sysconf(_SC_NPROCESSORS_ONLN);
  return count > 0 && count < 1 << 20 ? (int)count : 1;
}

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>

// §5.3.3 and §4.2.2.
static const uint32_t initialHash[8] __attribute__((aligned(64))) = {
  0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
};
static const uint32_t roundConstants[64] __attribute__((aligned(64))) = {
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
  0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
  0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
  0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
  0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
  0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
  0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
  0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};
// What §6.2.2 makes of the padding behind 4096 bytes, with the round constants added.
static const uint32_t paddingSchedule[64] __attribute__((aligned(64))) = {
  0xc28a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
  0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19c7174,
  0x649b69c1, 0x3fbe47a6, 0x0fe1edc6, 0x240cc3cc, 0x4fe9346f, 0x5fb484b2, 0x61b9bf1e, 0xf6f9e0e2,
  0x904651d2, 0xcf776683, 0xb071aacd, 0x45598de9, 0x6e024795, 0xe1a53a4c, 0x01579c54, 0x7ed2a5d2,
  0x5543dff8, 0x24306163, 0xcbe96064, 0x088b74dd, 0x8cef495f, 0x27644e60, 0xfa4494c7, 0xc85ad905,
  0xae229301, 0x3cc6aca8, 0xced0f30e, 0x0054346d, 0xaa185a78, 0xbf2f214a, 0xc070f8f5, 0x2bfa9c81,
  0x2ee7c2f3, 0x060f5920, 0x19f02ca9, 0xf4d1cc5c, 0x4368bd9b, 0xc154267a, 0xec10f2ef, 0xf0bf5abd,
  0xb1561710, 0xcc85b5a6, 0x55e9155c, 0xeb7ba3e0, 0x0f037e93, 0x2ae3e945, 0xa2affabf, 0x694563d1,
};

static void storeBigEndian(uint8_t *bytes, uint32_t word) {
  bytes[0] = (uint8_t)(word >> 24);
  bytes[1] = (uint8_t)(word >> 16);
  bytes[2] = (uint8_t)(word >> 8);
  bytes[3] = (uint8_t)word;
}

#define LANES 8
#define TARGET __attribute__((target("avx2")))
#define NAME(x) x##AVX2
#define INDICES(M, S) M(S, 0), M(S, 1), M(S, 2), M(S, 3), M(S, 4), M(S, 5), M(S, 6), M(S, 7)
#define TRANSPOSE_STEPS TRANSPOSE_STEP(1) TRANSPOSE_STEP(2) TRANSPOSE_STEP(4)
#include "lanes.h"

#define LANES 16
#define TARGET __attribute__((target("avx512f,avx512bw,avx512vl")))
#define NAME(x) x##AVX512
#define INDICES(M, S) \
  M(S, 0), M(S, 1), M(S, 2), M(S, 3), M(S, 4), M(S, 5), M(S, 6), M(S, 7), M(S, 8), M(S, 9), M(S, 10), M(S, 11), M(S, 12), M(S, 13), \
    M(S, 14), M(S, 15)
#define TRANSPOSE_STEPS TRANSPOSE_STEP(1) TRANSPOSE_STEP(2) TRANSPOSE_STEP(4) TRANSPOSE_STEP(8)
#include "lanes.h"

// Three keep the unit busy: an instruction's result is there four cycles after it began, and the next can begin after two. Four need more
// registers than there are.
#define STREAMS 3
#define SHA_NI __attribute__((target("sha,sse4.1,ssse3")))

// STREAMS blocks of 4096 bytes in turn, four rounds of each at a time. The instructions keep a, b, e, f in one register and c, d, g, h in
// another, and swap their roles every two rounds.
SHA_NI static void hashSHANI(const uint8_t *blocks, uint8_t *digests) {
  const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
  __m128i abef[STREAMS], cdgh[STREAMS];
  for (int n = 0; n < STREAMS; n++) {
    abef[n] = _mm_set_epi32((int)initialHash[0], (int)initialHash[1], (int)initialHash[4], (int)initialHash[5]);
    cdgh[n] = _mm_set_epi32((int)initialHash[2], (int)initialHash[3], (int)initialHash[6], (int)initialHash[7]);
  }
  for (size_t offset = 0; offset <= 4096; offset += 64) {
    __m128i x[STREAMS], y[STREAMS], w[STREAMS][4];
#pragma clang loop unroll(full)
    for (int n = 0; n < STREAMS; n++) x[n] = abef[n], y[n] = cdgh[n];
    if (offset < 4096) {
#pragma clang loop unroll(full)
      for (int i = 0; i < 16; i++) {
        const __m128i constants = _mm_load_si128((const __m128i *)(roundConstants + 4 * i));
#pragma clang loop unroll(full)
        for (int n = 0; n < STREAMS; n++) {
          __m128i words;
          if (i < 4) {
            words = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(blocks + (size_t)n * 4096 + offset + 16 * (size_t)i)), swap);
          } else {
            // W(t-16) + sigma0(W(t-15)) + W(t-7), then sigma1(W(t-2)).
            words = _mm_sha256msg1_epu32(w[n][i & 3], w[n][(i + 1) & 3]);
            words = _mm_add_epi32(words, _mm_alignr_epi8(w[n][(i + 3) & 3], w[n][(i + 2) & 3], 4));
            words = _mm_sha256msg2_epu32(words, w[n][(i + 3) & 3]);
          }
          w[n][i & 3] = words;
          words = _mm_add_epi32(words, constants);
          y[n] = _mm_sha256rnds2_epu32(y[n], x[n], words);
          x[n] = _mm_sha256rnds2_epu32(x[n], y[n], _mm_shuffle_epi32(words, 0x0e));
        }
      }
    } else {
#pragma clang loop unroll(full)
      for (int i = 0; i < 16; i++) {
        const __m128i words = _mm_load_si128((const __m128i *)(paddingSchedule + 4 * i));
#pragma clang loop unroll(full)
        for (int n = 0; n < STREAMS; n++) {
          y[n] = _mm_sha256rnds2_epu32(y[n], x[n], words);
          x[n] = _mm_sha256rnds2_epu32(x[n], y[n], _mm_shuffle_epi32(words, 0x0e));
        }
      }
    }
#pragma clang loop unroll(full)
    for (int n = 0; n < STREAMS; n++) abef[n] = _mm_add_epi32(abef[n], x[n]), cdgh[n] = _mm_add_epi32(cdgh[n], y[n]);
  }
  for (int n = 0; n < STREAMS; n++) {
    uint32_t first[4], second[4];
    _mm_storeu_si128((__m128i *)first, abef[n]);
    _mm_storeu_si128((__m128i *)second, cdgh[n]);
    const uint32_t words[8] = {first[3], first[2], second[3], second[2], first[1], first[0], second[1], second[0]};
    for (int i = 0; i < 8; i++) storeBigEndian(digests + n * 32 + i * 4, words[i]);
  }
}

// The registers that the operating system saves: XCR0.
__attribute__((target("xsave"))) static uint64_t savedRegisters(void) { return _xgetbv(0); }

int hashLanesSupports(int way) {
  unsigned a, b, c, d, b7, d7;
  if (!__get_cpuid(1, &a, &b, &c, &d)) return 0;
  const unsigned features = c;
  if (!__get_cpuid_count(7, 0, &a, &b7, &c, &d7)) return 0;
  const int hasAVXState = (features & bit_OSXSAVE) && (features & bit_AVX) && (savedRegisters() & 0x06) == 0x06;
  switch (way) {
  case HASH_LANES_AVX2: return hasAVXState && (b7 & bit_AVX2);
  case HASH_LANES_SHA_NI: return (features & bit_SSE4_1) && (features & bit_SSSE3) && (b7 & bit_SHA);
  case HASH_LANES_AVX512:
    return hasAVXState && (savedRegisters() & 0xe0) == 0xe0 && (b7 & bit_AVX512F) && (b7 & bit_AVX512BW) && (b7 & bit_AVX512VL);
  default: return 0;
  }
}

int hashLanesBest(void) {
#ifdef __OPTIMIZE__
  if (hashLanesSupports(HASH_LANES_AVX512)) return HASH_LANES_AVX512;
  if (hashLanesSupports(HASH_LANES_SHA_NI)) return HASH_LANES_SHA_NI;
  if (hashLanesSupports(HASH_LANES_AVX2)) return HASH_LANES_AVX2;
#endif
  return HASH_LANES_NONE;
}

size_t hashLanesWidth(int way) {
  switch (way) {
  case HASH_LANES_AVX2: return 8;
  case HASH_LANES_SHA_NI: return STREAMS;
  case HASH_LANES_AVX512: return 16;
  default: return 1;
  }
}

void hashLanesBlocks(int way, const uint8_t *blocks, size_t count, uint8_t *digests) {
  const size_t width = hashLanesWidth(way);
  for (; count >= width; count -= width, blocks += width * 4096, digests += width * 32) {
    switch (way) {
    case HASH_LANES_AVX2: hashAVX2(blocks, digests); break;
    case HASH_LANES_SHA_NI: hashSHANI(blocks, digests); break;
    case HASH_LANES_AVX512: hashAVX512(blocks, digests); break;
    default: return;
    }
  }
}

#else

int hashLanesSupports(int way) {
  (void)way;
  return 0;
}

int hashLanesBest(void) { return HASH_LANES_NONE; }

size_t hashLanesWidth(int way) {
  (void)way;
  return 1;
}

void hashLanesBlocks(int way, const uint8_t *blocks, size_t count, uint8_t *digests) { (void)way, (void)blocks, (void)count, (void)digests; }

#endif
