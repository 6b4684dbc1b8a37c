/* See pool.h. How a runnable is added, moved, removed and borrowed without any thread waiting for
 * another.
 *
 * Its worker does everything that concerns a runnable, in `serve_runnable`: inserts it into the heap,
 * runs its tasks, moves it to another worker, lets it leave, or only calls `due` again. A thread that
 * needs one of these sets a field under the runnable's lock, appends the runnable to the pending list of
 * its worker's run queue and wakes the worker. A wakeup cannot fail and an embedded list cannot be full,
 * so no request is lost. One that reaches a worker which has meanwhile moved the runnable is passed on.
 *
 *	        pool_add              target ≠ here: move, wake there
 *	LOOP ───────────► worker A ──────────────────────────────────────► worker B
 *	  ▲                   │ leaving and no tasks left                      │
 *	  └─── gone wakeup ───┴────────────────────────────────────────────────┘
 *
 * Only the `holder` calls the runnable, under no lock; a thread becomes holder under the lock. The
 * worker is holder in serve_runnable and during a slice, LOOP while it borrows. LOOP never waits
 * for a worker (the borrow is refused), and no worker waits for LOOP: it sets `missed` and
 * continues, and LOOP wakes it when it gives the runnable back. The heap belongs to the worker, so
 * after a borrow the heap's `due` may be too early (`stale`: the worker calls `due` again), but
 * never too late (LOOP wakes it).
 *
 * A worker may be inside one slice for seconds. The runnables that wait for it, in its heap, in the round
 * at hand or in its pending list, are under the queue's lock, so LOOP can move them to the pending list of
 * a free worker (pool_relieve). The worker itself holds that lock for moments only.
 *
 * `refs` counts the pool's own reference and one for a place in a pending list, so that a wakeup still on
 * its way to a former worker never finds freed memory. Locks are taken in the order pool, runnable, queue.
 */
#include "server/tick/pool_state.h"

#include "server/base/heap.h"

enum { TASKS_FIRST = 8, TASKS_IN_TURN = 64 };
enum { SLICE_STEPS_MAX = 1000 }; /* ends a slice also under a clock that stands still */
#define TASKS_NS (500 * NS_PER_US)
/* A worker rings LOOP for the reports of small worlds at most so late. */
#define HOLD_NS (500 * NS_PER_US)

const struct pool_options pool_options_default = { 1024, 256, 100 * NS_PER_US, 500 * NS_PER_US };

/* ---- a run queue's heap ---------------------------------------------------------------------- */
/* (due, id) is a total order: the first runnable never depends on the history of the heap. */
static bool runs_before(const struct pooled *a, const struct pooled *b)
{
	if (a->due != b->due)
		return a->due < b->due;
	return a->runnable->id < b->runnable->id;
}

static void place_in_heap(struct run_queue *queue, uint32_t slot, struct pooled *pooled)
{
	queue->heap[slot] = pooled;
	pooled->slot = slot;
}

static void sift_heap(struct run_queue *queue, uint32_t slot, struct pooled *pooled)
{
	while (slot > 0 && runs_before(pooled, queue->heap[(slot - 1) / 2])) {
		place_in_heap(queue, slot, queue->heap[(slot - 1) / 2]);
		slot = (slot - 1) / 2;
	}
	for (;;) {
		uint32_t child = 2 * slot + 1;
		if (child + 1 < queue->count &&
		    runs_before(queue->heap[child + 1], queue->heap[child]))
			child++;
		if (child >= queue->count || !runs_before(queue->heap[child], pooled))
			break;
		place_in_heap(queue, slot, queue->heap[child]);
		slot = child;
	}
	place_in_heap(queue, slot, pooled);
}

/* Under the lock. */
void pooled_leave_heap(struct run_queue *queue, struct pooled *pooled)
{
	uint32_t slot = pooled->slot;
	if (slot == POOL_NOWHERE)
		return;
	struct pooled *last = queue->heap[--queue->count];
	if (last != pooled)
		sift_heap(queue, slot, last);
	pooled->slot = POOL_NOWHERE;
}

