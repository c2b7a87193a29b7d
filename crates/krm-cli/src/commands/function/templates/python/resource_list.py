"""Reads and writes a ResourceList so that only what the function changes is different afterwards.

Comments, quotes and the order of fields stay. A scalar without quotes is read as the text that is written, because a conversion
would change values that YAML readers disagree about (`on`, `0777`, `1e3`): convert it where you need it, as in
`int(item["spec"]["replicas"])`. Values that you set may have any type; a string is quoted where it would be read as another type.
"""

import io
import json
import re
import sys

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.constructor import RoundTripConstructor
from ruamel.yaml.error import CommentMark
from ruamel.yaml.nodes import ScalarNode
from ruamel.yaml.representer import RoundTripRepresenter
from ruamel.yaml.resolver import VersionedResolver
from ruamel.yaml.scalarstring import PlainScalarString
from ruamel.yaml.tag import Tag
from ruamel.yaml.tokens import CommentToken

STRING = "tag:yaml.org,2002:str"

# Strings that are strings for every reader, and the words among them that are not.
PLAIN = re.compile(r"[A-Za-z_/][A-Za-z0-9_./@-]*")
WORDS = {"y", "yes", "n", "no", "on", "off", "true", "false", "null"}


class Resolver(VersionedResolver):
    def resolve(self, kind, value, implicit):
        if kind is ScalarNode and implicit[0]:
            return Tag(suffix=STRING)
        return super().resolve(kind, value, implicit)


class Constructor(RoundTripConstructor):
    def construct_scalar(self, node):
        value = super().construct_scalar(node)
        return PlainScalarString(value) if type(value) is str and not node.style else value


class Representer(RoundTripRepresenter):
    def represent_text(self, value):
        is_plain = PLAIN.fullmatch(value) and value.lower() not in WORDS
        style = "" if is_plain else "|" if "\n" in value else '"'
        return self.represent_scalar(STRING, value, style=style)

    def represent_other(self, value):
        return self.represent_scalar(STRING, json.dumps(value, allow_nan=False), style="")


Representer.add_representer(str, Representer.represent_text)
for other in (bool, int, float, type(None)):
    Representer.add_representer(other, Representer.represent_other)


def _yaml():
    yaml = YAML(typ="rt")
    yaml.Resolver, yaml.Constructor, yaml.Representer = Resolver, Constructor, Representer
    yaml.preserve_quotes = True
    yaml.width = sys.maxsize
    return yaml


def set_in(node, path, value):
    """Sets the value at a path of keys and adds the mappings that are missing."""
    *parents, last = path
    for depth, key in enumerate(parents):
        if not isinstance(node.get(key), dict):
            _add(node, key, CommentedMap(), value, path[depth + 1 :])
            return
        node = node[key]
    if last in node:
        node[last] = value
    else:
        _add(node, last, value, None, [])


def _add(node, key, added, value, path):
    """Adds an entry at the end. ruamel.yaml keeps comment lines with the entry above them: they have to stay below the new one."""
    below = _take_comments_below(node)
    node[key] = added
    for at, inner in enumerate(path):
        node, key = node[key], inner
        node[key] = value if at + 1 == len(path) else CommentedMap()
    if below:
        node.ca.items.setdefault(key, [None] * 4)[2] = CommentToken("\n" + below, CommentMark(0), None)


def _take_comments_below(node):
    slot, key = 2, None
    while isinstance(node, (CommentedMap, CommentedSeq)) and len(node):
        is_map = isinstance(node, CommentedMap)
        slot, key = (2, next(reversed(node))) if is_map else (0, len(node) - 1)
        child = node[key]
        if not isinstance(child, (CommentedMap, CommentedSeq)) or not len(child):
            break
        node = child
    token = (node.ca.items.get(key) or [None] * 4)[slot] if key is not None else None
    if not isinstance(token, CommentToken):
        return ""
    same_line, _, below = token.value.partition("\n")
    if below:
        node.ca.items[key][slot] = CommentToken(same_line + "\n", token.start_mark, None) if same_line else None
    return below


class ResourceList:
    """The input and output of a function."""

    def __init__(self, text):
        envelope, texts = _split(text)
        self._envelope = _load(envelope)
        if not isinstance(self._envelope, dict) or self._envelope.get("kind") != "ResourceList":
            raise ValueError("expected a ResourceList on stdin")
        inline = self._envelope.pop("items", None) or []
        self._envelope.fa.set_block_style()
        self.items = [_load(text) for text in texts] or list(inline)
        self.function_config = self._envelope.get("functionConfig") or {}
        self.results = []
        # What was read, so that an item that did not change is written as it was.
        self._read = {id(item): (_dump(item), text) for item, text in zip(self.items, texts)}

    def text(self):
        if self.results:
            self._envelope["results"] = self.results
        parts = [_dump(self._envelope), "items:\n" if self.items else "items: []\n"]
        for item in self.items:
            dumped = _dump(item)
            before, text = self._read.get(id(item), (None, dumped))
            lines = (text if dumped == before else dumped).splitlines(keepends=True)
            parts += ["- " + lines[0], *("  " + line if line.strip("\n") else line for line in lines[1:])]
        return "".join(parts)


def _load(text):
    return _yaml().load(text)


def _dump(value):
    stream = io.StringIO()
    _yaml().dump(value, stream)
    return stream.getvalue()


def _split(text):
    """The text without the items, and the text of each item.

    Each item is read and written by itself: a comment in front of its first field would move in front of its dash otherwise, where
    other tools take it for another comment.
    """
    envelope, texts, dash = [], [], None
    lines = iter(text.splitlines(keepends=True))
    for line in lines:
        if line.rstrip() == "items:":
            break
        envelope.append(line)
    for line in lines:
        if dash is None:
            found = re.match(r" *-(?= |$)", line)
            if not found:
                # An empty value, or something else than a list.
                envelope += ["items:\n", line, *lines]
                break
            dash = found.group()
        if re.match(re.escape(dash) + r"( |$)", line):
            texts.append([line[len(dash) + 1 :] or "\n"])
        elif line[0] in " #\n" or not line.strip():
            indent = min(len(dash) + 1, len(line) - len(line.lstrip(" ")))
            texts[-1].append(line[indent:])
        else:
            envelope += [line, *lines]
            break
    return "".join(envelope), ["".join(item) for item in texts]
