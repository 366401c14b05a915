#pragma once
#include <stddef.h>
#include <stdint.h>

// The ways to hash many blocks at once.
enum {
  HASH_LANES_NONE = 0,    // none of them
  HASH_LANES_AVX2 = 1,    // 8 blocks side by side in AVX2 registers
  HASH_LANES_SHA_NI = 2,  // 3 blocks in turn through the SHA-256 instructions
  HASH_LANES_AVX512 = 3,  // 16 blocks side by side in AVX-512 registers
};

// Whether this processor, and the system that runs on it, can do it so.
int hashLanesSupports(int way);

// The fastest that this processor can do; none where this file was compiled without optimisation, which makes them slow.
int hashLanesBest(void);

// How many blocks a way hashes at once.
size_t hashLanesWidth(int way);

// How many cores this process may use at once; at least 1.
int usableCoreCount(void);

// Writes the SHA-256 of each block of 4096 bytes, 32 bytes one after another. The count has to be a multiple of the way's width; the blocks
// need no alignment. The way has to be one that is supported.
void hashLanesBlocks(int way, const uint8_t *blocks, size_t count, uint8_t *digests);
