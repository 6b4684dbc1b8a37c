/* body_hash.h: the tick hash, computed by the engine and by the replicas that verify it.
 *
 *   tick_hash = XXH3-64( u64 tick, u64 sum, u32 count )
 *   sum       = Σ body_hash over all bodies, mod 2^64
 *   body_hash = XXH3-64( u32 id, u8 status, f64 position x y z, f64 rotation w x y z,
 *                        f64 velocity x y z, f64 angular velocity x y z )
 *
 * seed 0, little-endian, no padding: 109 bytes a body, 20 bytes at the end. The sum does not depend
 * on the order of the bodies, and one body's term can be replaced without hashing the others again.
 * The bits of a double are hashed as they are: −0 and 0 differ.
 */
#ifndef CAIRN_BASE_BODY_HASH_H
#define CAIRN_BASE_BODY_HASH_H

#include "server/base/base.h"

enum { BODY_HASH_BYTES = 4 + 1 + 13 * 8 };

/* One body's term of the sum. Arrays are borrowed: position (m), rotation (w first), velocity
 * (m/s), spin (angular velocity, rad/s). */
uint64_t body_hash(uint32_t id, uint8_t status, const double position[3], const double rotation[4],
		   const double velocity[3], const double spin[3]);

/* The hash of the tick from the sum over `count` bodies. */
uint64_t body_hash_finish(uint64_t tick, uint64_t sum, uint32_t count);

#endif
