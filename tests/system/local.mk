# The real daemon with real sockets and clients: docs/TESTING.md, "system tests".
PYTHON_TESTS += \
	tests/system/test_cli.py
EXTRA_DIST += tests/system/support.py
