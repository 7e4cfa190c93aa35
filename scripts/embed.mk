# SPDX-License-Identifier: Apache-2.0
# What is compiled in: the pages with the licences, the demo, the schema of the catalog, the Python package; included by the
# Makefile.

# The lists of files are prerequisites too, so that a new or removed page is noticed.
web_src := $(shell find web -name node_modules -prune -o -type f -print 2>/dev/null)
demo_src := $(shell find tests/fixtures/demo -type f 2>/dev/null)
build/gen/%.list: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' $($*_src) | cmp -s - $@ || printf '%s\n' $($*_src) > $@
.PHONY: FORCE
FORCE:

$(B)/licenses.txt: scripts/make-licenses VERSION $(wildcard third_party/* LICENSES/*)
	@mkdir -p $(@D)
	$(Q)scripts/make-licenses $(package_versions) > $@

$(B)/web_files.c: scripts/embed-pages build/gen/web.list $(web_src) $(B)/licenses.txt docs/openapi.yaml
	@mkdir -p $(@D)
	@echo "  EMBED web"
	$(Q)scripts/embed-pages web $(B)/licenses.txt > $@

# All modules of the pages as one, without what only readers need. Not the default: esbuild is one of the tests' packages.
bundle: $(B)/bundle/memviewd ## the same with the pages' modules in one file, as release/bundle/memviewd

$(B)/bundle/app.js: build/gen/web.list $(web_src) tests/web/node_modules/.package-lock.json
	@mkdir -p $(@D)
	@echo "  BUNDLE web"
	$(Q)tests/web/node_modules/.bin/esbuild web/app.js --bundle --format=esm --minify --log-level=warning --outfile=$@

$(B)/bundle/web_files.c: $(B)/bundle/app.js $(B)/web_files.c
	$(Q)scripts/embed-pages web $(B)/licenses.txt $< > $@

$(B)/bundle/memviewd: $(core_obj) $(filter-out $(B)/web_files.o,$(server_obj)) $(B)/bundle/web_files.o
	@echo "  LINK  $@"
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $^ $(LIBS)
	$(Q)$(split_debug)

# Memory over time of the demo: two devices, twelve steps, 1 MiB a step that stays.
$(B)/demo/training/host0.xplane.pb: $(B)/make-trace
	@mkdir -p $(@D)
	$(Q)ASAN_OPTIONS=detect_leaks=0 $< $@ --allocators 2 --steps 12 --events 4680 --leak 1M --before 9G --capacity 16G >/dev/null

$(B)/demo_files.c: scripts/embed-demo build/gen/demo.list $(demo_src) $(B)/demo/training/host0.xplane.pb
	@mkdir -p $(@D)
	@echo "  EMBED demo"
	$(Q)scripts/embed-demo tests/fixtures/demo $(B)/demo > $@

$(B)/schema_files.c: scripts/embed-schema $(wildcard server/fleet/catalog/schema/*.sql)
	@mkdir -p $(@D)
	@echo "  EMBED server/fleet/catalog/schema"
	$(Q)scripts/embed-schema server/fleet/catalog/schema > $@

$(B)/inject_files.c: scripts/embed-hook $(wildcard python/memviewd/*.py)
	@mkdir -p $(@D)
	@echo "  EMBED python/memviewd"
	$(Q)scripts/embed-hook python/memviewd > $@
