# SPDX-License-Identifier: Apache-2.0
"""What is asked of PyTorch. As of JAX (_jax.py): only one that the program itself has imported and that has taken a
GPU."""

import sys

from . import _hook


def running():
    """The module torch.cuda.memory of a PyTorch that has taken a GPU and can tell what its allocator holds, else
    None."""
    cuda = getattr(sys.modules.get("torch"), "cuda", None)
    if cuda is None or not getattr(cuda, "is_initialized", lambda: False)():
        return None
    memory = getattr(cuda, "memory", None)
    return memory if hasattr(memory, "_dump_snapshot") else None


def snapshot_stem():
    """ "snapshot", or "rank3" where torchrun or a scheduler says so: ranks of one job may share a folder"""
    return _hook.rank() or "snapshot"


def has_written():
    """Did the hook of `memviewd run` write a snapshot of this process, as the request failed?"""
    hook = sys.modules.get("_memviewd_hook")
    return hook is not None and hook.has_written()


def write_snapshot(path):
    """The allocator's segments and blocks, and its events where _record_memory_history() was called before. Out: was
    there anything to write?"""
    memory = running()
    if memory is None:
        return False
    memory._dump_snapshot(path)
    return True
