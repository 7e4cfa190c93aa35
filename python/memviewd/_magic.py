# SPDX-License-Identifier: Apache-2.0
"""%load_ext memviewd: the line magic %memviewd."""

import ast
from typing import Any

from . import _explain, _oom, _show

USAGE = """%memviewd explain f(x, …)   compile the call and say whether it fits; nothing is run
%memviewd show [WHAT]       the page of a folder, a file or a variable; of ./memviewd-runs without
%memviewd install           look into every exception for lack of memory"""
CALLED = "__memviewd_explain__"


def _explain_call(text, names):
    """explain(f, x) for "f(x)", with the notebook's own names. Raises SyntaxError when it is no call."""
    tree = ast.parse(text.strip(), mode="eval")
    call = tree.body
    if not isinstance(call, ast.Call):
        raise SyntaxError("a call is needed: %memviewd explain f(x)")
    tree.body = ast.copy_location(
        ast.Call(func=ast.Name(id=CALLED, ctx=ast.Load()), args=[call.func] + call.args, keywords=call.keywords), call
    )
    code = compile(ast.fix_missing_locations(tree), "<memviewd explain>", "eval")
    return eval(code, dict(names, **{CALLED: _explain.explain}))


def magic(line, names):
    """What %memviewd LINE gives; `names` are those of the notebook."""
    word, _, rest = line.strip().partition(" ")
    rest = rest.strip()
    if word == "explain" and rest:
        return _explain_call(rest, names)
    if word == "show":
        return _show.show(names.get(rest, rest) if rest else None)
    if word == "install" and not rest:
        _oom.install()
        return None
    print(USAGE)
    return None


def load_ipython_extension(shell: Any) -> None:
    from IPython.core.magic import no_var_expand  # braces of f({...}) are Python's

    shell.register_magic_function(no_var_expand(lambda line: magic(line, shell.user_ns)), "line", "memviewd")


def unload_ipython_extension(shell: Any) -> None:
    shell.magics_manager.magics["line"].pop("memviewd", None)
