/* sim_life.h: one life of the daemon, drawn from a seed: which clients come, what they do, what
 * fails.
 *
 *	seed ──► traits: k clients, network, files, a bad disk, little memory, tokens, hostile clients
 *	     ──► acts: commands, subscriptions of every kind, FOCUS, queries, stepping under lease
 *	         and barrier, stalls, lost connections and resumes, forks, SAVE and RESTORE,
 *	         hostile bytes, restarts
 *
 * In every life: each complete mirror equals the world at its tick; each batch is applied or
 * refused, never both, and its tag is in the world at most once; each request of a client that
 * stays connected is answered once; no client does what its role forbids; a STEP's hash is that of
 * the tick it names; what was reported as durable is there after a crash, and the restored world
 * has a state that existed; with durability `command` so is every batch whose RESULT came; the daemon's
 * counters agree; all memory is freed. A violation fails the
 * test. */
#ifndef CAIRN_TESTS_SIM_LIFE_H
#define CAIRN_TESTS_SIM_LIFE_H

#include "tests/lib/recorder.h"
#include "tests/lib/server_sim.h"

/* Worlds 0 and 1 run, 2 is stepped, 3 is a copy of one of them that comes and goes. */
enum { LIFE_RUNNING = 2, LIFE_LAB = 2, LIFE_COPY = 3, LIFE_WORLDS = 4 };
enum { LIFE_CLIENTS_MAX = 8, LIFE_FATES_MAX = 2048, LIFE_ASKS_MAX = 4096, LIFE_TOKENS = 64 };

/* Drawn properties of this life. */
struct life_traits {
	uint32_t clients, liars;
	bool goes_back; /* worlds are saved and restored: bodies may disappear */
	bool files;
	bool bad_disk; /* writes fail occasionally; a restart ends that */
	bool command;  /* answers wait for the disk */
	bool goes_on;  /* a world whose file cannot be written goes on without it */
	bool poor;     /* allocations fail occasionally */
	bool tokens;
	uint32_t restarts; /* at most */
};

/* A batch that was sent and must be answered. */
struct life_fate {
	struct sim_client *client;
	uint32_t world, repeats, resumes;
	uint64_t batch, at;
	int64_t tag;
	bool dated;    /* may be answered twice */
	bool trespass; /* commands something forbidden to the session: must be refused */
	enum wire_role role;
};

/* A request that must be answered once. */
struct life_ask {
	struct sim_client *client;
	enum message_type about, answer;
	uint64_t ref;
	uint32_t resumes;
	bool forbidden; /* forbidden to its role */
};

struct life_seat {
	struct sim_client *client; /* NULL: nobody */
	bool liar, stalled, joined[LIFE_WORLDS];
	uint64_t at[LIFE_WORLDS]; /* of its last dated batch */
	uint32_t token;		  /* 1 + index of the token it presented; 0 none */
};

struct life {
	uint64_t seed;
	struct life_traits traits;
	struct server_sim *sim;
	struct rng rng;
	struct sim_client *keeper; /* administrator that makes and paces the worlds; replaced if its
			  * connection is lost */
	struct life_seat seats[LIFE_CLIENTS_MAX];
	uint32_t worlds[LIFE_WORLDS]; /* numbers; 0: does not exist */
	uint32_t copies;
	struct life_fate fates[LIFE_FATES_MAX];
	uint32_t fate_count;
	struct life_ask asks[LIFE_ASKS_MAX];
	uint32_t ask_count;
	uint64_t next_sub;
	int64_t next_tag;
	uint64_t lab_from, lab_steps;	   /* tick at which the lab began, ticks requested since */
	bool left[SERVER_SIM_CLIENTS_MAX]; /* the client left a world at some time: answers may
					    * have come since */
	char tokens[LIFE_TOKENS][TOKEN_TEXT_MAX + 1];
	enum wire_role token_roles[LIFE_TOKENS];
	uint32_t token_first, token_count; /* of this daemon */
	char directory[RECORDER_PATH];	   /* "": no files */
	uint32_t restarts;
	uint64_t began_at; /* instant at which this daemon started */
	uint64_t compared; /* at the end */
	uint64_t trace;
	int64_t heap;
};

static inline uint32_t life_draw(struct life *life, uint32_t below)
{
	return rng_below(&life->rng, below);
}
static inline double life_draw_real(struct life *life, double span)
{
	return ((double)life_draw(life, 20001) / 10000 - 1) * span;
}

/* Runs one life of `acts` acts. Returns a hash of all its events and their instants. */
uint64_t life_live(uint64_t seed, uint32_t acts);

/* ---- between its files ----------------------------------------------------------------------------- */

/* Connects a new client in a seat, or none if the simulation has no free place. */
void life_connect(struct life *life, uint32_t seat);
void life_act(struct life *life);
/* Sends, and records that an answer must come. */
void life_ask(struct life *life, struct sim_client *client, const struct message *message,
	      enum message_type answer);
/* The keeper's request, repeated if the connection was lost or an allocation failed. Returns its
 * last status. */
enum status life_keeper_try(struct life *life, const struct message *message,
			    enum message_type answer);
/* The keeper, which is connected first if necessary. */
struct sim_client *life_keeper(struct life *life);
enum status life_control(struct life *life, uint32_t w, enum wire_control action, double value);
bool life_world_failed(const struct life *life, uint32_t w);
/* Ends all stalls and faults, lets the worlds run on, and pauses them until all mirrors are up to
 * date. */
void life_settle(struct life *life);
/* Compares the received answers with the worlds. `settled`: all expected answers must have arrived. */
void life_judge(struct life *life, bool settled);
/* After a restart: the batches that were applied before a world's durable tick are in the world. */
void life_judge_survivors(struct life *life, const struct sim_durable durable[LIFE_COPY]);
/* Drains or kills the daemon; another one takes over its files. */
void life_restart(struct life *life);

#endif
