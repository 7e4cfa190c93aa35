# SPDX-License-Identifier: Apache-2.0
# catalog.mk: the catalog against a PostgreSQL of its own; included by the Makefile.

catalog_query_obj := $(filter-out $(B)/server/cmd/%,$(server_obj))
$(B)/catalog/query: $(B)/tests/catalog/query.o $(core_obj) $(catalog_query_obj)
	@mkdir -p $(@D)
	@echo "  LINK  $@"
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $^ $(LIBS)

build/catalog-tools/ready: scripts/fetch-pypi tests/catalog/requirements.txt
	$(Q)scripts/fetch-pypi $(@D) tests/catalog/requirements.txt

catalog-test: all $(B)/soak/faulty.so $(if $(CATALOG),$(B)/catalog/query) ## memviewd index --catalog and what reads it, against a PostgreSQL that the test starts (fetches DuckDB from PyPI once)
	$(Q)$(MAKE) build/catalog-tools/ready || echo "DuckDB cannot be had from PyPI"
	$(Q)$(PYTHON) tests/catalog/run.py --binary $(B)/memviewd $(if $(ONLY),--only $(ONLY))

build/engine-tools/ready: scripts/fetch-pypi tests/catalog/engines.txt
	$(Q)scripts/fetch-pypi $(@D) tests/catalog/engines.txt

engines-test: all ## rows of objects by Ray Data and, where pyspark and Java are, Spark (fetches Ray from PyPI once, 150 MB)
	$(Q)$(MAKE) build/engine-tools/ready || echo "Ray cannot be had from PyPI"
	$(Q)$(PYTHON) tests/catalog/run.py --binary $(B)/memviewd --only engines

bench-catalog: all ## how long pages wait for a catalog of a million sessions, and how fast files get into it (some minutes)
	$(Q)$(PYTHON) tests/catalog/measure.py --binary $(B)/memviewd

.PHONY: bench-catalog engines-test
-include $(wildcard $(B)/tests/catalog/*.d)
