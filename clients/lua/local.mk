# The Lua client: generated from `cairn schema` (make lua-client), kept as proof that the schema is enough.
PYTHON_TESTS += tests/system/test_lua.py
EXTRA_DIST += \
	clients/lua/README.md \
	clients/lua/cairn/init.lua \
	clients/lua/cairn/msgpack.lua \
	clients/lua/cairn/sha256.lua \
	clients/lua/cairn/wire.lua \
	clients/lua/echo.lua \
	clients/lua/example.lua \
	clients/lua/make_client.py

# The lists of the wire as JSON; installed.
package/schema.json: cairn
	@$(MKDIR_P) package
	$(AM_V_GEN)./cairn schema >$@.new && mv $@.new $@
schemadir = $(pkgdatadir)
schema_DATA = package/schema.json
CLEANFILES += package/schema.json

.PHONY: schema lua-client
schema: package/schema.json
lua-client: package/schema.json
	$(PYTHON) $(top_srcdir)/clients/lua/make_client.py package/schema.json