/* A runnable that is overdue queues behind those that have been waiting: its place follows from the
 * present instant, not from the missed deadline, because otherwise a runnable that is always late
 * would always be first. */
static void run_queue_put(struct run_queue *queue, struct pooled *pooled)
{
	uint64_t now = executor_now(queue->pool->executor);
	uint64_t due = pooled->runnable->ops->due(pooled->runnable);
	lock_take(&queue->lock);
	pooled_leave_heap(queue, pooled);
	pooled->due = MAX_OF(due, now);
	sift_heap(queue, queue->count++, pooled);
	lock_give(&queue->lock);
}

static void run_queue_take(struct run_queue *queue, struct pooled *pooled)
{
	lock_take(&queue->lock);
	pooled_leave_heap(queue, pooled);
	lock_give(&queue->lock);
}

static void run_queue_set_alarm(struct run_queue *queue)
{
	lock_take(&queue->lock);
	uint64_t at = queue->count > 0 ? queue->heap[0]->due : INSTANT_NEVER;
	lock_give(&queue->lock);
	executor_set_alarm(queue->pool->executor, at);
}

static void mark_inside(struct run_queue *queue)
{
	atomic_store_explicit(&queue->inside_since, executor_now(queue->pool->executor),
			      memory_order_relaxed);
}

static void mark_outside(struct run_queue *queue)
{
	atomic_store_explicit(&queue->inside_since, 0, memory_order_relaxed);
}

static void ring_loop(struct run_queue *queue)
{
	executor_ring(queue->pool->executor);
	queue->held_at = INSTANT_NEVER;
}

/* LOOP is rung for all slices of HOLD_NS at once; before one that may take long, at once. */
static void hold_loop(struct run_queue *queue, uint64_t now, uint64_t cost)
{
	if (queue->held_at != INSTANT_NEVER && now - queue->held_at < HOLD_NS && cost < HOLD_NS)
		return;
	ring_loop(queue);
	if (cost >= HOLD_NS)
		return;
	executor_hold(queue->pool->executor);
	queue->held_at = now;
}

/* Steps on request run until the slice's time is up, because a slice for each would cost two hand-overs
 * between threads. A slice is charged with what its worker used since the slice before, so the thread's
 * clock, a system call, is read once. */
static void run_slice(struct run_queue *queue, struct pooled *pooled)
{
	struct executor *executor = queue->pool->executor;
	const struct runnable_ops *ops = pooled->runnable->ops;
	uint64_t now = executor_now(executor), until = now + queue->pool->options.slice_ns;
	uint32_t steps = 0, made;
	mark_inside(queue);
	do {
		hold_loop(queue, now, pooled->cost);
		made = ops->run(pooled->runnable, now, until);
		steps += made;
		now = executor_now(executor);
	} while (made > 0 && steps < SLICE_STEPS_MAX && now < until &&
		 ops->due(pooled->runnable) == 0);
	mark_outside(queue);
	uint64_t used = executor_used(executor) - queue->used;
	queue->used += used;
	pooled->cost = used / MAX_OF(steps, 1u);
	atomic_fetch_add_explicit(&pooled->busy, used, memory_order_relaxed);
}

/* Becomes holder for a slice. False: LOOP holds it and will wake us. `stale`: call `due` again. */
static bool occupy(struct pooled *pooled, bool *stale)
{
	lock_take(&pooled->lock);
	bool borrowed = pooled->holder == LOOP;
	pooled->missed |= borrowed;
	*stale = pooled->stale;
	if (!borrowed) {
		pooled->holder = WORKER;
		pooled->stale = false;
	}
	lock_give(&pooled->lock);
	return !borrowed;
}

static void vacate(struct pooled *pooled)
{
	lock_take(&pooled->lock);
	pooled->holder = NOBODY;
	lock_give(&pooled->lock);
}

