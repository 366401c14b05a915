// SHA-256 (FIPS 180-4 §6.2) of LANES blocks of 4096 bytes side by side: lane i of each vector belongs to block i. Included once for each width.
// Before: LANES, TARGET (the attribute), NAME(x) (the names' suffix), TRANSPOSE_STEPS (log2 of LANES, as calls).

typedef uint32_t NAME(vector) __attribute__((vector_size(LANES * 4)));
typedef uint32_t NAME(unaligned) __attribute__((vector_size(LANES * 4), aligned(4)));

#define VECTOR NAME(vector)
#define ALL(x) ((VECTOR){} + (uint32_t)(x))

// §4.1.2.
#define ROTATE(x, n) ((x) >> (n) | (x) << (32 - (n)))
#define CHOOSE(x, y, z) ((z) ^ ((x) & ((y) ^ (z))))
#define MAJORITY(x, y, z) (((x) & (y)) | ((z) & ((x) | (y))))
#define SUM0(x) (ROTATE(x, 2) ^ ROTATE(x, 13) ^ ROTATE(x, 22))
#define SUM1(x) (ROTATE(x, 6) ^ ROTATE(x, 11) ^ ROTATE(x, 25))
#define SIGMA0(x) (ROTATE(x, 7) ^ ROTATE(x, 18) ^ (x) >> 3)
#define SIGMA1(x) (ROTATE(x, 17) ^ ROTATE(x, 19) ^ (x) >> 10)

// One round, with the names of the working variables turned instead of their values.
#define ROUND(a, b, c, d, e, f, g, h, kw) \
  do { \
    VECTOR t1 = h + SUM1(e) + CHOOSE(e, f, g) + (kw); \
    d += t1; \
    h = t1 + SUM0(a) + MAJORITY(a, b, c); \
  } while (0)

#define EIGHT_ROUNDS(KW, i) \
  ROUND(a, b, c, d, e, f, g, h, KW((i) + 0)); \
  ROUND(h, a, b, c, d, e, f, g, KW((i) + 1)); \
  ROUND(g, h, a, b, c, d, e, f, KW((i) + 2)); \
  ROUND(f, g, h, a, b, c, d, e, KW((i) + 3)); \
  ROUND(e, f, g, h, a, b, c, d, KW((i) + 4)); \
  ROUND(d, e, f, g, h, a, b, c, KW((i) + 5)); \
  ROUND(c, d, e, f, g, h, a, b, KW((i) + 6)); \
  ROUND(b, c, d, e, f, g, h, a, KW((i) + 7))

#define FROM_MESSAGE(i) (ALL(roundConstants[i]) + w[(i) & 15])
#define FROM_PADDING(i) ALL(paddingSchedule[i])

#define BEGIN_WORKING VECTOR a = s[0], b = s[1], c = s[2], d = s[3], e = s[4], f = s[5], g = s[6], h = s[7]
#define ADD_WORKING s[0] += a, s[1] += b, s[2] += c, s[3] += d, s[4] += e, s[5] += f, s[6] += g, s[7] += h

// Exchanges the rows and columns of squares of STEP × STEP words; all steps together transpose LANES rows of LANES words.
#define LOW(STEP, j) ((j) & (STEP) ? LANES + (j) - (STEP) : (j))
#define HIGH(STEP, j) ((j) & (STEP) ? LANES + (j) : (j) + (STEP))
#define TRANSPOSE_STEP(STEP) \
  _Pragma("clang loop unroll(full)") for (int i = 0; i < LANES; i++) { \
    if (i & (STEP)) continue; \
    VECTOR low = rows[i], high = rows[i + (STEP)]; \
    rows[i] = __builtin_shufflevector(low, high, INDICES(LOW, STEP)); \
    rows[i + (STEP)] = __builtin_shufflevector(low, high, INDICES(HIGH, STEP)); \
  }

// The 16 words of each lane's next 64 bytes: w[i] holds word i of every lane.
TARGET static inline __attribute__((always_inline)) void NAME(load)(VECTOR w[16], const uint8_t *blocks, size_t offset) {
#pragma clang loop unroll(full)
  for (int part = 0; part < 16; part += LANES) {
    VECTOR rows[LANES];
#pragma clang loop unroll(full)
    for (int lane = 0; lane < LANES; lane++) {
      VECTOR row = *(const NAME(unaligned) *)(blocks + (size_t)lane * 4096 + offset + (size_t)part * 4);
      rows[lane] = row >> 24 | (row >> 8 & 0xff00) | (row << 8 & 0xff0000) | row << 24;
    }
    TRANSPOSE_STEPS
#pragma clang loop unroll(full)
    for (int i = 0; i < LANES; i++) w[part + i] = rows[i];
  }
}

TARGET static void NAME(hash)(const uint8_t *blocks, uint8_t *digests) {
  VECTOR s[8], w[16];
#pragma clang loop unroll(full)
  for (int i = 0; i < 8; i++) s[i] = ALL(initialHash[i]);
  for (size_t offset = 0; offset < 4096; offset += 64) {
    NAME(load)(w, blocks, offset);
    BEGIN_WORKING;
    EIGHT_ROUNDS(FROM_MESSAGE, 0);
    EIGHT_ROUNDS(FROM_MESSAGE, 8);
    for (int i = 16; i < 64; i += 16) {
#pragma clang loop unroll(full)
      for (int j = 0; j < 16; j++) w[j] += SIGMA1(w[(j + 14) & 15]) + w[(j + 9) & 15] + SIGMA0(w[(j + 1) & 15]);
      EIGHT_ROUNDS(FROM_MESSAGE, i);
      EIGHT_ROUNDS(FROM_MESSAGE, i + 8);
    }
    ADD_WORKING;
  }
  // The block of padding, §5.1.1, is the same for all.
  BEGIN_WORKING;
  for (int i = 0; i < 64; i += 8) {
    EIGHT_ROUNDS(FROM_PADDING, i);
  }
  ADD_WORKING;
  for (int lane = 0; lane < LANES; lane++)
    for (int i = 0; i < 8; i++) storeBigEndian(digests + lane * 32 + i * 4, s[i][lane]);
}

#undef VECTOR
#undef LANES
#undef TARGET
#undef NAME
#undef TRANSPOSE_STEPS
#undef INDICES
#undef ALL
#undef ROTATE
#undef CHOOSE
#undef MAJORITY
#undef SUM0
#undef SUM1
#undef SIGMA0
#undef SIGMA1
#undef ROUND
#undef EIGHT_ROUNDS
#undef FROM_MESSAGE
#undef FROM_PADDING
#undef BEGIN_WORKING
#undef ADD_WORKING
#undef LOW
#undef HIGH
#undef TRANSPOSE_STEP
