# SPDX-License-Identifier: Apache-2.0
"""What a PyTorch program would take of a GPU, on a machine that has none: it runs on tensors without data
(FakeTensorMode), and what it asks for and gives back is written as an allocator snapshot, which `memviewd explain`
replays.

PyTorch's autograd cannot run on fake tensors of a GPU that is not there. So all of them are the CPU's, and a set knows
whose storage would lie on the GPU: what is made with device="cuda", by .cuda() or .to("cuda"), and what is computed
from such. Where PyTorch decides by the device (fused attention, dropout, the optimizer's foreach), it is led to what it
does on a GPU."""

import os
import pickle
import re
import runpy
import sys
import time
import weakref
from contextlib import ExitStack, contextmanager
from typing import Any, Callable, Optional, Union

from . import _binary
from ._explain import Explanation, _check_capacity, _name_of, _new_folder

MAX_FRAMES = 64
ALIGNMENT_BYTES = 2 << 20  # no two blocks share an address, whatever is between them
FIRST_ADDRESS = 0x7F0000000000
# cuBLAS's own, for each thread that multiplies: PyTorch's CUDABlas.cpp, of compute capability 9 on, and below.
HOPPER_BYTES, OTHER_BYTES = 32 << 20, (8 << 20) + (128 << 10)
MULTIPLYING = frozenset(("mm", "addmm", "bmm", "baddbmm", "addmv", "mv", "_addmm_activation"))
OURS = (
    "/torch/_subclasses/",
    "/torch/utils/_python_dispatch.py",
    "/torch/_compile.py",
    "/torch/_dynamo/",
    "/torch/overrides.py",
    "/torch/_ops.py",
    "/torch/_meta_registrations.py",
)
# What runs a script for us, which is no part of it.
RUNNING = (
    "<frozen runpy>",
    runpy.__file__,
    os.path.join(os.path.dirname(__file__), "__main__.py"),
    os.path.join(os.path.dirname(__file__), "_estimate_command.py"),
)
GROUP = (
    "not estimated: torch.distributed is not there without its GPUs, so what several processes take is not known; "
    "estimate one process without a group, then `memviewd whatif --change=shard=N` says what FSDP would take"
)


class NotEstimated(RuntimeError):
    """The program does what there is no estimate of."""


# ---- what is asked for and given back --------------------------------------------------------


def _frames():
    """The program's, the innermost first, as PyTorch's own snapshots have them."""
    frames, frame = [], sys._getframe(2)
    own = frame.f_code.co_filename
    while frame is not None and len(frames) < MAX_FRAMES:
        name = frame.f_code.co_filename
        if name == own and frame.f_code.co_name == "_apply":  # what it stands for says that a module is moved
            frames.append({"name": "_apply", "filename": sys.modules["torch.nn.modules.module"].__file__, "line": 0})
        elif name != own and name not in RUNNING and not any(each in name for each in OURS):
            frames.append({"name": frame.f_code.co_name, "filename": name, "line": frame.f_lineno})
        frame = frame.f_back
    return frames