/* Moves the runnables that are due now into the round, earliest first; returns how many. */
static uint32_t begin_round(struct run_queue *queue, uint64_t now)
{
	uint32_t count = 0;
	lock_take(&queue->lock);
	while (queue->count > 0 && queue->heap[0]->due <= now) {
		struct pooled *pooled = queue->heap[0];
		pooled_leave_heap(queue, pooled);
		pooled->round = count;
		queue->round[count++] = pooled;
	}
	lock_give(&queue->lock);
	return count;
}

/* The next of the round; NULL: pool_relieve has moved it. From here on pool_relieve leaves it alone. */
static struct pooled *take_from_round(struct run_queue *queue, uint32_t at)
{
	lock_take(&queue->lock);
	struct pooled *pooled = queue->round[at];
	if (pooled != NULL) {
		pooled->round = POOL_NOWHERE;
		pooled->picked = true;
	}
	lock_give(&queue->lock);
	return pooled;
}

static void unpick(struct run_queue *queue, struct pooled *pooled)
{
	lock_take(&queue->lock);
	pooled->picked = false;
	lock_give(&queue->lock);
}

/* One round: every runnable that is due now runs once, earliest first. One that is due again at once
 * waits for the next round, after the thread's queue. */
static void run_round(struct run_queue *queue)
{
	uint64_t now = executor_now(queue->pool->executor);
	uint32_t count = begin_round(queue, now);
	for (uint32_t i = 0; i < count; i++) {
		struct pooled *pooled = take_from_round(queue, i);
		bool stale;
		if (pooled == NULL)
			continue;
		bool mine = occupy(pooled, &stale);
		unpick(queue, pooled);
		/* A borrowed one stays out of the heap; serve_runnable inserts it again. */
		if (!mine)
			continue;
		if (!stale || pooled->runnable->ops->due(pooled->runnable) <= now)
			run_slice(queue, pooled);
		run_queue_put(queue, pooled);
		vacate(pooled);
	}
	run_queue_set_alarm(queue);
}

static void on_alarm(void *context)
{
	struct run_queue *queue = context;
	queue->used = executor_used(queue->pool->executor);
	run_round(queue);
	ring_loop(queue);
}

/* ---- pending runnables ----------------------------------------------------------------------- */
void pooled_put_pending(struct run_queue *queue, struct pooled *pooled)
{
	lock_take(&queue->lock);
	pooled->listed = true;
	pooled->next_pending = NULL;
	if (queue->pending_last != NULL)
		queue->pending_last->next_pending = pooled;
	else
		queue->pending_first = pooled;
	queue->pending_last = pooled;
	lock_give(&queue->lock);
}

void pooled_leave_pending(struct run_queue *queue, struct pooled *pooled)
{
	struct pooled *before = NULL, *at = queue->pending_first;
	for (; at != pooled; at = at->next_pending)
		before = at;
	if (before != NULL)
		before->next_pending = pooled->next_pending;
	else
		queue->pending_first = pooled->next_pending;
	if (queue->pending_last == pooled)
		queue->pending_last = before;
	pooled->listed = false;
}

uint32_t pooled_note_wakeup(struct pooled *pooled)
{
	if (pooled->pending)
		return POOL_NOWHERE;
	pooled->pending = true;
	pooled->refs++;
	pooled_put_pending(&pooled->pool->queues[pooled->worker], pooled);
	return pooled->worker;
}

static void wake_run_queue(struct pool *pool, uint32_t worker)
{
	executor_wake(pool->executor, (enum executor_thread)(EXECUTOR_WORKER + worker),
		      &pool->queues[worker].wakeup);
}

void pooled_unlock_and_wake(struct pooled *pooled, uint32_t worker)
{
	struct pool *pool = pooled->pool;
	lock_give(&pooled->lock);
	if (worker != POOL_NOWHERE)
		wake_run_queue(pool, worker);
}

