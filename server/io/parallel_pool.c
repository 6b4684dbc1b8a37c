/* See parallel_pool.h. One job at a time; its items are claimed by an atomic counter.
 *
 * `claim` holds (job number, next item) in one word:
 *
 *	31……0 next item to claim, or CLOSED while the job is being described
 *	63…32 job number
 *
 * A helper reads `claim`, then the job's description, then takes a run by compare-and-swap on that
 * same word. (1) The description is written only while `claim` says CLOSED under the new number, so
 * a helper that read any part of a newer description fails its swap: the word that it saw never
 * returns. (2) `done` counts items finished; only a claimed run adds to it. So the caller may
 * return, and describe the next job, as soon as done = count, without waiting for helpers that
 * claimed nothing.
 *
 * Idle helpers poll `claim` for some 20 µs, because stages of a step follow each other closely, and
 * then sleep. The caller wakes helpers only if some sleep.
 */
#include "server/io/parallel_pool.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

#include "server/base/heap.h"

#define CLOSED UINT32_MAX

enum {
	/* About 0.2 ms of polling before a helper sleeps: longer than the parts of a step that one worker
	 * does alone, because waking takes 40 µs and more where idle processors halt. */
	HELPER_SPINS = 20000,
	SPINS = 2000,	    /* about 20 µs before the caller yields */
	RUNS_PER_WORKER = 4 /* each worker gets about this many runs */
};

struct helper {
	struct parallel_pool *pool;
	uint32_t worker; /* 1 … workers-1 */
	pthread_t thread;
};

struct parallel_pool {
	struct parallel parallel;
	_Atomic uint64_t claim;
	/* The description. */
	_Atomic(parallel_piece *) piece;
	_Atomic(void *) context;
	_Atomic uint32_t count;
	_Atomic uint32_t run;
	/* Items finished. */
	_Alignas(64) _Atomic uint32_t done;
	atomic_flag busy; /* a caller is in `run` */
	atomic_uint sleepers;
	atomic_bool ending;
	pthread_mutex_t mutex;
	pthread_cond_t wake;
	uint32_t started;
	struct helper helpers[PARALLEL_WORKERS_MAX];
};

