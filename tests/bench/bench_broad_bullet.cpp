/* Bullet's btDbvtBroadphase on the boxes of bench_broad.c. It keeps pairs from round to round, so
 * its time for pairs is that of finding new ones and dropping old ones. */
#include "tests/bench/bench_broad.h"

#include <btBulletCollisionCommon.h>
#include <vector>

static btVector3 to(const double p[3])
{
	return btVector3(btScalar(p[0]), btScalar(p[1]), btScalar(p[2]));
}

struct bench_broad_result bench_broad_bullet(const struct bench_boxes *in)
{
	bench_broad_result result = { 0, 0, 0 };
	btDefaultCollisionConfiguration configuration;
	btCollisionDispatcher dispatcher(&configuration);
	btDbvtBroadphase broad;
	std::vector<btBroadphaseProxy *> proxies(in->count);
	for (uint32_t r = 0; r <= in->rounds; r++) {
		double start = bench_broad_now();
		for (uint32_t i = 0; i < in->count; i++) {
			const bench_box &box = in->boxes[r * in->count + i];
			if (r == 0)
				proxies[i] = broad.createProxy(to(box.min), to(box.max), BOX_SHAPE_PROXYTYPE,
							       nullptr, 1, -1, &dispatcher);
			else
				broad.setAabb(proxies[i], to(box.min), to(box.max), &dispatcher);
		}
		double moved = bench_broad_now();
		broad.calculateOverlappingPairs(&dispatcher);
		if (r > 0) {
			result.move_ns += moved - start;
			result.pair_ns += bench_broad_now() - moved;
		}
	}
	result.pairs = uint64_t(broad.getOverlappingPairCache()->getNumOverlappingPairs());
	for (btBroadphaseProxy *proxy : proxies)
		broad.destroyProxy(proxy, &dispatcher);
	result.move_ns /= double(in->count) * in->rounds;
	result.pair_ns /= double(in->count) * in->rounds;
	return result;
}