static void pooled_free(struct pooled *pooled)
{
	struct pool *pool = pooled->pool;
	lock_take(&pool->lock);
	if (pooled->previous != NULL)
		pooled->previous->next = pooled->next;
	else
		pool->first = pooled->next;
	if (pooled->next != NULL)
		pooled->next->previous = pooled->previous;
	lock_give(&pool->lock);
	lock_release(&pooled->lock);
	heap_free(pooled->slots);
	heap_free(pooled);
}

static void drop_ref(struct pooled *pooled)
{
	lock_take(&pooled->lock);
	bool last = --pooled->refs == 0;
	lock_give(&pooled->lock);
	if (last)
		pooled_free(pooled);
}

/* Runs at most TASKS_IN_TURN tasks, or for TASKS_NS, before other runnables of the worker have their turn.
 * True: more are waiting. */
static bool run_tasks(struct run_queue *queue, struct pooled *pooled)
{
	struct executor *executor = pooled->pool->executor;
	uint64_t until = executor_now(executor) + TASKS_NS;
	struct task task;
	for (uint32_t count = 0; count < TASKS_IN_TURN; count++) {
		lock_take(&pooled->lock);
		bool some = ring_pop(&pooled->tasks, &task);
		lock_give(&pooled->lock);
		if (!some)
			return false;
		if (!task.brief)
			ring_loop(queue);
		mark_inside(queue);
		task.run(pooled->runnable, task.context);
		mark_outside(queue);
		if (executor_now(executor) >= until)
			break;
	}
	lock_take(&pooled->lock);
	bool more = pooled->tasks.count > 0;
	lock_give(&pooled->lock);
	return more;
}

/* Clears `pending` and becomes holder. False: the runnable has left; or it is another worker's by now,
 * which has been woken; or LOOP holds it and will wake us. */
static bool take_wakeup(struct pooled *pooled, uint32_t here)
{
	lock_take(&pooled->lock);
	pooled->pending = false;
	bool mine = pooled->worker == here, borrowed = pooled->holder == LOOP;
	bool taken = mine && !borrowed && !pooled->left;
	pooled->missed |= mine && borrowed;
	if (taken) {
		pooled->holder = WORKER;
		pooled->stale = false;
	}
	pooled_unlock_and_wake(pooled, mine ? POOL_NOWHERE : pooled_note_wakeup(pooled));
	return taken;
}

/* Moves it to `target` or lets it leave, where that is requested. No task is added once `leaving`
 * is set. */
static bool move_or_leave(struct pooled *pooled, struct run_queue *queue)
{
	lock_take(&pooled->lock);
	bool leaves = pooled->leaving && pooled->tasks.count == 0;
	bool moves = !leaves && pooled->target != queue->worker;
	if (leaves || moves) {
		run_queue_take(queue, pooled);
		pooled->holder = NOBODY;
	}
	pooled->left = leaves;
	pooled->worker = moves ? pooled->target : pooled->worker;
	pooled_unlock_and_wake(pooled, moves ? pooled_note_wakeup(pooled) : POOL_NOWHERE);
	if (leaves)
		executor_wake(queue->pool->executor, EXECUTOR_LOOP, &pooled->gone);
	return leaves || moves;
}

static void serve_runnable(struct run_queue *queue, struct pooled *pooled)
{
	if (take_wakeup(pooled, queue->worker)) {
		bool more = run_tasks(queue, pooled);
		if (!move_or_leave(pooled, queue)) {
			run_queue_put(queue, pooled);
			vacate(pooled);
		}
		if (more) {
			lock_take(&pooled->lock);
			pooled_unlock_and_wake(pooled, pooled_note_wakeup(pooled));
		}
	}
	drop_ref(pooled);
}

static struct pooled *pop_pending(struct run_queue *queue)
{
	lock_take(&queue->lock);
	struct pooled *pooled = queue->pending_first;
	if (pooled != NULL)
		pooled_leave_pending(queue, pooled);
	lock_give(&queue->lock);
	return pooled;
}

