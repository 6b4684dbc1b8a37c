"""Runs pytest on the files given and prints TAP, one line per test, for automake's driver.

The exit code is pytest's unless tests failed: a failed test is told by its "not ok" line.
"""
import os
import sys

import pytest


class Tap:
    """A pytest plugin: prints results as they come and the plan at the end."""

    def __init__(self, stream):
        self.stream = stream
        self.count = 0

    def line(self, text):
        print(text, file=self.stream, flush=True)

    def result(self, good, name, remark="", details=""):
        self.count += 1
        self.line(f"{'ok' if good else 'not ok'} {self.count} - {name.replace('#', '_')}{remark}")
        for detail in details.splitlines():
            self.line("# " + detail)

    def pytest_runtest_logreport(self, report):
        if report.skipped:
            reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else "expected"
            self.result(True, report.nodeid, f" # SKIP {reason}")
        elif report.when == "call" or report.failed:
            details = report.longreprtext if report.failed else ""
            self.result(report.passed, report.nodeid, details=details)

    def pytest_collectreport(self, report):
        if report.failed:
            self.result(False, report.nodeid or "collection", details=report.longreprtext)


def main(files):
    tap = Tap(sys.stdout)
    # pytest's own report would only come between the lines.
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        sys.stdout = nowhere
        code = pytest.main(["-q", "--tb=short", "-p", "no:cacheprovider", *files], plugins=[tap])
    tap.line(f"1..{tap.count}")
    return 0 if code in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED) else int(code)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
