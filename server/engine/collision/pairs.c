/* See manifold.h and pairs.h. Selects the routine for a pair of shapes. */
#include "server/engine/collision/pairs.h"

enum {
	__,
	SS,
	SC,
	SB,
	SH,
	SP,
	SM,
	CC,
	CH,
	CP,
	CM,
	BB,
	HH,
	HP,
	HM,
	GG,
	FX,
	XX,
	XP,
	XM,
	FR,
	ROUTINES
};

static pair_routine *const ROUTINE[ROUTINES] = {
	[SS] = pair_sphere_sphere,   [SC] = pair_sphere_capsule, [SB] = pair_sphere_box,
	[SH] = pair_sphere_hull,     [SP] = pair_sphere_plane,	 [SM] = pair_sphere_mesh,
	[CC] = pair_capsule_capsule, [CH] = pair_capsule_hull,	 [CP] = pair_capsule_plane,
	[CM] = pair_capsule_mesh,    [BB] = pair_box_box,	 [HH] = pair_hull_hull,
	[HP] = pair_hull_plane,	     [HM] = pair_hull_mesh,	 [GG] = pair_polygon_polygon,
	[FX] = pair_field,	     [XX] = pair_curved,	 [XP] = pair_curved_plane,
	[XM] = pair_curved_mesh,     [FR] = pair_field_curved,
};

/* Row: kind of A; column: kind of B. `-XY`: routine XY is written for (B, A); it is called with the pose
 * inverted, and its manifold is transformed back. `__`: no routine, because both kinds are static or only
 * one is planar. A box is treated as a hull where it has no routine of its own. */
/* clang-format off */
enum { TABLE_KINDS = SHAPE_ELLIPSOID + 1 };
static const int8_t TABLE[TABLE_KINDS][TABLE_KINDS] = {
	/* A \ B        none sphere capsule box hull plane mesh polyg. field round. cyl.     cone  ellips. */
	/* none      */ {  __,    __,    __,   __,  __,   __,   __,  __,   __,    __,     __,      __,   __ },
	/* sphere    */ {  __,    SS,    SC,   SB,  SH,   SP,   SM,  __,  -FX,    XX,     XX,      XX,   XX },
	/* capsule   */ {  __,   -SC,    CC,   CH,  CH,   CP,   CM,  __,  -FX,    XX,     XX,      XX,   XX },
	/* box       */ {  __,   -SB,   -CH,   BB,  HH,   HP,   HM,  __,  -FX,    XX,     XX,      XX,   XX },
	/* hull      */ {  __,   -SH,   -CH,   HH,  HH,   HP,   HM,  __,  -FX,    XX,     XX,      XX,   XX },
	/* plane     */ {  __,   -SP,   -CP,  -HP, -HP,   __,   __,  __,  -FX,   -XP,    -XP,     -XP,  -XP },
	/* mesh      */ {  __,   -SM,   -CM,  -HM, -HM,   __,   __,  __,  -FX,   -XM,    -XM,     -XM,  -XM },
	/* polygon   */ {  __,    __,    __,   __,  __,   __,   __,  GG,   __,    __,     __,      __,   __ },
	/* field     */ {  __,    FX,    FX,   FX,  FX,   FX,   FX,  __,   FX,    FR,     FR,      FR,   FR },
	/* rounded   */ {  __,   -XX,   -XX,  -XX, -XX,   XP,   XM,  __,  -FR,    XX,     XX,      XX,   XX },
	/* cylinder  */ {  __,   -XX,   -XX,  -XX, -XX,   XP,   XM,  __,  -FR,   -XX,     XX,      XX,   XX },
	/* cone      */ {  __,   -XX,   -XX,  -XX, -XX,   XP,   XM,  __,  -FR,   -XX,    -XX,      XX,   XX },
	/* ellipsoid */ {  __,   -XX,   -XX,  -XX, -XX,   XP,   XM,  __,  -FR,   -XX,    -XX,     -XX,   XX },
};
/* clang-format on */

/* The pieces of a heightfield are triangles, as those of a mesh. */
static enum shape_kind table_kind(enum shape_kind kind)
{
	return kind == SHAPE_HEIGHTFIELD ? SHAPE_MESH : kind;
}

/* A solid collides part by part, and its parts are hulls. (A field collides with the same kinds.) */
static enum shape_kind piece_kind(enum shape_kind kind)
{
	return kind == SHAPE_SOLID ? SHAPE_HULL : table_kind(kind);
}

bool collide_supported(enum shape_kind a, enum shape_kind b)
{
	a = piece_kind(a);
	b = piece_kind(b);
	return (unsigned)a < TABLE_KINDS && (unsigned)b < TABLE_KINDS && TABLE[a][b] != __;
}

/* Transforms a manifold of (B, A) into one of (A, B): points to A's frame, the normal from A to B. */
static void manifold_turn(const pose *b_in_a, struct manifold *out)
{
	ASSERT(out->count <= MANIFOLD_POINTS_MAX);
	if (out->count == 0)
		return;
	mat3 rotation = mat3_from_quat(b_in_a->rotation);
	out->normal = vec3_negate(mat3_mul_vec(rotation, out->normal));
	for (uint32_t k = 0; k < out->count; k++)
		out->points[k].point =
			vec3_add(b_in_a->position, mat3_mul_vec(rotation, out->points[k].point));
}

void collide_pieces(struct piece a, struct piece b, const pose *b_in_a, double margin,
		    struct pair_cache *cache, struct manifold *out)
{
	/* Of two fields the first is tested side by side; with other kinds a field has a single side. */
	if (shape_is_field(a.shape) && !shape_is_sided(a.shape, b.shape))
		a.child = UINT32_MAX;
	if (shape_is_field(b.shape) && !shape_is_sided(b.shape, a.shape))
		b.child = UINT32_MAX;
	a.shape = shape_part(a.shape, &a.child);
	b.shape = shape_part(b.shape, &b.child);
	enum shape_kind kind_a = table_kind(a.shape->kind), kind_b = table_kind(b.shape->kind);
	ASSERT((unsigned)kind_a < TABLE_KINDS && (unsigned)kind_b < TABLE_KINDS);
	ASSERT(TABLE[kind_a][kind_b] != __);
	int entry = TABLE[kind_a][kind_b];
	VALIDATE(pose_is_finite(*b_in_a));
	if (entry > 0) {
		struct pair pair = { a.shape, b.shape, b.child, a.child, *b_in_a, margin };
		ROUTINE[entry](&pair, cache, out);
		return;
	}
	struct pair pair = { b.shape, a.shape, a.child, b.child, pose_inverse(*b_in_a), margin };
	ROUTINE[-entry](&pair, cache, out);
	manifold_turn(b_in_a, out);
}