/* Answers a queue's wakeup: serves all runnables that were pending when it began. Those appended
 * meanwhile have made the wakeup pending again. A round follows at once, so that a step that a client waits
 * for does not wait for the timer; and one whenever serving has taken TASKS_NS. With a round after each
 * runnable, a list of n would wait for n rounds where worlds have more work than the worker can do. */
static void serve_pending(void *context)
{
	struct run_queue *queue = context;
	struct executor *executor = queue->pool->executor;
	uint64_t since = executor_now(executor);
	queue->used = executor_used(executor);
	lock_take(&queue->lock);
	const struct pooled *last = queue->pending_last;
	lock_give(&queue->lock);
	for (bool end = last == NULL; !end;) {
		struct pooled *pooled = pop_pending(queue);
		end = pooled == NULL || pooled == last;
		if (pooled != NULL)
			serve_runnable(queue, pooled);
		if (end || executor_now(executor) - since >= TASKS_NS) {
			run_round(queue);
			since = executor_now(executor);
		}
	}
	ring_loop(queue);
}

static void report_removed(void *context)
{
	struct pooled *pooled = context;
	struct runnable *runnable = pooled->runnable;
	struct pool *pool = pooled->pool;
	pool->count--;
	pool->loads[pooled->target].runnables--;
	runnable->pooled = NULL;
	pooled->removed_reported = true;
	pool_removed *removed = pooled->removed;
	void *removed_context = pooled->removed_context;
	drop_ref(pooled);
	removed(runnable, removed_context);
}

/* ---- public functions ------------------------------------------------------------------------ */
enum status pool_create(struct executor *executor, const struct pool_options *options,
			struct pool **out)
{
	ASSERT(options->runnables_max > 0);
	ASSERT(options->tasks_max > 0);
	struct pool *self = heap_alloc_zero(sizeof *self);
	if (self == NULL)
		return STATUS_NO_MEMORY;
	self->executor = executor;
	self->options = *options;
	self->balanced_at = executor_now(executor);
	lock_init(&self->lock);
	for (uint32_t i = 0; i < executor_workers(executor); i++) {
		struct run_queue *queue = &self->queues[i];
		queue->pool = self;
		queue->worker = i;
		lock_init(&queue->lock);
		atomic_init(&queue->inside_since, 0);
		queue->held_at = INSTANT_NEVER;
		wakeup_init(&queue->wakeup, serve_pending, queue);
		queue->heap = heap_alloc(options->runnables_max * sizeof *queue->heap);
		queue->round = heap_alloc(options->runnables_max * sizeof *queue->round);
		if (queue->heap == NULL || queue->round == NULL) {
			pool_destroy(self);
			return STATUS_NO_MEMORY;
		}
		executor_on_alarm(executor, (enum executor_thread)(EXECUTOR_WORKER + i), on_alarm,
				  queue);
	}
	*out = self;
	return STATUS_OK;
}

void pool_destroy(struct pool *pool)
{
	while (pool->first != NULL) {
		if (!pool->first->removed_reported)
			pool->first->runnable->pooled = NULL;
		pooled_free(pool->first);
	}
	for (uint32_t i = 0; i < EXECUTOR_WORKERS_MAX; i++) {
		if (pool->queues[i].pool != NULL)
			lock_release(&pool->queues[i].lock);
		heap_free(pool->queues[i].heap);
		heap_free(pool->queues[i].round);
	}
	lock_release(&pool->lock);
	heap_free(pool);
}

static uint32_t least_loaded(const struct pool *pool)
{
	uint32_t best = 0;
	for (uint32_t i = 1; i < executor_workers(pool->executor); i++)
		if (pool_load_score(&pool->loads[i]) < pool_load_score(&pool->loads[best]))
			best = i;
	return best;
}

