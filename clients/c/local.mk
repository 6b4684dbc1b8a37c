# libcairn, the client library as it is installed: clients/c over clients/lib, shared and static. Only the
# functions of clients/c/cairn.h are visible in either.
noinst_LIBRARIES += libcairnapi.a
libcairnapi_a_CPPFLAGS = $(CAIRN_CPPFLAGS) $(MSGPACK_CFLAGS)
libcairnapi_a_SOURCES = \
	clients/c/cairn.h \
	clients/c/cairn_manifest.h \
	clients/c/client.c \
	clients/c/commands.c \
	clients/c/library.h \
	clients/c/observe.c \
	clients/c/queries.c
include_HEADERS = clients/c/cairn.h clients/c/cairn_manifest.h
PYTHON_TESTS += tests/system/test_c_library.py
EXTRA_DIST += clients/c/make_header.py clients/c/README.md clients/c/examples/hello.c clients/c/examples/watch.cpp

CAIRN_SONAME = libcairn.so.0
CAIRN_SO = $(CAIRN_SONAME).1.0
API_ARCHIVES = libcairn.a libcairnscene.a libcairnproto.a libengine.a libbase.a
API_LINK = -Wl,--whole-archive libcairnapi.a -Wl,--no-whole-archive $(API_ARCHIVES)
API_LIBS = $(YAML_LIBS) $(EXPAT_LIBS) $(ASSIMP_LIBS) $(MSGPACK_LIBS) $(XXHASH_LIBS) $(SSL_LIBS) $(CRYPTO_LIBS) $(LIBS)

cairnlibdir = $(libdir)
cairnlib_DATA = package/lib/$(CAIRN_SO) package/lib/libcairn.a

package/lib/$(CAIRN_SO): libcairnapi.a $(API_ARCHIVES)
	@$(MKDIR_P) package/lib
	$(AM_V_CCLD)$(CC) -shared $(CAIRN_LDFLAGS) $(LDFLAGS) -Wl,-soname,$(CAIRN_SONAME) -Wl,--gc-sections -Wl,--as-needed \
		-o $@ $(API_LINK) $(API_LIBS)
	@ln -sf $(CAIRN_SO) package/lib/$(CAIRN_SONAME) && ln -sf $(CAIRN_SONAME) package/lib/libcairn.so

# One object of all that the library needs. Names that are hidden in the shared library become local to it, so that
# they cannot collide with a program's own.
package/lib/libcairn.a: libcairnapi.a $(API_ARCHIVES)
	@$(MKDIR_P) package/lib
	$(AM_V_CCLD)$(CC) -r -nostdlib -o package/lib/libcairn.o $(API_LINK)
	@$(OBJCOPY) --localize-hidden package/lib/libcairn.o
	@rm -f $@
	$(AM_V_AR)$(AR) $(ARFLAGS) $@ package/lib/libcairn.o && $(RANLIB) $@

install-data-local:
	$(MKDIR_P) '$(DESTDIR)$(libdir)'
	cd '$(DESTDIR)$(libdir)' && ln -sf $(CAIRN_SO) $(CAIRN_SONAME) && ln -sf $(CAIRN_SONAME) libcairn.so
uninstall-local:
	rm -f '$(DESTDIR)$(libdir)/$(CAIRN_SONAME)' '$(DESTDIR)$(libdir)/libcairn.so'
CLEANFILES += package/lib/$(CAIRN_SO) package/lib/$(CAIRN_SONAME) package/lib/libcairn.so package/lib/libcairn.a \
	package/lib/libcairn.o
