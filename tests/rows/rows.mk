# SPDX-License-Identifier: Apache-2.0
# rows.mk: the rows of `memviewd index` as others read them; included by the Makefile.

.PHONY: rows-test

build/rows-readers/ready: scripts/fetch-pypi tests/rows/requirements.txt
	$(Q)scripts/fetch-pypi $(@D) tests/rows/requirements.txt

$(B)/rows/hostile: $(B)/tests/rows/hostile.o $(addprefix $(B)/server/,fleet/catalog/parquet.o fleet/catalog/thrift.o base/memory.o) $(core_obj)
	@mkdir -p $(@D)
	@echo "  LINK  $@"
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $^ $(LIBS)

rows-test: all $(if $(has_fleet),$(B)/rows/hostile) ## rows of memviewd index in DuckDB, pandas, polars, pyarrow and ClickHouse (fetches them from PyPI once)
	$(Q)$(if $(has_fleet),,echo "skipped: rows, in a build without fleet"; echo "0 passed, 0 failed, 1 skipped"; exit 0;) \
	$(MAKE) build/rows-readers/ready || { echo "skipped: the readers, which cannot be had from PyPI"; echo "0 passed, 0 failed, 1 skipped"; exit 0; }; \
	build/rows-readers/bin/python tests/rows/run.py --binary $(B)/memviewd --hostile $(B)/rows/hostile $(if $(ONLY),--only $(ONLY))

-include $(wildcard $(B)/tests/rows/*.d)
