# SPDX-License-Identifier: Apache-2.0
"""Scripts of the pages put together; for embed-pages.

Each module becomes a function that is called when the module is first asked for and gives what it exports. A bundle is
a table of such functions by path; `$use(path)` in them gives what a module exports. So a page comes in one request, and
what it does not need yet is not run. Modules keep to a few forms of import and export, each on lines of its own; any
other is refused.
"""

import posixpath
import re

IMPORT_NAMES = re.compile(r"^import \{([^}]*)\} from '([^']+)';$", re.M)
IMPORT_ALL = re.compile(r"^import \* as (\w+) from '([^']+)';$", re.M)
IMPORT_LATER = re.compile(r"\bimport\('([^']+)'\)")
EXPORT_NAMES = re.compile(r"^export \{([^}]*)\}(?: from '([^']+)')?;$", re.M)
EXPORT_THIS = re.compile(r"^export (?=(?:const|function|async function|class) (\w+))", re.M)
OTHER_FORM = re.compile(r"^(?:import|export)\b[^(].*|\bimport\.meta\b|\$(?:use|load)\b", re.M)


def named_by(path, name):
    """the path of what the module `path` names"""
    return posixpath.normpath(posixpath.join(posixpath.dirname(path), name))


def needs(path, text):
    """paths of the modules that `path` imports before it runs"""
    names = [match[2] for form in (IMPORT_NAMES, IMPORT_ALL, EXPORT_NAMES) for match in form.finditer(text)]
    return [named_by(path, name) for name in names if name]


def needs_later(path, text):
    """paths of those that it loads while it runs"""
    return [named_by(path, match[1]) for match in IMPORT_LATER.finditer(text)]


def reached(files, path, later, there=(), found=None, circle=()):
    """{path: text} of the module `path` and of all that it imports; with `later`, of what is loaded while it runs too;
    `there`: modules that are left out with what they import"""
    found = {} if found is None else found
    if path in circle:
        raise ValueError("a circle of imports: " + " -> ".join([*circle[circle.index(path) :], path]))
    if path not in found and path not in there:
        if path not in files:
            raise ValueError(f"there is no {path}, which {circle[-1] if circle else 'a page'} imports")
        text = files[path].decode()
        for each in needs(path, text):
            reached(files, each, later, there, found, (*circle, path))
        found[path] = text
        for each in needs_later(path, text) if later else []:
            reached(files, each, later, there, found)
    return found


def pairs(names):
    """`a, b as c` → [("a", "a"), ("b", "c")]"""
    each = [name.strip().split(" as ") for name in names.split(",") if name.strip()]
    return [(name[0], name[-1]) for name in each]


def function_of(path, text, load):
    """a row of the table: the module's path and its function; load(path): the expression that loads another one"""
    exports = []

    def import_names(match):
        taken = ", ".join(name if name == here else f"{name}: {here}" for name, here in pairs(match[1]))
        return f"const {{ {taken} }} = $use('{named_by(path, match[2])}');"

    def export_names(match):
        source = f"$use('{named_by(path, match[2])}')." if match[2] else ""
        exports.extend(f"{there}: {source}{here}" for here, there in pairs(match[1]))
        return ""

    plain = text
    for form in (IMPORT_NAMES, IMPORT_ALL, EXPORT_NAMES, EXPORT_THIS):
        plain = form.sub("", plain)
    other = OTHER_FORM.search(plain)
    if other:
        raise ValueError(f"{path}: no bundle can have this form: {other[0]}")
    text = IMPORT_NAMES.sub(import_names, text)
    text = IMPORT_ALL.sub(lambda match: f"const {match[1]} = $use('{named_by(path, match[2])}');", text)
    text = EXPORT_NAMES.sub(export_names, text)
    exports = EXPORT_THIS.findall(text) + exports
    text = IMPORT_LATER.sub(lambda match: load(named_by(path, match[1])), EXPORT_THIS.sub("", text))
    return f"'{path}': () => {{\n{text}\nreturn {{ {', '.join(exports)} }};\n}},\n"


def table_of(modules, load):
    """the modules {path: text} as an object of JavaScript"""
    return "{\n" + "".join(function_of(path, text, load) for path, text in modules.items()) + "}"


def script(modules, start, load):
    """a script of these modules that runs `start`; a part that is loaded later adds its own to the table. In the
    console and in tests memviewd.use(path) gives what a module exports."""
    return f"""(() => {{
'use strict';
const made = {{}};
const $use = (path) => (made[path] ??= modules[path]());
const $load = async (path, address) => {{
if (!modules[path])
for (const [each, module] of Object.entries((await import(`./${{address}}`)).part($use, $load)))
modules[each] ??= module;
return $use(path);
}};
const modules = {table_of(modules, load)};
$use('{start}');
globalThis.memviewd = {{ use: $use }};
}})();
"""


def part(modules, load):
    """a module of the browser that holds these modules, for $load() of a script"""
    return f"export const part = ($use, $load) => ({table_of(modules, load)});\n"
