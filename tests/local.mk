# tests/local.mk: the common test library and one list per kind of test.
# A unit test is one program: tests/unit/<path>/test_<noun>.c, added by the room's own local.mk with
#   UNIT_TESTS += tests/unit/<path>/test_<noun>
UNIT_TESTS =
