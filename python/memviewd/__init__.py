# SPDX-License-Identifier: Apache-2.0
"""memviewd from Python: what filled the memory of a TPU or GPU when a program ran out of it.

    memviewd.explain(f, *args)     compiles f: does it fit, where does the memory go, what would make it fit
    memviewd.estimate(step)        how much of a GPU a PyTorch program would take; needs no GPU
    memviewd.on_oom()              around a step: if it runs out of memory, saves and explains the failure; the
                                   exception goes on
    memviewd.install()             the same for every exception that nobody catches
    memviewd.watch(every=30)       memory in use, and a device profile every 30 seconds: what grows
    memviewd.show(folder)          the page of a folder, in a notebook or as an address
    %load_ext memviewd             %memviewd explain f(x), %memviewd show, %memviewd install

The memviewd program does the work; _binary.py finds it. JAX and PyTorch are used only if your program runs them; there
are no other dependencies.
"""

from typing import TYPE_CHECKING

from ._binary import NotFound
from ._estimate import estimate
from ._explain import Explanation, explain
from ._magic import load_ipython_extension, unload_ipython_extension
from ._oom import install, on_oom
from ._show import Page, show
from ._watch import Watch, watch

__all__ = [
    "Explanation",
    "NotFound",
    "Page",
    "Watch",
    "estimate",
    "explain",
    "install",
    "load_ipython_extension",
    "on_oom",
    "show",
    "unload_ipython_extension",
    "watch",
]

if TYPE_CHECKING:
    __version__: str
else:

    def __getattr__(name):
        # There is one version, that of the program; it is asked for only when somebody wants to know.
        if name == "__version__":
            from ._binary import version

            return version()
        raise AttributeError("module 'memviewd' has no attribute {!r}".format(name))
