# SPDX-License-Identifier: Apache-2.0
"""memviewd from Python: what filled the memory of a TPU or GPU when a program ran out of it.

    memviewd.explain(f, *args)     compiles f and says whether it fits, where the memory goes and what would make it fit
    memviewd.estimate(step)        what a PyTorch program would take of a GPU, without one
    memviewd.on_oom()              around a step: what is known of a lack of memory is saved and said, and the exception
                                   goes on
    memviewd.install()             the same for every exception that nobody catches
    memviewd.watch(every=30)       what is in use, and a device profile every so many seconds: what grows
    memviewd.show(folder)          the page of it, in a notebook or as an address
    %load_ext memviewd             %memviewd explain f(x), %memviewd show, %memviewd install

The work is done by the memviewd program, which _binary.py finds; JAX and PyTorch are asked where they run, nothing else
is needed.
"""
from typing import TYPE_CHECKING

from ._binary import NotFound
from ._estimate import estimate
from ._explain import Explanation, explain
from ._magic import load_ipython_extension, unload_ipython_extension
from ._oom import install, on_oom
from ._show import Page, show
from ._watch import Watch, watch

__all__ = ["Explanation", "NotFound", "Page", "Watch", "estimate", "explain", "install", "load_ipython_extension",
           "on_oom", "show", "unload_ipython_extension", "watch"]

if TYPE_CHECKING:
    __version__: str
else:
    def __getattr__(name):
        # There is one version, that of the program; it is asked for only when somebody wants to know.
        if name == "__version__":
            from ._binary import version
            return version()
        raise AttributeError("module 'memviewd' has no attribute {!r}".format(name))
