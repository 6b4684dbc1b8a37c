/* sym3f.h: the float twin of sym3, for the soft solver's tensors only. */
#ifndef CAIRN_ENGINE_MATH_SYM3F_H
#define CAIRN_ENGINE_MATH_SYM3F_H

#include "server/engine/math/sym3.h"
#include "server/engine/math/vec3f.h"

/* xx yy zz xy yz zx, as an array, because lanes are filled from single entries. */
typedef struct {
	float at[6];
} sym3f;

/* Each entry rounded to nearest. */
static inline sym3f sym3f_from(sym3 t)
{
	return (sym3f){ { (float)t.xx, (float)t.yy, (float)t.zz, (float)t.xy, (float)t.yz,
			  (float)t.zx } };
}

/* T v. */
static inline vec3f sym3f_apply(const sym3f *t, vec3f v)
{
	const float *m = t->at;
	return vec3f_make(m[0] * v.x + m[3] * v.y + m[5] * v.z,
			  m[3] * v.x + m[1] * v.y + m[4] * v.z,
			  m[5] * v.x + m[4] * v.y + m[2] * v.z);
}

#endif
