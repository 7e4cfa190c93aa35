# SPDX-License-Identifier: Apache-2.0
"""What a program is: a row of `PROGRAMS`, made by the decorator `program` over the function that builds it.

One function may have several rows with different settings: a program and its twin. `has` and `lacks` name the
memory patterns that were put in or left out, each with its sign (see signs.py), by which make.py checks that the
compiler kept it so.
"""
import dataclasses
import importlib
import inspect
import os
import re
import typing

import jax
import jax.numpy as jnp

PROGRAMS = {}
CHANGED = {}  # those of changed/: NAME.base, and NAME.VARIANT after one change
HERE = os.path.dirname(os.path.abspath(__file__))


@dataclasses.dataclass
class Program:
    name: str
    note: str
    build: typing.Callable
    settings: dict
    has: dict
    lacks: dict
    mesh: dict  # axis name -> devices; empty: one chip
    change: tuple  # (name of the program before it was changed, the change in words); empty: none
    family: str  # programs of one family are held out together
    casts: tuple = ()  # (expression searched in an argument's path, element type that the argument then has)
    donate: tuple = None  # positions in place of those of Built; None: those
    hosted: str = ""  # expression searched in an argument's path: it waits in the host's memory


@dataclasses.dataclass
class Built:
    """What is compiled; `args` hold shapes (jax.ShapeDtypeStruct), in the order of the step's parameters."""
    step: typing.Callable
    args: tuple
    # (expression searched in an argument's path, role, further roles that are right as well…); the first counts
    roles: list
    donate: tuple = ()  # positions in args
    grads: typing.Any = None  # tree of what the step differentiates by
    # (expression, PartitionSpec); the first counts, else replicated
    specs: list = dataclasses.field(default_factory=list)
    results: typing.Callable = None  # (shardings of args) -> shardings of the results


def program(name, note, *, has=None, lacks=None, mesh=None, change=(), family=None, **settings):
    def add(build):
        if name in PROGRAMS:
            raise ValueError(f"two programs are named {name}")
        PROGRAMS[name] = Program(name, note, build, settings, has or {}, lacks or {}, mesh or {}, change,
                                 family or f"{build.__module__}.{build.__name__}")
        return build
    return add


def changed(name, note, changes, **settings):
    """`changes`: variant -> (change as `memviewd whatif --change` takes it, settings). Of the settings of a change
    `casts`, `donate`, `hosted` and `mesh` are done to what is built, all others are the builder's own."""
    def add(build):
        for variant, (change, other) in {"base": ("", {}), **changes}.items():
            said = {**settings, **other}
            apart = {key: said.pop(key) for key in ("casts", "donate", "hosted") if key in said}
            if f"{name}.{variant}" in CHANGED:
                raise ValueError(f"two programs are named {name}.{variant}")
            CHANGED[f"{name}.{variant}"] = Program(f"{name}.{variant}", note, build, said, {}, {}, said.pop("mesh", {}),
                                                   (f"{name}.base", change) if change else (), name, **apart)
        return build
    return add


def load(only=None, folder="models"):
    """PROGRAMS, or CHANGED, after every file of that folder was read, or only this one"""
    for file in sorted(os.listdir(os.path.join(HERE, folder))):
        module = f"{folder}.{file.removesuffix('.py')}"
        if file.endswith(".py") and only in (None, module):
            importlib.import_module(module)
    return {"models": PROGRAMS, "changed": CHANGED}[folder]


def bf16(*shape):
    return jax.ShapeDtypeStruct(shape, jnp.bfloat16)


def f32(*shape):
    return jax.ShapeDtypeStruct(shape, jnp.float32)


def i32(*shape):
    return jax.ShapeDtypeStruct(shape, jnp.int32)


def key():
    """the bits of a random key"""
    return jax.ShapeDtypeStruct((2,), jnp.uint32)


def cast(built, casts):
    """the same with arguments of other types; the step's results follow its arguments"""
    if not casts:
        return built
    args = []
    for names, value in zip(paths_of(built.step, built.args), built.args, strict=True):
        leaves, tree = jax.tree.flatten(value)
        for at, (name, leaf) in enumerate(zip(names, leaves, strict=True)):
            kind, = first_of(casts, name, [leaf.dtype])
            if leaf.dtype in (jnp.float32, jnp.bfloat16):
                leaves[at] = jax.ShapeDtypeStruct(leaf.shape, kind)
        args.append(tree.unflatten(leaves))
    return dataclasses.replace(built, args=tuple(args))


def paths_of(step, args):
    """for each argument its leaves' paths, as jit names them"""
    names = []
    for name, parameter in inspect.signature(step).parameters.items():
        is_many = parameter.kind is inspect.Parameter.VAR_POSITIONAL
        names += [f"{name}[{at}]" for at in range(len(args) - len(names))] if is_many else [name]
    return [[name + jax.tree_util.keystr(path) for path, _ in jax.tree_util.tree_flatten_with_path(value)[0]]
            for name, value in zip(names, args, strict=False)]


def first_of(rules, path, otherwise):
    for expression, *answer in rules:
        if re.search(expression, path):
            return answer
    if otherwise is None:
        raise ValueError(f"no rule for {path}")
    return otherwise
