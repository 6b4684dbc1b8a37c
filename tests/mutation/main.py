"""tests/mutation/run SRC BUILD [NAME…]: applies each fault of the list to a copy of the tree and
reports which test notices it.

Likely tests run first: those the fault names, the unit test of the same name, those of the room.
Then all others run, shortest first, until one fails or the time of the fault is over; a test whose
programs do not change is not run. A failed test counts only if it passes without the fault. Golden
hashes come last, because they show that something changed but not what.

Results are stored in BUILD/mutants/results.jsonl, so a run continues where the last one ended. NAME
(a part of it is enough) runs these faults again. Environment: MUTANT_JOBS (1; each has its own
copy), MUTANT_REST_SECONDS (240; the time of a fault, without its likely tests; 0: likely tests
only), MUTANT_MINUTES (0: until all are done), MUTANT_AGAIN=survived runs survivors again."""
import json
import os
import queue
import shlex
import subprocess
import sys
import threading
import time

import faults
from scratch import GOLDEN, Scratch

# Tests of a folder that has few of its own.
ALSO = (
    (("server/session", "server/server.c"), "tests/sim/test_grants tests/sim/test_hostile tests/sim/test_tokens "
     "tests/sim/test_flow tests/sim/test_resume tests/sim/test_stepping tests/sim/test_snapshots tests/sim/test_contacts"),
    (("server/sync", "server/host", "server/worlds", "server/tick", "server/store"),
     "tests/sim/test_shares tests/sim/test_fairness tests/sim/test_contacts tests/sim/test_flow tests/sim/test_snapshots "
     "tests/sim/test_stepping tests/sim/test_grants tests/sim/test_tokens tests/sim/test_random"),
    (("server/engine/world", "server/store"), "tests/system/test_museum.py"),
    (("server/engine/methods", "server/engine/solvers"), "tests/unit/server/engine/dynamics/test_dynamics "
     "tests/unit/server/engine/methods/test_velocity tests/unit/server/engine/methods/test_velocity_scenes"),
    (("server/engine/solvers",), "tests/property/test_contact_problems tests/property/test_sparse_problems"),
    (("server/engine/dynamics",), "tests/unit/server/engine/world/test_step "
     "tests/unit/server/engine/world/test_one_by_one tests/unit/server/engine/world/test_waking"),
    (("clients/lib", "clients/cli"), "tests/unit/clients/lib/test_client tests/system/test_cli.py "
     "tests/system/test_library.py"),
    (("clients/python",), "clients/python/tests/test_manifest.py clients/python/tests/test_streams.py "
     "clients/python/tests/test_client.py clients/python/tests/test_aio.py"),
    (("clients/js",), "clients/js/check"),
    (("clients/web",), "clients/web/test/viewer.test.js clients/web/test/playback.test.js"),
)
# Too long for faults of other rooms.
SLOW = "clients/web/"
KILLED, GOLDEN_ONLY, SURVIVED, EQUIVALENT, BROKEN = "killed", "golden", "survived", "equivalent", "mistake"


def likely_tests(fault, tests):
    """The tests written for the code that the fault changes: its own first, then those of its
    neighbours."""
    stem = os.path.splitext(os.path.basename(fault.file))[0]
    room = os.path.join("tests/unit", os.path.dirname(fault.file)) + "/"
    near = [test for test in tests if test.startswith(room)]
    same = [test for test in near if test == f"{room}test_{stem}"]
    begun = [test for test in near if stem.startswith(test.rsplit("test_", 1)[-1])]
    also = [test for folders, names in ALSO if fault.file.startswith(folders) for test in names.split()]
    own = [test for test in dict.fromkeys([*fault.tests, *same, *begun]) if test in tests]
    return own, [test for test in dict.fromkeys([*near, *also]) if test in tests and test not in own]


