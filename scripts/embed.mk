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

$(B)/web_files.c: scripts/embed-pages scripts/page_bundle.py build/gen/web.list $(web_src) $(B)/licenses.txt docs/openapi.yaml
	@mkdir -p $(@D)
	@echo "  EMBED web"
	$(Q)scripts/embed-pages web $(B)/licenses.txt > $@

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