static struct pooled *pooled_create(struct pool *pool, struct runnable *runnable)
{
	uint32_t tasks = MIN_OF(pool->options.tasks_max, (uint32_t)TASKS_FIRST);
	struct pooled *pooled = heap_alloc_zero(sizeof *pooled);
	if (pooled == NULL)
		return NULL;
	pooled->slots = heap_alloc(tasks * sizeof *pooled->slots);
	if (pooled->slots == NULL) {
		heap_free(pooled);
		return NULL;
	}
	pooled->runnable = runnable;
	pooled->pool = pool;
	wakeup_init(&pooled->gone, report_removed, pooled);
	lock_init(&pooled->lock);
	ring_init(&pooled->tasks, pooled->slots, tasks, sizeof(struct task));
	atomic_init(&pooled->busy, 0);
	pooled->worker = pooled->target = least_loaded(pool);
	pooled->refs = 1;
	pooled->slot = pooled->round = POOL_NOWHERE;
	pooled->cost = INSTANT_NEVER;
	lock_take(&pool->lock);
	pooled->next = pool->first;
	if (pool->first != NULL)
		pool->first->previous = pooled;
	pool->first = pooled;
	lock_give(&pool->lock);
	return pooled;
}

enum status pool_add(struct pool *pool, struct runnable *runnable)
{
	if (pool->count == pool->options.runnables_max)
		return STATUS_LIMIT;
	struct pooled *pooled = pooled_create(pool, runnable);
	if (pooled == NULL)
		return STATUS_NO_MEMORY;
	pool->count++;
	pool->loads[pooled->worker].runnables++;
	runnable->pooled = pooled;
	pool_wake(runnable);
	return STATUS_OK;
}

void pool_remove(struct pool *pool, struct runnable *runnable, pool_removed *removed, void *context)
{
	struct pooled *pooled = runnable->pooled;
	UNUSED(pool);
	ASSERT(removed != NULL);
	ASSERT(pooled->removed == NULL);
	pooled->removed = removed;
	pooled->removed_context = context;
	lock_take(&pooled->lock);
	pooled->leaving = true;
	pooled_unlock_and_wake(pooled, pooled_note_wakeup(pooled));
}

/* Under the lock, with fewer than tasks_max tasks waiting: makes room for one more. */
static enum status make_room_for_task(struct pooled *pooled)
{
	uint32_t capacity = pooled->tasks.capacity;
	if (pooled->tasks.count < capacity)
		return STATUS_OK;
	capacity = MIN_OF(2 * capacity, pooled->pool->options.tasks_max);
	struct task *tasks = heap_alloc(capacity * sizeof *tasks), task;
	if (tasks == NULL)
		return STATUS_NO_MEMORY;
	struct ring longer;
	ring_init(&longer, tasks, capacity, sizeof *tasks);
	enum status status = STATUS_OK;
	while (ring_pop(&pooled->tasks, &task))
		status = ring_push(&longer, &task);
	ASSERT(status == STATUS_OK);
	heap_free(pooled->slots);
	pooled->slots = tasks;
	pooled->tasks = longer;
	return STATUS_OK;
}

/* FULL where fewer than `room` further tasks would fit after this one. */
static enum status put_task(struct runnable *runnable, struct task task, uint32_t room)
{
	struct pooled *pooled = runnable->pooled;
	lock_take(&pooled->lock);
	enum status status = pooled->leaving ? STATUS_CLOSED : STATUS_OK;
	if (status == STATUS_OK && pooled->tasks.count + room >= pooled->pool->options.tasks_max)
		status = STATUS_FULL;
	if (status == STATUS_OK)
		status = make_room_for_task(pooled);
	if (status == STATUS_OK)
		status = ring_push(&pooled->tasks, &task);
	pooled_unlock_and_wake(pooled,
			       status == STATUS_OK ? pooled_note_wakeup(pooled) : POOL_NOWHERE);
	return status;
}

enum status pool_post(struct runnable *runnable, runnable_task *task, void *context)
{
	return put_task(runnable, (struct task){ task, context, false }, 0);
}

