/* ids.h: names of things. 32 bits, by value, zero is null, monotone within an epoch of the world.
 * An id is never an array index: slots are reused, ids are not. */
#ifndef CAIRN_BASE_IDS_H
#define CAIRN_BASE_IDS_H

#include <stdint.h>

typedef uint32_t world_id;
typedef uint32_t body_id;
typedef uint32_t shape_id;
typedef uint32_t joint_id;
typedef uint32_t contact_id;
typedef uint32_t emitter_id;
typedef uint32_t field_id;
typedef uint32_t session_id;

enum { ID_NULL = 0 };

#endif
