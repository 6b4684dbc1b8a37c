/* soft_vector.h: a vector of floats or doubles, four bytes times LANES_WIDTH long, and vectors in space
 * of them. soft_lanes.h includes this for floats, contacts side by side, and soft_wide_lanes.h for doubles,
 * joints side by side. Before each inclusion these are defined:
 *
 *   VECTOR          the name of the type, and the beginning of all others: NAME_all, NAME_select, …
 *   VECTOR_ELEMENT  float or double
 *   VECTOR_BITS     the integer of the same size
 *   VECTOR_EIGHT    in memory: the structure with BLOCK_LANES elements `at`
 *   VECTOR_APART    if loads and stores are defined elsewhere
 *
 * Alone it defines nothing. Each operation is the IEEE one per lane. */
#ifdef VECTOR

#define VECTOR_PASTE(a, b) a##b
#define VECTOR_JOIN(a, b) VECTOR_PASTE(a, b)
#define NAME(suffix) VECTOR_JOIN(VECTOR, suffix)

typedef VECTOR_ELEMENT VECTOR __attribute__((vector_size(4 * LANES_WIDTH)));
typedef VECTOR_BITS NAME(_mask) __attribute__((vector_size(4 * LANES_WIDTH)));

/* In memory, which is an array of elements. In place of memcpy, which gcc splits into halves: a load of a
 * vector that was stored by halves waits for the stores. */
typedef VECTOR_ELEMENT NAME(_stored)
	__attribute__((vector_size(4 * LANES_WIDTH), aligned(sizeof(VECTOR_ELEMENT)), may_alias));

ALWAYS_INLINE VECTOR NAME(_all)(VECTOR_ELEMENT s)
{
	return s - (VECTOR){ 0 }; /* a sum would turn −0 into 0 */
}

#ifndef VECTOR_APART
/* The lanes of one vector from `first` on, which is a multiple of their number. */
ALWAYS_INLINE VECTOR NAME(_load)(const struct VECTOR_EIGHT *from, uint32_t first)
{
	VALIDATE(first < BLOCK_LANES && first % (sizeof(VECTOR) / sizeof(VECTOR_ELEMENT)) == 0);
	return *(const NAME(_stored) *)&from->at[first];
}

ALWAYS_INLINE void NAME(_store)(struct VECTOR_EIGHT *to, uint32_t first, VECTOR v)
{
	VALIDATE(first < BLOCK_LANES && first % (sizeof(VECTOR) / sizeof(VECTOR_ELEMENT)) == 0);
	*(NAME(_stored) *)&to->at[first] = v;
}
#endif

ALWAYS_INLINE VECTOR NAME(_select)(NAME(_mask) mask, VECTOR yes, VECTOR no)
{
	return (VECTOR)((mask & (NAME(_mask))yes) | (~mask & (NAME(_mask))no));
}

/* b if they are equal or one is not a number. */
ALWAYS_INLINE VECTOR NAME(_max)(VECTOR a, VECTOR b)
{
	return NAME(_select)(a > b, a, b);
}

ALWAYS_INLINE VECTOR NAME(_min)(VECTOR a, VECTOR b)
{
	return NAME(_select)(a < b, a, b);
}

struct NAME(3) {
	VECTOR x, y, z;
};

ALWAYS_INLINE struct NAME(3) NAME(3_add)(struct NAME(3) a, struct NAME(3) b)
{
	return (struct NAME(3)){ a.x + b.x, a.y + b.y, a.z + b.z };
}

ALWAYS_INLINE struct NAME(3) NAME(3_sub)(struct NAME(3) a, struct NAME(3) b)
{
	return (struct NAME(3)){ a.x - b.x, a.y - b.y, a.z - b.z };
}

ALWAYS_INLINE struct NAME(3) NAME(3_scale)(struct NAME(3) a, VECTOR s)
{
	return (struct NAME(3)){ a.x * s, a.y * s, a.z * s };
}

ALWAYS_INLINE VECTOR NAME(3_dot)(struct NAME(3) a, struct NAME(3) b)
{
	return a.x * b.x + a.y * b.y + a.z * b.z;
}

ALWAYS_INLINE struct NAME(3) NAME(3_cross)(struct NAME(3) a, struct NAME(3) b)
{
	return (struct NAME(3)){ a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z,
				 a.x * b.y - a.y * b.x };
}

#undef NAME
#undef VECTOR_JOIN
#undef VECTOR_PASTE
#undef VECTOR_APART
#undef VECTOR_EIGHT
#undef VECTOR_BITS
#undef VECTOR_ELEMENT
#undef VECTOR
#endif
