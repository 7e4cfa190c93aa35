# SPDX-License-Identifier: Apache-2.0
# fleet.mk: many machines, as processes of this one; included by the Makefile.

.PHONY: fleet-test
fleet-test: all ## replicas behind nginx, with kills (nginx, openssl); ONLY=TEXT: tests whose name holds it
	$(Q)$(PYTHON) tests/fleet/run.py --binary $(B)/memviewd $(if $(SHARED),--shared $(SHARED)) $(if $(ONLY),--only $(ONLY))