static inline void pause_briefly(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

static uint64_t word(uint32_t job, uint32_t next)
{
	return (uint64_t)job << 32 | next;
}

/* Claims and executes one run of the current job. False: nothing is left to claim. */
static bool work_once(struct parallel_pool *pool, uint32_t worker)
{
	uint64_t seen = atomic_load_explicit(&pool->claim, memory_order_acquire);
	for (;;) {
		uint32_t next = (uint32_t)seen;
		if (next == CLOSED)
			return false;
		parallel_piece *piece = atomic_load_explicit(&pool->piece, memory_order_acquire);
		void *context = atomic_load_explicit(&pool->context, memory_order_acquire);
		uint32_t count = atomic_load_explicit(&pool->count, memory_order_acquire);
		uint32_t run = atomic_load_explicit(&pool->run, memory_order_acquire);
		if (next >= count)
			return false;
		uint32_t last = count - next < run ? count : next + run;
		uint64_t wanted = word((uint32_t)(seen >> 32), last);
		if (!atomic_compare_exchange_weak_explicit(&pool->claim, &seen, wanted,
							   memory_order_acq_rel,
							   memory_order_acquire))
			continue;
		piece(next, last, worker, context);
		atomic_fetch_add_explicit(&pool->done, last - next, memory_order_acq_rel);
		return true;
	}
}

static bool has_work(struct parallel_pool *pool)
{
	uint32_t next = (uint32_t)atomic_load(&pool->claim);
	return next != CLOSED && next < atomic_load(&pool->count);
}

/* A helper counts itself as asleep before its last check of `claim`; the caller reads that count
 * after it has published a job. So at least one of the two sees the other. */
static void sleep_until_work(struct parallel_pool *pool)
{
	pthread_mutex_lock(&pool->mutex);
	atomic_fetch_add(&pool->sleepers, 1);
	while (!has_work(pool) && !atomic_load(&pool->ending))
		pthread_cond_wait(&pool->wake, &pool->mutex);
	atomic_fetch_sub(&pool->sleepers, 1);
	pthread_mutex_unlock(&pool->mutex);
}

static void *helper_main(void *context)
{
	struct helper *helper = context;
	struct parallel_pool *pool = helper->pool;
	while (!atomic_load(&pool->ending)) {
		uint32_t spins = 0;
		while (spins < HELPER_SPINS) {
			spins = work_once(pool, helper->worker) ? 0 : spins + 1;
			pause_briefly();
		}
		sleep_until_work(pool);
	}
	return NULL;
}

static void wake_helpers(struct parallel_pool *pool)
{
	if (atomic_load(&pool->sleepers) == 0)
		return;
	pthread_mutex_lock(&pool->mutex);
	pthread_cond_broadcast(&pool->wake);
	pthread_mutex_unlock(&pool->mutex);
}

static void publish(struct parallel_pool *pool, uint32_t count, uint32_t run, parallel_piece *piece,
		    void *context)
{
	uint32_t job = (uint32_t)(atomic_load(&pool->claim) >> 32) + 1;
	atomic_store(&pool->claim, word(job, CLOSED));
	atomic_store_explicit(&pool->piece, piece, memory_order_release);
	atomic_store_explicit(&pool->context, context, memory_order_release);
	atomic_store_explicit(&pool->count, count, memory_order_release);
	atomic_store_explicit(&pool->run, run, memory_order_release);
	atomic_store_explicit(&pool->done, 0, memory_order_release);
	atomic_store(&pool->claim, word(job, 0));
}

static void run_helped(struct parallel_pool *pool, uint32_t count, uint32_t run,
		       parallel_piece *piece, void *context)
{
	publish(pool, count, run, piece, context);
	wake_helpers(pool);
	while (work_once(pool, 0))
		;
	/* All items are claimed; helpers finish their runs soon. Yielding lets a helper that the
	 * system has preempted continue. */
	uint32_t spins = 0;
	while (atomic_load_explicit(&pool->done, memory_order_acquire) < count) {
		if (++spins > SPINS)
			sched_yield();
		else
			pause_briefly();
	}
}

static void pool_run(const struct parallel *parallel, uint32_t count, uint32_t grain,
		     parallel_piece *piece, void *context)
{
	struct parallel_pool *pool = parallel->pool;
	uint32_t share = count / (parallel->workers * RUNS_PER_WORKER) + 1;
	uint32_t run = MAX_OF(share, grain);
	/* Counts are below CLOSED, so no item has this number. */
	ASSERT(count < CLOSED);
	bool alone = run >= count;
	if (alone || atomic_flag_test_and_set_explicit(&pool->busy, memory_order_acquire)) {
		piece(0, count, 0, context);
		return;
	}
	run_helped(pool, count, run, piece, context);
	atomic_flag_clear_explicit(&pool->busy, memory_order_release);
}

static enum status helpers_start(struct parallel_pool *pool)
{
	sigset_t all, before;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int error = 0;
	for (uint32_t i = 1; error == 0 && i < pool->parallel.workers; i++) {
		struct helper *helper = &pool->helpers[pool->started];
		*helper = (struct helper){ .pool = pool, .worker = i };
		error = pthread_create(&helper->thread, NULL, helper_main, helper);
		pool->started += error == 0;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return error == 0 ? STATUS_OK : STATUS_IO;
}

enum status parallel_pool_create(uint32_t workers, struct parallel_pool **out)
{
	if (workers < 1 || workers > PARALLEL_WORKERS_MAX)
		return STATUS_RANGE;
	/* A multiple of the cache line, because a member is aligned to one. */
	struct parallel_pool *pool = heap_alloc_aligned(sizeof *pool);
	if (pool == NULL)
		return STATUS_NO_MEMORY;
	pool->parallel = (struct parallel){ pool_run, workers, pool };
	atomic_init(&pool->claim, word(0, CLOSED));
	atomic_init(&pool->piece, NULL);
	atomic_init(&pool->context, NULL);
	atomic_init(&pool->count, 0);
	atomic_init(&pool->run, 1);
	atomic_init(&pool->done, 0);
	atomic_init(&pool->sleepers, 0);
	atomic_init(&pool->ending, false);
	atomic_flag_clear(&pool->busy);
	pthread_mutex_init(&pool->mutex, NULL);
	pthread_cond_init(&pool->wake, NULL);
	pool->started = 0;
	enum status status = helpers_start(pool);
	if (status != STATUS_OK) {
		parallel_pool_destroy(pool);
		return status;
	}
	*out = pool;
	return STATUS_OK;
}

void parallel_pool_destroy(struct parallel_pool *pool)
{
	pthread_mutex_lock(&pool->mutex);
	atomic_store(&pool->ending, true);
	pthread_cond_broadcast(&pool->wake);
	pthread_mutex_unlock(&pool->mutex);
	for (uint32_t i = 0; i < pool->started; i++)
		ASSERT(pthread_join(pool->helpers[i].thread, NULL) == 0);
	pthread_cond_destroy(&pool->wake);
	pthread_mutex_destroy(&pool->mutex);
	heap_free(pool);
}

const struct parallel *parallel_pool_parallel(const struct parallel_pool *pool)
{
	return &pool->parallel;
}
