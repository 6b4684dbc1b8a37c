# tests/lib/tally.sh: sourced by tests/run and .ci/run; counts results and prints the closing line.
#
#   tally_note NAME CODE       one result: passed if CODE is 0
#   tally_check BUILD [ARG…]   make check in BUILD; every TAP line of every test counts
#   tally_tap NAME COMMAND…    a command that prints TAP; likewise
#   tally_beside NAME COMMAND… the same beside what follows; counted by tally_wait
#   tally_tests BUILD          the tests of BUILD, one a line, those of tests/longest first
#   tally_close                the closing line; exits 1 if anything failed or nothing was run
passed=0
failed=0
# More than processors, because many tests wait for a daemon.
jobs=$(($(nproc 2>/dev/null || echo 2) + 2))

tally_note()
{
	if [ "$2" -eq 0 ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "FAILED: $1"
	fi
}

# Adds the results of the TAP in file $2; $1 names it, $3 is the command's exit code.
tally_add()
{
	local good bad
	good=$(grep -c '^ok ' "$2")
	bad=$(grep -c '^not ok ' "$2")
	# Died early: neither a failed line nor a success.
	if [ "$3" -ne 0 ] && [ "$bad" -eq 0 ]; then
		bad=1
		tail -n 20 "$2"
	fi
	# No result at all is no success either.
	[ $((good + bad)) -gt 0 ] || bad=1
	passed=$((passed + good))
	failed=$((failed + bad))
	[ "$bad" -eq 0 ] || awk -v name="$1" '
		/^not ok / { print "FAILED: " name ": " $0; more = 30; next }
		/^ok /     { more = 0 }
		/^#/ && more > 0 { print "    " $0; more-- }' "$2"
	echo "$1: $good passed, $bad failed"
}

tally_tap()
{
	local name=$1 log code
	shift
	log=$(mktemp)
	"$@" >"$log" 2>&1
	code=$?
	tally_add "$name" "$log" $code
	rm -f "$log"
}

beside_names=()
beside_logs=()
beside_ids=()

tally_beside()
{
	beside_names+=("$1")
	beside_logs+=("$(mktemp)")
	shift
	"$@" >"${beside_logs[-1]}" 2>&1 &
	beside_ids+=($!)
}

tally_wait()
{
	local i code
	for i in "${!beside_ids[@]}"; do
		wait "${beside_ids[i]}"
		code=$?
		tally_add "${beside_names[i]}" "${beside_logs[i]}" $code
		rm -f "${beside_logs[i]}"
	done
	beside_names=() beside_logs=() beside_ids=()
}

# What takes longest begins first, so that no processor waits for it at the end. Nothing in a build without Makefile.am.
tally_tests()
{
	make -s -C "$1" print-variable NAME=TESTS 2>/dev/null | tr -s ' ' '\n' | awk '
		FILENAME != "-" { if ($0 !~ /^#/) place[$2] = ++listed; next }
		$0 in place { first[place[$0]] = $0; next }
		{ rest[++others] = $0 }
		END { for (i = 1; i <= listed; i++) if (i in first) print first[i]
			for (i = 1; i <= others; i++) print rest[i] }' "${BASH_SOURCE[0]%/lib/*}/longest" -
}

# automake leaves a .trs file a test, with one ":test-result:" line a result.
tally_check()
{
	local build=$1 log code good bad begin tests
	shift
	begin=$SECONDS
	tests=$(tally_tests "$build" | xargs)
	case " $*" in *" TESTS="*) tests= ;; esac
	log=$build/check.log
	# Results of tests that are gone must not be counted.
	find "$build" -name '*.trs' -delete
	make -s -k -j"$jobs" -C "$build" check ${tests:+"TESTS=$tests"} "$@" >"$log" 2>&1
	code=$?
	good=$(find "$build" -name '*.trs' -exec grep -hE '^:test-result: (PASS|XFAIL)' {} + | wc -l)
	bad=$(find "$build" -name '*.trs' -exec grep -hE '^:test-result: (FAIL|XPASS|ERROR)' {} + | wc -l)
	if [ $code -ne 0 ] && [ "$bad" -eq 0 ]; then
		bad=1
		grep -E 'error|Error|warning' "$log" | head -n 20
		tail -n 20 "$log"
	fi
	[ $((good + bad)) -gt 0 ] || bad=1
	passed=$((passed + good))
	failed=$((failed + bad))
	tally_failures "$build"
	echo "check in $build: $good passed, $bad failed, $((SECONDS - begin)) s"
}

# What failed and what was said about it: failed lines, and what sanitizers and assertions print.
tally_failures()
{
	local trs test
	find "$1" -name '*.trs' | sort | while read -r trs; do
		grep -qE '^:test-result: (FAIL|XPASS|ERROR)' "$trs" || continue
		test=${trs#"$1"/}
		echo "FAILED: ${test%.trs}"
		grep -aE '^not ok|runtime error|^==[0-9]+==ERROR|^SUMMARY|WARNING: ThreadS|this must hold|^ERROR' \
			"${trs%.trs}.log" | awk '!seen[$0]++' | head -n 30 | cut -c 1-300 | sed 's/^/    /'
	done
}

tally_close()
{
	[ $((passed + failed)) -gt 0 ] || failed=1
	echo "$passed passed, $failed failed"
	[ "$failed" -eq 0 ]
	exit
}
