/* bench_lcp_ode: ODE's solver of complementarity problems (double in Debian). Its headers do not
 * declare it, but the library exports it: A x = b + w, rows of A padded to a multiple of four, (b,
 * x) and (low, high) in pairs, its memory from an arena. It reports "LCP internal error" through
 * ODE's messages. */
#include "tests/bench/bench_lcp.h"

#include <cstdarg>
#include <ode/ode.h>
#include <vector>

struct dxWorldProcessMemArena;
struct dxWorldProcessMemoryManager;
struct dxWorldProcessMemoryReserveInfo;
void dxSolveLCP(dxWorldProcessMemArena *arena, unsigned n, dReal *a, dReal *pairs_bx, dReal *w,
		unsigned unbounded, dReal *pairs_lh, int *depends);
size_t dxEstimateSolveLCPMemoryReq(unsigned n, bool w_given);
dxWorldProcessMemArena *dxAllocateTemporaryWorldProcessMemArena(
	size_t bytes, const dxWorldProcessMemoryManager *manager,
	const dxWorldProcessMemoryReserveInfo *reserve);
void dxFreeTemporaryWorldProcessMemArena(dxWorldProcessMemArena *arena);

static int messages;

static void count_message(int, const char *, va_list)
{
	messages++;
}

bool bench_has_ode(void)
{
	return true;
}

bool bench_ode_lcp(int rows, int stride, const double *a, const double *b, double *x)
{
	int padded = rows > 1 ? (rows + 3) / 4 * 4 : rows;
	std::vector<dReal> matrix((size_t)rows * padded), bx(2 * rows), lh(2 * rows);
	std::vector<int> depends(rows, -1);
	for (int i = 0; i < rows; i++) {
		for (int j = 0; j < rows; j++)
			matrix[(size_t)i * padded + j] = a[(size_t)i * stride + j];
		bx[2 * i] = -b[i];
		lh[2 * i + 1] = dInfinity;
	}
	dSetMessageHandler(count_message);
	messages = 0;
	/* The memory that it needs besides is an estimate of its caller in ODE; twice that is
	 * enough. */
	size_t bytes = 2 * dxEstimateSolveLCPMemoryReq(rows, false) + (1 << 16);
	dxWorldProcessMemArena *arena =
		dxAllocateTemporaryWorldProcessMemArena(bytes, nullptr, nullptr);
	/* ResetState is inline in ODE: the first word of the arena is the next free byte, the
	 * second the first byte of all. */
	void **words = reinterpret_cast<void **>(arena);
	words[0] = words[1];
	dxSolveLCP(arena, rows, matrix.data(), bx.data(), nullptr, 0, lh.data(), depends.data());
	dxFreeTemporaryWorldProcessMemArena(arena);
	for (int i = 0; i < rows; i++)
		x[i] = bx[2 * i + 1];
	return messages == 0;
}
