/* pool_balance.c: which worker a runnable is moved to: once a second by the loads of workers, and at once
 * from one that is inside a long slice. See pool.h; how a move is made is told in pool.c. */
#include "server/tick/pool_state.h"

enum { MOVES_MAX = 64 };

/* ---- balance --------------------------------------------------------------------------------- */
static void measure_loads(struct pool *pool, uint64_t elapsed)
{
	for (uint32_t i = 0; i < executor_workers(pool->executor); i++)
		pool->loads[i] = (struct pool_load){ 0, 0 };
	for (struct pooled *pooled = pool->first; pooled != NULL; pooled = pooled->next) {
		uint64_t busy = atomic_load_explicit(&pooled->busy, memory_order_relaxed);
		double share = (double)(busy - pooled->busy_before) / (double)elapsed;
		pooled->busy_before = busy;
		pooled->share = (pooled->share + MIN_OF(share, 1)) / 2;
		if (pooled->removed_reported)
			continue;
		pool->loads[pooled->target].runnables++;
		pool->loads[pooled->target].share += pooled->share;
	}
}

/* The runnable whose move from `from` narrows the gap most; the lowest id among equals. */
static struct pooled *best_move(struct pool *pool, uint32_t from, double gap, double *narrowed)
{
	struct pooled *best = NULL;
	*narrowed = 0;
	for (struct pooled *pooled = pool->first; pooled != NULL; pooled = pooled->next) {
		if (pooled->removed_reported || pooled->target != from)
			continue;
		double left = gap - 2 * pooled->share, gain = gap - MAX_OF(left, -left);
		bool better = gain > *narrowed;
		if (gain == *narrowed && best != NULL)
			better = pooled->runnable->id < best->runnable->id;
		if (!better)
			continue;
		best = pooled;
		*narrowed = gain;
	}
	return best;
}

static void move_to(struct pool *pool, struct pooled *pooled, uint32_t from, uint32_t to)
{
	lock_take(&pooled->lock);
	pooled->target = to;
	pooled_unlock_and_wake(pooled, pooled_note_wakeup(pooled));
	pool->loads[from].runnables--;
	pool->loads[to].runnables++;
	pool->loads[from].share -= pooled->share;
	pool->loads[to].share += pooled->share;
}

/* One runnable whose move is worth it; or, where each is small, as many as narrow a large gap. */
static uint32_t move_some(struct pool *pool)
{
	/* A tenth of a worker's time: less is not worth cold caches. */
	const double WORTH = 0.1;
	uint32_t busiest = 0, idlest = 0, moved = 0;
	for (uint32_t i = 1; i < executor_workers(pool->executor); i++) {
		if (pool->loads[i].share > pool->loads[busiest].share)
			busiest = i;
		if (pool->loads[i].share < pool->loads[idlest].share)
			idlest = i;
	}
	while (moved < MOVES_MAX) {
		double narrowed, gap = pool->loads[busiest].share - pool->loads[idlest].share;
		struct pooled *pooled = best_move(pool, busiest, gap, &narrowed);
		bool large = narrowed >= WORTH;
		if (pooled == NULL || (large ? moved > 0 : gap < 1.5 * WORTH))
			break;
		move_to(pool, pooled, busiest, idlest);
		moved++;
		if (large)
			break;
	}
	return moved;
}

bool pool_balance(struct pool *pool)
{
	uint64_t now = executor_now(pool->executor);
	uint64_t elapsed = now - pool->balanced_at;
	if (elapsed == 0)
		return false;
	pool->balanced_at = now;
	lock_take(&pool->lock);
	measure_loads(pool, elapsed);
	bool moved = move_some(pool) > 0;
	lock_give(&pool->lock);
	return moved;
}

/* ---- relief ---------------------------------------------------------------------------------- */

/* A worker inside one slice or task for longer than this loses the runnables that wait for it. Shorter,
 * and pool_relieve would move worlds for steps that end by themselves before the move is done. */
#define LONG_NS (5 * NS_PER_MS)

static uint64_t inside_for(const struct run_queue *queue, uint64_t now)
{
	uint64_t since = atomic_load_explicit(&queue->inside_since, memory_order_relaxed);
	return since > 0 && now > since ? now - since : 0;
}

/* The least loaded of the workers that are not inside a long slice or task; POOL_NOWHERE: all are. */
static uint32_t free_worker(const struct pool *pool, uint64_t now)
{
	uint32_t best = POOL_NOWHERE;
	for (uint32_t i = 0; i < executor_workers(pool->executor); i++)
		if (inside_for(&pool->queues[i], now) < LONG_NS &&
		    (best == POOL_NOWHERE ||
		     pool_load_score(&pool->loads[i]) < pool_load_score(&pool->loads[best])))
			best = i;
	return best;
}

/* Moves a runnable from a worker that is inside another one to worker `to`. False: it does not
 * wait there. */
static bool move_waiting(struct pooled *pooled, struct run_queue *from, uint32_t to)
{
	struct pool *pool = pooled->pool;
	lock_take(&pooled->lock);
	bool idle = pooled->holder == NOBODY && !pooled->left && pooled->worker == from->worker;
	lock_take(&from->lock);
	bool there =
		idle && !pooled->picked &&
		(pooled->slot != POOL_NOWHERE || pooled->round != POOL_NOWHERE || pooled->listed);
	bool listed = there && pooled->listed;
	if (there) {
		pooled_leave_heap(from, pooled);
		if (pooled->round != POOL_NOWHERE)
			from->round[pooled->round] = NULL;
		pooled->round = POOL_NOWHERE;
	}
	if (listed)
		pooled_leave_pending(from, pooled);
	lock_give(&from->lock);
	if (there)
		pooled->worker = pooled->target = to;
	uint32_t wakes = POOL_NOWHERE;
	if (listed) { /* with the list's reference */
		pooled_put_pending(&pool->queues[to], pooled);
		wakes = to;
	} else if (there) {
		wakes = pooled_note_wakeup(pooled);
	}
	pooled_unlock_and_wake(pooled, wakes);
	return there;
}

static uint32_t relieve_worker(struct pool *pool, struct run_queue *stuck, uint64_t now)
{
	uint32_t moved = 0;
	for (struct pooled *pooled = pool->first; pooled != NULL; pooled = pooled->next) {
		uint32_t to = free_worker(pool, now);
		if (to == POOL_NOWHERE)
			return moved;
		if (pooled->removed_reported || !move_waiting(pooled, stuck, to))
			continue;
		pool->loads[stuck->worker].runnables--;
		pool->loads[to].runnables++;
		moved++;
	}
	return moved;
}

uint32_t pool_relieve(struct pool *pool)
{
	uint64_t now = executor_now(pool->executor);
	uint32_t moved = 0;
	lock_take(&pool->lock);
	for (uint32_t i = 0; i < executor_workers(pool->executor); i++)
		if (inside_for(&pool->queues[i], now) >= LONG_NS)
			moved += relieve_worker(pool, &pool->queues[i], now);
	lock_give(&pool->lock);
	pool->counters.relieved += moved;
	return moved;
}
