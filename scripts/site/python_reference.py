# SPDX-License-Identifier: BSD-3-Clause
"""The reference of the Python package from its source: signatures and docstrings, without importing it."""
import ast
import html
import inspect
import re

SECTIONS = ("Parameters", "Returns", "Yields", "Raises", "Attributes", "Notes", "Examples", "See Also", "Warns")
MODULES = (("plot", "plot.py"), ("compat.gpu_specter", "compat/gpu_specter.py"),
           ("compat.specter", "compat/specter.py"))


def signature(node, name, skip_self=False):
    """name(arguments) -> result, a line an argument where it is long."""
    arguments = ast.unparse(node.args)
    if skip_self:
        arguments = re.sub(r"^(self|cls)(, )?", "", arguments)
    result = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    line = f"{name}({arguments}){result}"
    if len(line) <= 100:
        return line
    spread = re.split(r", (?![^\[\](){}]*[\])}])", arguments)
    return f"{name}(\n    " + ",\n    ".join(spread) + f"\n){result}"


def inline(text):
    """`code` and ``code``."""
    return re.sub(r"``?([^`]+)``?", r"<code>\1</code>", html.escape(text, quote=False))


def paragraphs(lines):
    """Text; what is indented or begins with >>> is code, what is 'name : type' over indented text is a definition."""
    parts, block = [], []

    def end():
        if not block:
            return
        text = inspect.cleandoc("\n".join(block))
        first = block[0]
        if first.startswith((" ", ">>>")):
            parts.append(f"<pre><code>{html.escape(text, quote=False)}</code></pre>")
        elif re.match(r"[-*] ", first):
            items = re.split(r"^[-*] ", text, flags=re.M)[1:]
            parts.append("<ul>" + "".join(f"<li>{inline(item)}</li>" for item in items) + "</ul>")
        else:
            parts.append(f"<p>{inline(text)}</p>")
        block.clear()
    for line in lines:
        starts_code = line.startswith((" ", ">>>"))
        if not line.strip():
            end()
        else:
            if block and starts_code != block[0].startswith((" ", ">>>")) and not block[0].startswith(">>>"):
                end()
            block.append(line)
    end()
    return "\n".join(parts)


def definitions(lines):
    """numpydoc's lists: a name and its type, then indented text."""
    items = []
    for line in lines:
        if line.strip() and not line.startswith(" "):
            items.append([line, []])
        elif items:
            items[-1][1].append(line[4:])
    told = "".join(f"<dt><code>{html.escape(name, quote=False)}</code></dt><dd>{paragraphs(text)}</dd>"
                   for name, text in items)
    return f"<dl>{told}</dl>"


def docstring(text):
    """HTML of a docstring, with numpydoc's sections where it has them."""
    lines, parts, section, block = inspect.cleandoc(text or "").split("\n"), [], "", []

    def end():
        if section:
            parts.append(f"<h4>{section}</h4>")
        if "".join(block).strip():
            as_list = section in ("Parameters", "Returns", "Yields", "Raises", "Attributes", "Warns")
            parts.append(definitions(block) if as_list else paragraphs(block))
        block.clear()
    at = 0
    while at < len(lines):
        underlined = at + 1 < len(lines) and re.fullmatch(r"-{3,}", lines[at + 1].strip())
        if lines[at].strip() in SECTIONS and underlined:
            end()
            section, at = lines[at].strip(), at + 2
            continue
        block.append(lines[at])
        at += 1
    end()
    return "\n".join(parts)


def function_entry(node, prefix, level=3):
    name = f"{prefix}{node.name}"
    text = html.escape(signature(node, node.name, skip_self=level > 3), quote=False)
    is_property = any(isinstance(d, ast.Name) and d.id in ("property", "cached_property") for d in node.decorator_list)
    shown = node.name + (f": {ast.unparse(node.returns)}" if node.returns else "") if is_property else None
    return (f'<h{level} id="{name}">{name}</h{level}>\n<pre class="signature"><code>'
            f"{html.escape(shown, quote=False) if shown else text}</code></pre>\n{docstring(ast.get_docstring(node))}")


def class_entry(node, prefix):
    name = f"{prefix}{node.name}"
    parts = [f'<h3 id="{name}">{name}</h3>\n{docstring(ast.get_docstring(node))}']
    fields = [n for n in node.body if isinstance(n, ast.AnnAssign) and not ast.unparse(n.target).startswith("_")]
    if fields:
        text = "\n".join(ast.unparse(field) for field in fields)
        parts.append(f'<pre class="signature"><code>{html.escape(text, quote=False)}</code></pre>')
    for member in node.body:
        if isinstance(member, ast.FunctionDef) and (not member.name.startswith("_") or member.name == "__init__"):
            if member.name == "__init__" and not ast.get_docstring(member):
                continue
            if not any(isinstance(d, ast.Attribute) and d.attr == "setter" for d in member.decorator_list):
                parts.append(function_entry(member, name + ".", 4))
    return "\n".join(parts)


def entry(node, name, prefix):
    if isinstance(node, ast.Assign):
        return (f'<h3 id="{prefix}{name}">{prefix}{name}</h3>\n'
                f'<p>Another name of <a href="#{prefix}{node.value.id}">{prefix}{node.value.id}</a>.</p>')
    return class_entry(node, prefix) if isinstance(node, ast.ClassDef) else function_entry(node, prefix)


def entries(tree, names, prefix):
    """The entries of these names, in the order in which they are wanted."""
    found = {node.name: node for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    found |= {node.targets[0].id: node for node in tree.body if isinstance(node, ast.Assign)
              and isinstance(node.targets[0], ast.Name) and isinstance(node.value, ast.Name)}
    return [entry(found[name], name, prefix) for name in names if name in found]


def home_of_names(tree):
    """name -> file of what `import fiberloom` offers."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "_HOME":
            return ast.literal_eval(node.value)
    raise ValueError("python/fiberloom/__init__.py: no _HOME")


def reference(folder):
    """The body of the page."""
    package = ast.parse((folder / "__init__.py").read_text(encoding="utf-8"))
    homes = home_of_names(package)
    parts = ["<h1>Python: reference</h1>", docstring(ast.get_docstring(package)),
             '<p>A guide with examples: <a href="python.html">Python</a>.</p>', '<h2 id="package">fiberloom</h2>']
    for file in dict.fromkeys(homes.values()):
        source = folder / f"{file}.py"
        if not source.is_file():  # compiled: its stub says what is in it
            source = folder / f"{file}.pyi"
        tree = ast.parse(source.read_text(encoding="utf-8"))
        parts += entries(tree, [name for name, home in homes.items() if home == file], "fiberloom.")
    for module, path in MODULES:
        if not (folder / path).is_file():
            continue
        tree = ast.parse((folder / path).read_text(encoding="utf-8"))
        names = [node.name for node in tree.body
                 if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("_")]
        parts += [f'<h2 id="fiberloom.{module}">fiberloom.{module}</h2>', docstring(ast.get_docstring(tree)),
                  *entries(tree, names, f"fiberloom.{module}.")]
    return "\n".join(parts)