enum status pool_post_brief(struct runnable *runnable, runnable_task *task, void *context)
{
	return put_task(runnable, (struct task){ task, context, true }, 0);
}

enum status pool_post_deferrable(struct runnable *runnable, runnable_task *task, void *context)
{
	uint32_t most = runnable->pooled->pool->options.tasks_max;
	return put_task(runnable, (struct task){ task, context, false }, most / 2);
}

void pool_wake(struct runnable *runnable)
{
	struct pooled *pooled = runnable->pooled;
	lock_take(&pooled->lock);
	pooled_unlock_and_wake(pooled, pooled_note_wakeup(pooled));
}

uint32_t pool_worker_of(const struct runnable *runnable)
{
	struct pooled *pooled = runnable->pooled;
	lock_take(&pooled->lock);
	uint32_t worker = pooled->worker;
	lock_give(&pooled->lock);
	return worker;
}

/* ---- borrowing ------------------------------------------------------------------------------- */
static uint64_t left_in_turn(const struct pool *pool)
{
	return pool->options.borrow_ns - MIN_OF(pool->spent, pool->options.borrow_ns);
}

static bool within_turn(const struct pool *pool, uint64_t cost, uint32_t steps)
{
	uint64_t left = left_in_turn(pool);
	return left > 0 && (steps == 0 || cost <= left / steps);
}

bool pool_borrow(struct runnable *runnable, uint32_t steps)
{
	struct pooled *pooled = runnable->pooled;
	struct pool *pool = pooled->pool;
	lock_take(&pooled->lock);
	bool idle = pooled->holder == NOBODY && !pooled->pending && !pooled->leaving &&
		    pooled->tasks.count == 0 && pooled->target == pooled->worker;
	bool cheap = idle && within_turn(pool, pooled->cost, steps);
	if (cheap)
		pooled->holder = LOOP;
	lock_give(&pooled->lock);
	pool->counters.borrowed += cheap;
	pool->counters.busy += !idle;
	pool->counters.costly += idle && !cheap;
	if (!cheap)
		return false;
	pool->borrowed_at = executor_now(pool->executor);
	pool->borrowed_steps = 0;
	pool->borrowed_first = true;
	return true;
}

bool pool_slice(struct runnable *runnable)
{
	struct pool *pool = runnable->pooled->pool;
	ASSERT(runnable->pooled->holder == LOOP);
	if (runnable->ops->due(runnable) > pool->borrowed_at)
		return false;
	uint64_t now = pool->borrowed_first ? pool->borrowed_at : executor_now(pool->executor);
	uint64_t left = MIN_OF(left_in_turn(pool), pool->options.slice_ns);
	uint32_t steps = runnable->ops->run(runnable, now, pool->borrowed_at + left);
	pool->borrowed_first = false;
	pool->borrowed_steps += MAX_OF(steps, 1u);
	pool->counters.slices++;
	return true;
}

void pool_give_back(struct runnable *runnable)
{
	struct pooled *pooled = runnable->pooled;
	struct pool *pool = pooled->pool;
	/* Wall time, because reading it costs a twentieth of reading processor time. It is never
	 * less: on a busy machine the next slices go to the worker, whose measure is exact. */
	uint64_t cost = executor_now(pool->executor) - pool->borrowed_at;
	pool->spent += cost;
	if (pool->borrowed_steps > 0)
		pooled->cost = cost / pool->borrowed_steps;
	uint64_t due = runnable->ops->due(runnable);
	lock_take(&pooled->lock);
	ASSERT(pooled->holder == LOOP);
	pooled->holder = NOBODY;
	pooled->stale = true;
	bool wanted = pooled->missed || due < pooled->due;
	pooled->missed = false;
	pooled_unlock_and_wake(pooled, wanted ? pooled_note_wakeup(pooled) : POOL_NOWHERE);
}

void pool_end_turn(struct pool *pool)
{
	pool->spent = 0;
}

void pool_counters(const struct pool *pool, struct pool_counters *out)
{
	*out = pool->counters;
}
