# SPDX-License-Identifier: Apache-2.0
"""docs/openapi.yaml as Python values, and values held against its schemas.

Reads the part of YAML that the document uses: mappings and lists by indentation or in one line,
plain and double-quoted words, anchors (&name), aliases (*name) and merged mappings (<<). Knows the keywords of JSON
Schema that the document uses, and refuses any other, so that nothing there is left unchecked.
"""

import json
import re

ANNOTATIONS = {"description", "default"}


class Yaml:
    def __init__(self, text):
        self.lines = []
        for line in text.split("\n"):
            if line.strip() and not line.lstrip().startswith("#"):
                self.lines.append((len(line) - len(line.lstrip()), line.strip()))
        self.at = 0
        self.anchors = {}

    def read(self, indent=0):
        return self.read_list(indent) if self.lines[self.at][1].startswith("- ") else self.read_mapping(indent)

    def read_mapping(self, indent):
        found = {}
        while self.at < len(self.lines) and self.lines[self.at][0] == indent:
            key, rest = self.split(self.lines[self.at][1])
            assert key not in found, f"{key} twice"
            self.at += 1
            if rest and rest[0] == "*":
                value = self.anchors[rest[1:]]
            elif rest and rest[0] != "&":
                value = flow(rest)
            else:
                value = self.read(self.lines[self.at][0])
                self.anchors[(rest or "&")[1:]] = value
            found.update(value if key == "<<" else {key: value})
        return found

    def read_list(self, indent):
        found = []
        while self.at < len(self.lines) and self.lines[self.at][0] == indent and self.lines[self.at][1][:2] == "- ":
            text = self.lines[self.at][1][2:]
            if text[0] in '{["' or not re.match(r"[\w$-]+:( |$)", text):
                self.at += 1
                found.append(flow(text))
            else:
                self.lines[self.at] = (indent + 2, text)
                found.append(self.read_mapping(indent + 2))
        return found

    @staticmethod
    def split(text):
        match = re.match(r'("[^"]*"|[^\s:]+):(?: (.*))?$', text)
        assert match, f"not understood: {text}"
        return word(match[1]), match[2]


def word(text):
    text = text.strip()
    if text.startswith('"'):
        return json.loads(text)
    constants = {"true": True, "false": False, "null": None}
    if text in constants:
        return constants[text]
    return int(text) if re.fullmatch(r"-?\d+", text) else text


def flow(text):
    """a value in one line"""
    if text[0] not in '{["':
        return word(text)
    value, rest = flow_value(text.strip())
    assert not rest.strip(), f"not understood: {text}"
    return value


def flow_value(text):
    if text[0] == "{":
        found, text = {}, text[1:].lstrip()
        while text[0] != "}":
            key = re.match(r'("[^"]*"|[^\s:]+):\s*', text)
            found[word(key[1])], text = flow_value(text[key.end() :])
            text = text.lstrip(", ")
        return found, text[1:]
    if text[0] == "[":
        found, text = [], text[1:].lstrip()
        while text[0] != "]":
            value, text = flow_value(text)
            found.append(value)
            text = text.lstrip(", ")
        return found, text[1:]
    if text[0] == '"':
        end = re.match(r'"(?:[^"\\]|\\.)*"', text).end()
        return word(text[:end]), text[end:]
    end = re.match(r"[^,\]}]*", text).end()
    return word(text[:end]), text[end:]


class Document:
    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            self.tree = Yaml(file.read()).read()

    def resolve(self, node):
        while isinstance(node, dict) and "$ref" in node:
            found = self.tree
            for part in node["$ref"].removeprefix("#/").split("/"):
                found = found[part]
            node = found
        return node

    def operations(self):
        """(path, method, operation), with the parameters that all operations of a path share"""
        for path, item in self.tree["paths"].items():
            shared = item.get("parameters", [])
            for method, operation in item.items():
                if method != "parameters":
                    yield path, method.upper(), {**operation, "parameters": shared + operation.get("parameters", [])}

    def media(self, operation, status):
        """{content type: schema} of a status, or None when it is not documented"""
        response = operation["responses"].get(str(status))
        if response is None:
            return None
        return {kind: media["schema"] for kind, media in self.resolve(response).get("content", {}).items()}

    def faults(self, value, schema, where="$"):
        """one line for each way in which a value does not follow a schema"""
        schema = self.resolve(schema)
        for keyword, wanted in schema.items():
            check = getattr(self, "check_" + keyword, None)
            if keyword in ("required", "additionalProperties") or keyword in ANNOTATIONS:
                continue
            assert check, f"schema keyword {keyword} is not known here"
            yield from check(value, wanted, schema, where)

    TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}

    def is_type(self, value, name):
        if name == "integer":
            return isinstance(value, int) and not isinstance(value, bool)
        if name == "number":
            return isinstance(value, (int, float)) and not isinstance(value, bool)
        return isinstance(value, self.TYPES[name])

    def check_type(self, value, wanted, schema, where):
        names = wanted if isinstance(wanted, list) else [wanted]
        if not any(self.is_type(value, name) for name in names):
            yield f"{where}: {value!r} is no {' or '.join(names)}"
        elif isinstance(value, dict):
            yield from self.check_members(value, schema, where)

    def check_members(self, value, schema, where):
        for name in schema.get("required", []):
            if name not in value:
                yield f"{where}: {name} is missing"
        others = schema.get("additionalProperties")
        for name in value:
            if name in schema.get("properties", {}) or others is None:
                continue
            if others is False:
                yield f"{where}: {name} is not documented"
            else:
                yield from self.faults(value[name], others, f"{where}.{name}")

    def check_properties(self, value, wanted, schema, where):
        for name, inner in wanted.items():
            if isinstance(value, dict) and name in value:
                yield from self.faults(value[name], inner, f"{where}.{name}")

    def check_items(self, value, wanted, schema, where):
        for at, item in enumerate(value if isinstance(value, list) else []):
            yield from self.faults(item, wanted, f"{where}[{at}]")

    def check_maxItems(self, value, wanted, schema, where):
        if isinstance(value, list) and len(value) > wanted:
            yield f"{where}: {len(value)} items, more than {wanted}"

    def check_enum(self, value, wanted, schema, where):
        if value not in wanted:
            yield f"{where}: {value!r} is none of {wanted}"

    def check_anyOf(self, value, wanted, schema, where):
        found = [list(self.faults(value, each, where)) for each in wanted]
        if all(found):
            yield from min(found, key=len)

    def check_const(self, value, wanted, schema, where):
        if value != wanted:
            yield f"{where}: {value!r} is not {wanted!r}"

    def check_pattern(self, value, wanted, schema, where):
        if isinstance(value, str) and not re.search(wanted, value):
            yield f"{where}: {value!r} does not match {wanted}"

    def check_minimum(self, value, wanted, schema, where):
        if isinstance(value, (int, float)) and value < wanted:
            yield f"{where}: {value} is below {wanted}"

    def check_maximum(self, value, wanted, schema, where):
        if isinstance(value, (int, float)) and value > wanted:
            yield f"{where}: {value} is above {wanted}"
