/* bench_lcp_bullet: Bullet's solvers of complementarity problems, as Debian builds them (float). */
#include "tests/bench/bench_lcp.h"

#include <BulletDynamics/MLCPSolvers/btDantzigSolver.h>
#include <BulletDynamics/MLCPSolvers/btLemkeSolver.h>

bool bench_has_bullet(void)
{
	return true;
}

bool bench_bullet_lcp(int which, int rows, int stride, const double *a, const double *b, double *x)
{
	btMatrixXu matrix(rows, rows);
	btVectorXu right(rows), answer(rows), low(rows), high(rows);
	btAlignedObjectArray<int> dependency;
	for (int i = 0; i < rows; i++) {
		for (int j = 0; j < rows; j++)
			matrix.setElem(i, j, btScalar(a[(long)i * stride + j]));
		right[i] = btScalar(-b[i]);
		answer[i] = 0;
		low[i] = 0;
		high[i] = BT_INFINITY;
		dependency.push_back(-1);
	}
	btDantzigSolver dantzig;
	btLemkeSolver lemke;
	btMLCPSolverInterface *solver = &dantzig;
	if (which == 1)
		solver = &lemke;
	bool solved = solver->solveMLCP(matrix, right, answer, low, high, dependency, 50);
	for (int i = 0; i < rows; i++)
		x[i] = double(answer[i]);
	return solved;
}