class _Recorder:
    """Blocks in the order in which they come and go; a storage's goes with it."""

    def __init__(self):
        self.events, self._kept, self._address = [], {}, FIRST_ADDRESS
        self.live_bytes = self.peak_bytes = 0

    def _add(self, action, address, size_bytes, frames):
        self.events.append(
            {
                "action": action,
                "addr": address,
                "size": size_bytes,
                "stream": 0,
                "time_us": time.time_ns() // 1000,
                "frames": frames,
            }
        )

    def take(self, size_bytes):
        """Out: the block's address."""
        address = self._address
        self._address += -(-size_bytes // ALIGNMENT_BYTES) * ALIGNMENT_BYTES
        self._add("alloc", address, size_bytes, _frames())
        self.live_bytes += size_bytes
        self.peak_bytes = max(self.peak_bytes, self.live_bytes)
        return address

    def take_for(self, storage):
        size_bytes = storage.nbytes()
        if size_bytes == 0:
            return
        address = self.take(size_bytes)

        def give(_):
            self._kept.pop(address, None)
            self.live_bytes -= size_bytes
            self._add("free_requested", address, size_bytes, [])
            self._add("free_completed", address, size_bytes, [])

        self._kept[address] = weakref.ref(storage, give)

    def snapshot(self):
        """As torch.cuda.memory._snapshot() has it; there are no segments, which the allocator's rules make of it."""
        self._kept.clear()
        return {
            "segments": [],
            "device_traces": [self.events],
            "allocator_settings": {
                "PYTORCH_CUDA_ALLOC_CONF": os.environ.get("PYTORCH_CUDA_ALLOC_CONF", ""),
                "expandable_segments": _is_expandable(),
                "max_split_size": -1,
                "garbage_collection_threshold": 0.0,
                "roundup_power2_divisions": {},
            },
        }


def _is_expandable():
    return "expandable_segments:true" in os.environ.get("PYTORCH_CUDA_ALLOC_CONF", "").replace(" ", "").lower()


# ---- whose storage it is ---------------------------------------------------------------------


class _Devices:
    """Storages that would lie on the GPU."""

    def __init__(self, torch, recorder, workspace_bytes):
        self.torch, self.recorder, self._workspace_bytes = torch, recorder, workspace_bytes
        self._storages, self._is_forced, self._multiplied = weakref.WeakSet(), None, set()
        self.depth = 0  # above 0: PyTorch itself runs, to which all of them are the CPU's

    def has(self, tensor):
        return isinstance(tensor, self.torch.Tensor) and tensor.untyped_storage() in self._storages

    def is_gpu(self, device):
        """None: no device was named. A number is a GPU's."""
        if device is None:
            return None
        return self.torch.device(device).type in ("cuda", "hip") if not isinstance(device, int) else True

    def making(self, is_gpu):
        """What is made meanwhile is of that device, whatever it is computed from."""
        return _replaced([(self, "_is_forced", is_gpu)])

    def inside(self, depth):
        return _replaced([(self, "depth", depth)])

    def run(self, operation, args, kwargs):
        """One operation of PyTorch."""
        leaves = self.torch.utils._pytree.tree_leaves
        inputs = [each for each in leaves((args, kwargs)) if isinstance(each, self.torch.Tensor)]
        known = {id(each.untyped_storage()) for each in inputs}
        is_gpu = self._is_forced if self._is_forced is not None else any(self.has(each) for each in inputs)
        if is_gpu and operation.overloadpacket.__name__ in MULTIPLYING:
            self._multiply()
        with self.inside(self.depth + 1):
            out = operation(*args, **kwargs)
        for each in leaves(out) if is_gpu else ():
            if isinstance(each, self.torch.Tensor) and id(each.untyped_storage()) not in known:
                self.add(each.untyped_storage())
        return out

    def add(self, storage):
        if storage not in self._storages:
            self._storages.add(storage)
            self.recorder.take_for(storage)

    def _multiply(self):
        """The first product of the program's thread, and of autograd's, takes cuBLAS's workspace, and keeps it."""
        is_backward = self.torch._C._current_graph_task_id() != -1
        if is_backward not in self._multiplied:
            self._multiplied.add(is_backward)
            self.recorder.take(self._workspace_bytes)


# ---- what PyTorch is led to ------------------------------------------------------------------


def _fused_attention(
    torch, query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False
):
    """The fused one that a GPU takes: it never holds the scores."""
    if enable_gqa:
        key, value = (each.repeat_interleave(query.size(-3) // each.size(-3), -3) for each in (key, value))
    aten = torch.ops.aten
    is_half = query.dtype in (torch.float16, torch.bfloat16)
    if is_half and attn_mask is None and query.size(-1) <= 256:
        return aten._scaled_dot_product_flash_attention(query, key, value, dropout_p, is_causal, False, scale=scale)[0]
    if attn_mask is not None:
        if attn_mask.dtype == torch.bool:
            kept, attn_mask = attn_mask, torch.zeros_like(attn_mask, dtype=query.dtype)
            attn_mask.masked_fill_(kept.logical_not(), float("-inf"))
        attn_mask = attn_mask.expand(query.size(0), query.size(1), query.size(2), key.size(2))
    needs_gradient = torch.is_grad_enabled() and any(each.requires_grad for each in (query, key, value))
    return aten._scaled_dot_product_efficient_attention(
        query, key, value, attn_mask, needs_gradient, dropout_p, is_causal, scale=scale
    )[0]


def _make_functions(torch, devices):
    """Functions that decide by the device: PyTorch's own, and what stands for them."""
    functional = torch.nn.functional
    attention, dropout = functional.scaled_dot_product_attention, functional.dropout

    def gpu_attention(query, *args, **kwargs):
        if not devices.has(query) or query.dim() != 4:
            return attention(query, *args, **kwargs)
        return _fused_attention(torch, query, *args, **kwargs)

    def gpu_dropout(input, p=0.5, training=True, inplace=False):
        if not devices.has(input) or inplace or not training or p == 0:
            return dropout(input, p, training, inplace)
        return torch.native_dropout(input, p, True)[0]

    return {attention: gpu_attention, dropout: gpu_dropout, torch.dropout: gpu_dropout}


def _moved(devices, tensor, args, kwargs):
    """tensor.to(…): a device, a type, another tensor that has both, and words that say nothing of memory."""
    torch, given = devices.torch, [*args, kwargs.get("device"), kwargs.get("dtype"), kwargs.get("other")]
    of_type = {
        kind: next((each for each in given if isinstance(each, kind)), None)
        for kind in (torch.device, torch.dtype, torch.Tensor)
    }
    device, dtype, other = of_type.values()
    if device is None:  # "cuda:0", 0; a bool is no number of a device
        device = next((each for each in given if isinstance(each, (str, int)) and not isinstance(each, bool)), None)
    if other is not None:
        dtype = other.dtype
    is_gpu = devices.has(other) if other is not None else devices.is_gpu(device)
    words = {"dtype": dtype or tensor.dtype}
    if kwargs.get("memory_format") is not None:
        words["memory_format"] = kwargs["memory_format"]
    if is_gpu is None or is_gpu == devices.has(tensor):
        return tensor.to(**words, copy=bool(kwargs.get("copy")))
    with devices.making(is_gpu):
        return tensor.to(**words, copy=True)


def _value(devices, tensor):
    """Of a tensor without data: a count of steps lies on the CPU, a loss on the GPU."""
    if tensor.dtype == devices.torch.bool:
        return False
    value = 0 if devices.has(tensor) else 1
    return float(value) if tensor.dtype.is_floating_point else value


def _make_modes(torch, devices, functions):
    from torch.overrides import TorchFunctionMode
    from torch.utils._python_dispatch import TorchDispatchMode

    gpu, tensor = torch.device("cuda", 0), torch.Tensor

    class Operations(TorchDispatchMode):
        def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
            return devices.run(operation, args, kwargs or {})

    class Calls(TorchFunctionMode):
        def __torch_function__(self, call, types, args=(), kwargs=None):
            kwargs = kwargs or {}
            if call is tensor.backward:  # what is computed again in it is the program's
                words = {"grad_tensors" if name == "gradient" else name: each for name, each in kwargs.items()}
                with self, devices.inside(0):
                    return torch.autograd.backward(*args, **words)
            with devices.inside(devices.depth + 1):
                return self.run(call, args, kwargs)

        def run(self, call, args, kwargs):
            if call == tensor.is_cuda.__get__:
                return devices.has(args[0])
            if call in (tensor.item, tensor.__float__, tensor.__int__, tensor.__bool__):
                return _value(devices, args[0])
            if call is tensor.cuda:
                return _moved(devices, args[0], (gpu,), {})
            if call is tensor.cpu:
                return _moved(devices, args[0], ("cpu",), {})
            if call is tensor.pin_memory:
                return args[0]
            if call is tensor.to:
                return _moved(devices, args[0], args[1:], kwargs)
            if call in functions:
                return functions[call](*args, **kwargs)
            named = devices.is_gpu(kwargs.get("device"))
            if named is None or torch.device(kwargs["device"]).type == "meta":
                return call(*args, **kwargs)
            with devices.making(named):
                return call(*args, **dict(kwargs, device="cpu"))

    return Operations(), Calls()


def _make_device(torch, devices, fake_device):
    """The attribute `device` of a fake tensor, as the program is to see it."""
    gpu = torch.device("cuda", 0)
    return property(lambda tensor: gpu if devices.depth == 0 and devices.has(tensor) else fake_device.fget(tensor))


def _apply(module, function, recurse=True):
    """torch.nn.Module._apply, which cannot swap parameters that something refers to weakly."""
    import torch

    for child in module.children() if recurse else ():
        child._apply(function)
    for name, parameter in module._parameters.items():
        if parameter is None:
            continue
        with torch.no_grad():
            made = function(parameter)
        if made is not parameter:
            module._parameters[name] = torch.nn.Parameter(made, parameter.requires_grad)
    for name, values in module._buffers.items():
        if values is not None:
            module._buffers[name] = function(values)
    return module


def _default_to_foreach(params, differentiable, use_fused=False):
    """As for parameters on a GPU."""
    return False, not differentiable


class _Properties:
    def __init__(self, name, is_hopper):
        self.name, self.total_memory = name, 80 << 30
        self.major, self.minor, self.multi_processor_count = (9, 0, 132) if is_hopper else (8, 0, 108)


def _replacements(torch, recorder, properties, functions):
    """What asks for the GPU itself: (where, name, what stands there meanwhile)."""
    import torch.optim.optimizer as optimizer

    cuda, nothing = torch.cuda, lambda *args, **kwargs: None
    has = {
        "is_available": lambda: True,
        "is_initialized": lambda: True,
        "device_count": lambda: 1,
        "current_device": lambda: 0,
        "is_bf16_supported": lambda *args, **kwargs: True,
        "get_device_name": lambda device=None: properties.name,
        "get_device_properties": lambda device=None: properties,
        "get_device_capability": lambda device=None: (properties.major, properties.minor),
        "memory_allocated": lambda device=None: recorder.live_bytes,
        "max_memory_allocated": lambda device=None: recorder.peak_bytes,
        "memory_reserved": lambda device=None: recorder.live_bytes,
        "max_memory_reserved": lambda device=None: recorder.peak_bytes,
        "mem_get_info": lambda device=None: (properties.total_memory - recorder.live_bytes, properties.total_memory),
        "memory_stats": lambda device=None: _Zeros(),
        "memory_summary": lambda *args, **kwargs: "",
    }
    for name in (
        "init",
        "set_device",
        "synchronize",
        "empty_cache",
        "reset_peak_memory_stats",
        "manual_seed",
        "manual_seed_all",
        "reset_max_memory_allocated",
        "ipc_collect",
    ):
        has[name] = nothing
    yield from ((cuda, name, value) for name, value in has.items())
    yield torch.nn.Module, "_apply", _apply
    yield torch.utils.data.DataLoader, "__init__", _without_workers(torch.utils.data.DataLoader.__init__)
    if "torch.distributed" in sys.modules:
        yield sys.modules["torch.distributed"], "init_process_group", _begin_group
    for name in ("scaled_dot_product_attention", "dropout"):  # PyTorch's own layers call them where no mode sees it
        yield torch.nn.functional, name, functions[getattr(torch.nn.functional, name)]
    yield torch, "compile", lambda model=None, **kwargs: model if model is not None else (lambda function: function)
    for name in ("_accelerator_graph_capture_health_check", "_cuda_graph_capture_health_check"):
        yield optimizer.Optimizer, name, nothing
    for module in [each for name, each in sys.modules.items() if name.startswith("torch.optim.")]:
        yield module, "_default_to_fused_or_foreach", _default_to_foreach
    before = torch.amp.autocast_mode.autocast.__init__

    def init(self, device_type, *args, **kwargs):
        is_gpu = device_type in ("cuda", "hip")
        if is_gpu and not args and kwargs.get("dtype") is None:
            kwargs["dtype"] = torch.get_autocast_dtype("cuda")
        before(self, "cpu" if is_gpu else device_type, *args, **kwargs)

    yield torch.amp.autocast_mode.autocast, "__init__", init


def _without_workers(init):
    """Workers of a data loader are processes, which know nothing of fake tensors, and hold nothing on the GPU."""

    def make(loader, dataset, *args, **kwargs):
        for name in ("num_workers", "prefetch_factor", "persistent_workers", "multiprocessing_context"):
            kwargs.pop(name, None)
        return init(loader, dataset, *args[:4], *[0 for _ in args[4:5]], *args[5:], **kwargs)

    return make


def _begin_group(*args, **kwargs):
    raise NotEstimated(GROUP)


class _Zeros(dict):
    def __missing__(self, name):
        return 0


@contextmanager
def _replaced(replacements):
    before = []
    try:
        for place, name, value in replacements:
            if name in vars(place):
                before.append((place, name, vars(place)[name]))
                setattr(place, name, value)
        yield
    finally:
        for place, name, value in reversed(before):
            setattr(place, name, value)


# ---- the door --------------------------------------------------------------------------------


def _record(torch, step, args, device):
    import torch.utils.data
    import torch._dynamo  # before anything is replaced: it keeps tables of what stands where
    import torch.utils._pytree
    from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode

    recorder = _Recorder()
    is_hopper = re.match(r"G?[HB]\d", device, re.IGNORECASE) is not None
    devices = _Devices(torch, recorder, HOPPER_BYTES if is_hopper else OTHER_BYTES)
    properties = _Properties("NVIDIA {}".format(device or "GPU"), is_hopper)
    functions = _make_functions(torch, devices)
    operations, calls = _make_modes(torch, devices, functions)
    with ExitStack() as all_of_it:
        all_of_it.enter_context(_replaced(_replacements(torch, recorder, properties, functions)))
        device_of = _make_device(torch, devices, FakeTensor.device)
        all_of_it.enter_context(_replaced([(FakeTensor, "device", device_of)]))
        fake = all_of_it.enter_context(FakeTensorMode(allow_non_fake_inputs=True))
        args = torch.utils._pytree.tree_map(
            lambda each: fake.from_tensor(each) if isinstance(each, torch.Tensor) else each, args
        )
        for mode in (operations, calls):
            all_of_it.enter_context(mode)
        step(*args)
    return recorder


def record_into(folder, step, args, device):
    """Runs it and writes folder/estimate.pickle. Raises as estimate() does."""
    import torch

    recorder = _record(torch, step, args, "" if device is None else str(device))
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "estimate.pickle"), "wb") as file:
        pickle.dump(recorder.snapshot(), file, protocol=4)


def estimate(
    step: Callable[..., Any], /, *args: Any, device: Union[str, int, None] = None, folder: Optional[str] = None
) -> Explanation:
    """Estimates how much of a GPU a PyTorch program would take, where its peak would be and what would make it fit.
    Needs no GPU and not the memory, because nothing is computed.

    step   a function that makes the model on "cuda" and takes two training steps (the optimizer makes its state in the
           first one)
    args   its arguments; tensors among them are on the CPU, as a data loader returns them
    device "H100-80G", or a size, "24GiB": does it fit there? Without a device that is not known
    folder gets the allocator snapshot, estimate.pickle; without a folder it is deleted when the program ends

    Tensors have no values: .item() returns 0, a condition on a tensor is false, torch.compile returns the program
    unchanged. Not included: memory that kernels allocate inside (cuDNN, NCCL, fused kernels) and the CUDA context,
    because both are outside of the allocator.

    Returns an Explanation. Raises what step raises, RuntimeError if device is neither a device nor a size or if step
    starts a group of processes (torch.distributed), NotFound without the memviewd program, ImportError without PyTorch.
    """
    _binary.find()
    if device is not None:
        _check_capacity(device)
    folder = _new_folder(_name_of(step)) if folder is None else folder
    record_into(folder, step, args, device)
    return Explanation(folder, capacity=device)
