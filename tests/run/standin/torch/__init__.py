# SPDX-License-Identifier: Apache-2.0
"""A torch without a GPU, for tests of what `memviewd run` does to one: the names, signatures and order of calls are
those of PyTorch 2.11 (torch/cuda/__init__.py, torch/cuda/memory.py, torch/csrc/cuda/Module.cpp); the allocator is
tests/golden's.

TORCH_CALLS=FILE: each call of the allocator's own functions is written there. TORCH_STANDIN=2.0, async: as that
release, or as the backend cudaMallocAsync, which can neither record nor be observed."""

import os
import pickle
import sys
import types

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "golden"))
import made_allocator as made  # noqa: E402

KIND = os.environ.get("TORCH_STANDIN", "")
__version__ = "2.0.1" if KIND == "2.0" else "2.11.0+cu128"


class OutOfMemoryError(RuntimeError):
    pass


class DeferredCudaCallError(Exception):
    pass


def called(name, *args, **kwargs):
    if os.environ.get("TORCH_CALLS"):
        with open(os.environ["TORCH_CALLS"], "a", encoding="utf-8") as file:
            words = [repr(each) for each in args] + ["{}={!r}".format(*each) for each in kwargs.items()]
            file.write("{}({})\n".format(name, ", ".join(words)))


device = made.Caching(2, capacity=256 << 20, others=21 << 20)
observers, queued_calls, state = [], [], {"is_initialized": False, "has_history": False, "peak": 0}


# ---- torch._C -----------------------------------------------------------------------------


def _cuda_attach_out_of_memory_observer(observer):
    called("_cuda_attach_out_of_memory_observer")
    if KIND == "async":
        raise RuntimeError("cudaMallocAsync does not yet support attachOutOfMemoryObserver")
    observers.append(observer)


_C = types.SimpleNamespace(_cuda_attach_out_of_memory_observer=_cuda_attach_out_of_memory_observer)
if KIND != "2.0":
    _C._cuda_isHistoryEnabled = lambda: state["has_history"]


# ---- torch.cuda.memory --------------------------------------------------------------------


def _record_memory_history(enabled="all", context="all", stacks="all", max_entries=sys.maxsize, device=None):
    called("_record_memory_history", enabled=enabled, stacks=stacks, max_entries=max_entries)
    if KIND == "async":
        raise RuntimeError("cudaMallocAsync does not yet support recordHistory")
    state["has_history"] = enabled is not None


def _record_memory_history_2_0(
    enabled,
    record_context=True,
    trace_alloc_max_entries=1,
    trace_alloc_record_context=False,
    device=None,
    record_context_cpp=False,
):
    called("_record_memory_history", enabled, trace_alloc_max_entries=trace_alloc_max_entries)
    state["has_history"] = enabled


def _dump_snapshot(filename="dump_snapshot.pickle"):
    called("_dump_snapshot")
    with open(filename, "wb") as file:
        pickle.dump({**made.snapshot(device), **({} if state["has_history"] else {"device_traces": [[]]})}, file)


# ---- torch.cuda ---------------------------------------------------------------------------


def _lazy_call(callable, **kwargs):
    if state["is_initialized"]:
        callable()
    else:
        queued_calls.append(callable)


def _lazy_init():
    if state["is_initialized"]:
        return
    for call in queued_calls:
        try:
            call()
        except Exception as error:
            raise DeferredCudaCallError("CUDA call failed lazily at initialization") from error
    state["is_initialized"] = True


# ---- torch.cuda ---------------------------------------------------------------------------


def memory_stats(device=None):
    """of device 0, the only one in use; keys that are asked for"""
    called("memory_stats", device)
    ours = globals()["device"]
    allocated, reserved, peak = (ours.requested(), ours.reserved, state["peak"]) if not device else (0, 0, 0)
    return {
        "allocated_bytes.all.current": allocated,
        "reserved_bytes.all.current": reserved,
        "allocated_bytes.all.peak": peak,
    }


def mem_get_info(device=None):
    called("mem_get_info", device)
    return globals()["device"].device_free, globals()["device"].capacity


memory = types.SimpleNamespace(
    _record_memory_history=_record_memory_history_2_0 if KIND == "2.0" else _record_memory_history,
    _dump_snapshot=_dump_snapshot,
)
cuda = types.SimpleNamespace(
    memory=memory,
    _lazy_call=_lazy_call,
    init=_lazy_init,
    is_initialized=lambda: state["is_initialized"],
    OutOfMemoryError=OutOfMemoryError,
    device_count=lambda: 2,
    memory_stats=memory_stats,
    mem_get_info=mem_get_info,
)


def empty(size, device="cpu", dtype=None):
    """`size` bytes of the device, which stay until free(): the address"""
    _lazy_init()
    try:
        address = globals()["device"].allocate(size)
        state["peak"] = max(state["peak"], globals()["device"].requested())
        return address
    except made.OutOfMemory:
        failed = globals()["device"].failures[-1]
        for observer in observers:
            observer(0, failed["requested"], globals()["device"].capacity, failed["device_free"])
        text = made.text_of(globals()["device"], failed).decode()
        raise OutOfMemoryError(text.split("OutOfMemoryError: ")[1].strip()) from None


def free(address):
    device.free(address)