class Results:
    """Stored results by fault, and the duration of each test, by which tests are ordered."""

    def __init__(self, folder):
        self.path = os.path.join(folder, "results.jsonl")
        self.lock = threading.Lock()
        self.results = {}
        self.seconds = {}
        self.sound = {}
        if os.path.exists(self.path):
            with open(self.path, encoding="utf-8") as file:
                for line in file:
                    self._take(json.loads(line))

    def _take(self, entry):
        if "fault" in entry:
            self.results[entry["fault"]] = entry
        else:
            self.seconds[entry["test"]] = entry["seconds"]

    def write(self, entry):
        with self.lock:
            if entry.get("test") in self.seconds:
                return
            self._take(entry)
            with open(self.path, "a", encoding="utf-8") as file:
                file.write(json.dumps(entry) + "\n")

    def done(self, fault, again):
        entry = self.results.get(fault.name)
        return entry is not None and entry["key"] == fault.key() and entry["verdict"] not in again


class Worker:
    def __init__(self, scratch, book, rest_seconds):
        self.scratch = scratch
        self.book = book
        self.rest_seconds = rest_seconds
        self.unsound = set()

    def passes_clean(self, test, fault):
        """Whether a failed test passes without the fault; otherwise its failure says nothing about
        the fault."""
        if test not in self.book.sound:
            self.scratch.mend(fault)
            self.scratch.make(self.scratch.needs(test), spoiled=False)
            self.book.sound[test], _, _ = self.scratch.run(test)
            if not self.book.sound[test]:
                self.unsound.add(test)
                print(f"# {test} fails without any fault, so it is left out", flush=True)
            self.scratch.spoil(fault)
        return self.book.sound[test]

    def tried(self, tests, fault, seconds=float("inf"), together=3):
        """Runs tests until one notices the fault: (test, its message), how many ran, whether all
        did."""
        begin = time.monotonic()
        run = 0
        for place in range(0, len(tests), together):
            some = tests[place:place + together]
            # A few at a time, because most faults are noticed before the other tests are linked.
            if not self.scratch.make(sorted({need for test in some for need in self.scratch.needs(test)})):
                return (None, "does not build"), run, True
            for test in some:
                if time.monotonic() - begin > seconds:
                    return None, run, False
                if test in self.unsound or self.scratch.fingerprint(test) == self.scratch.clean.get(test):
                    continue
                passed, said, took = self.scratch.run(test)
                run += 1
                self.book.write({"test": test, "seconds": round(took, 2)})
                if not passed and self.passes_clean(test, fault):
                    return (test, said), run, True
        return None, run, True

    def verdict(self, fault):
        tests = [test for test in self.scratch.tests if test != GOLDEN]
        own, near = likely_tests(fault, tests)
        order = {test: self.book.seconds.get(test, 3.0) for test in tests}
        rest = sorted((test for test in tests if test not in own + near and not test.startswith(SLOW)), key=order.get)
        killers = [entry["by"] for entry in self.book.results.values() if entry["room"] == fault.room]
        near.sort(key=lambda test: (-killers.count(test), order[test]))
        found, run, complete = self.tried(own, fault, together=1)
        for tests, seconds in ((near, float("inf")), (rest, self.rest_seconds)):
            if found is None and seconds > 0:
                found, more, complete = self.tried(tests, fault, seconds)
                run += more
        if found is not None and found[0] is None:
            return BROKEN, None, found[1]
        if found is not None:
            return (BROKEN if fault.equivalent else KILLED), *found
        golden, _, _ = self.tried([GOLDEN], fault)
        if golden is not None:
            return (BROKEN if fault.equivalent else GOLDEN_ONLY), *golden
        bound = "likely tests alone" if self.rest_seconds == 0 else "the bound was reached before all were"
        said = f"{run} tests run" + ("" if complete and self.rest_seconds > 0 else f", {bound}")
        return (EQUIVALENT if fault.equivalent else SURVIVED), None, said

    def work(self, waiting, until):
        while time.monotonic() < until:
            try:
                fault = waiting.get_nowait()
            except queue.Empty:
                return
            begin = time.monotonic()
            try:
                self.scratch.spoil(fault)
                verdict, test, said = self.verdict(fault)
            except faults.Mistake as mistake:
                verdict, test, said = BROKEN, None, str(mistake)
            finally:
                self.scratch.mend(fault)
            self.book.write({"fault": fault.name, "room": fault.room, "key": fault.key(), "verdict": verdict,
                             "by": test, "said": said, "seconds": round(time.monotonic() - begin, 1)})
            print(f"{verdict:10} {fault.name}: {test or ''} {said[:120]}", flush=True)


