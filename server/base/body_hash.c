/* See body_hash.h. */
#include "server/base/body_hash.h"

#include "server/base/bytes.h"
#include "server/base/hash.h"

#include <string.h>

static inline uint8_t *put_doubles(uint8_t *at, const double *values, uint32_t count)
{
	VALIDATE(count <= 4);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	memcpy(at, values, (size_t)8 * count); /* each awake body, each tick */
#else
	for (uint32_t i = 0; i < count; i++)
		put_le64(at + 8 * i, bits_of_f64(values[i]));
#endif
	return at + (size_t)8 * count;
}

uint64_t body_hash(uint32_t id, uint8_t status, const double position[3], const double rotation[4],
		   const double velocity[3], const double spin[3])
{
	uint8_t record[BODY_HASH_BYTES];
	put_le32(record, id);
	record[4] = status;
	uint8_t *at = put_doubles(record + 5, position, 3);
	at = put_doubles(at, rotation, 4);
	at = put_doubles(at, velocity, 3);
	at = put_doubles(at, spin, 3);
	ASSERT(at == record + sizeof record);
	return hash64(record, sizeof record, 0);
}

uint64_t body_hash_finish(uint64_t tick, uint64_t sum, uint32_t count)
{
	uint8_t record[20];
	put_le64(record, tick);
	put_le64(record + 8, sum);
	put_le32(record + 16, count);
	return hash64(record, sizeof record, 0);
}