def report(found, book):
    """The score by room and in all, then the faults that were not noticed, with their effect."""
    done = [(fault, book.results[fault.name]) for fault in found if book.done(fault, ())]
    rooms = list(dict.fromkeys(fault.room for fault in found))
    print(f"\n{'room':12} faults    run killed golden survived equivalent mistakes   score  without golden")
    for room in [*rooms, "all"]:
        mine = [entry["verdict"] for fault, entry in done if room in (fault.room, "all")]
        listed = sum(room in (fault.room, "all") for fault in found)
        count = {kind: mine.count(kind) for kind in (KILLED, GOLDEN_ONLY, SURVIVED, EQUIVALENT, BROKEN)}
        judged = count[KILLED] + count[GOLDEN_ONLY] + count[SURVIVED]
        rate = [100 * number / judged if judged else 0 for number in (count[KILLED] + count[GOLDEN_ONLY], count[KILLED])]
        print(f"{room:12} {listed:6} {len(mine):6} {count[KILLED]:6} {count[GOLDEN_ONLY]:6} {count[SURVIVED]:8} "
              f"{count[EQUIVALENT]:10} {count[BROKEN]:8} {rate[0]:6.1f}% {rate[1]:9.1f}%")
    for fault, entry in done:
        if entry["verdict"] != KILLED:
            by = f" by {entry['by']}" if entry["by"] else ""
            print(f"\n{entry['verdict']}: {fault.name} ({fault.file}){by}\n    {fault.why}\n    {entry['said']}")
            if fault.equivalent:
                print(f"    equivalent: {fault.equivalent}")
    return any(entry["verdict"] == BROKEN for _, entry in done)


def rooms_in_turn(found):
    """Takes faults of all rooms in turn, so that an interrupted run has results of every room."""
    places = {}
    for fault in found:
        places[fault.name] = sum(other.room == fault.room for other in found[:found.index(fault)])
    return sorted(found, key=lambda fault: (places[fault.name], fault.room))


def main(arguments):
    if len(arguments) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    source, build, *names = arguments
    jobs = int(os.environ.get("MUTANT_JOBS") or 1)
    rest_seconds = float(os.environ.get("MUTANT_REST_SECONDS") or 240)
    minutes = float(os.environ.get("MUTANT_MINUTES") or 0)
    again = os.environ.get("MUTANT_AGAIN", "").split()
    folder = os.path.join(build, "mutants")
    os.makedirs(folder, exist_ok=True)
    found = faults.load(source)
    book = Results(folder)
    waiting = queue.Queue()
    for fault in rooms_in_turn(found):
        if any(name in fault.name for name in names) if names else not book.done(fault, again):
            waiting.put(fault)
    switches = shlex.split(subprocess.run([os.path.join(build, "config.status"), "--config"], capture_output=True,
                                          text=True, check=True).stdout)
    workers = []
    for number in range(min(jobs, waiting.qsize())):
        scratch = Scratch(source, os.path.join(folder, str(number)), os.path.join(folder, f"{number}.log"))
        os.makedirs(scratch.tree, exist_ok=True)
        if not scratch.update(switches, rest_seconds > 0):
            print(f"the copy in {scratch.tree} does not build: see {scratch.log}", file=sys.stderr)
            return 1
        workers.append(Worker(scratch, book, rest_seconds))
    until = time.monotonic() + minutes * 60 if minutes else float("inf")
    threads = [threading.Thread(target=worker.work, args=(waiting, until)) for worker in workers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return 1 if report(found, book) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
