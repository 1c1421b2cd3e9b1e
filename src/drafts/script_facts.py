# Says in JSON what a script imports, takes as arguments and prints. Executes nothing of it. Python 3.8 or newer.
import ast, json, os, re, sys
from importlib import metadata

script, folder = sys.argv[1:3]

def stop(problem):
    print(json.dumps({"problem": problem}))
    sys.exit()

def parse(path):
    with open(path, "rb") as file:
        return ast.parse(file.read(), path)

def module_file(name):
    for path in (name + ".py", os.path.join(name, "__init__.py")):
        if os.path.isfile(os.path.join(folder, path)):
            return os.path.join(folder, path)

def imports_of(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for one in node.names:
                yield one.name.split(".")[0]
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            yield node.module.split(".")[0]

def is_standard(name):
    names = getattr(sys, "stdlib_module_names", None)
    if names is not None:
        return name in names
    place = os.path.join(os.path.dirname(os.__file__), name)
    return name in sys.builtin_module_names or os.path.exists(place) or os.path.exists(place + ".py")

def distributions():
    found = {}
    for one in metadata.distributions():
        top = (one.read_text("top_level.txt") or "").split()
        files = [] if top else [str(file) for file in one.files or []]
        top += [file.split("/")[0] for file in files if file.endswith("/__init__.py")]
        top += [file[:-3] for file in files if file.endswith(".py") and "/" not in file]
        for name in top:
            found.setdefault(name, (one.metadata["Name"], one.version))
    return found

def plain(name):
    return re.sub(r"[-_.]+", "-", name).lower()

def wanted():
    lines = []
    path = os.path.join(folder, "requirements.txt")
    if os.path.isfile(path):
        with open(path, encoding="utf-8", errors="replace") as file:
            lines = [(line, "requirements.txt") for line in file]
    path = os.path.join(folder, "pyproject.toml")
    if not lines and os.path.isfile(path):
        try:
            import tomllib
            with open(path, "rb") as file:
                project = tomllib.load(file).get("project", {})
            lines = [(line, "pyproject.toml") for line in project.get("dependencies", [])]
        except Exception:
            pass
    found = {}
    for line, origin in lines:
        text = line.split("#")[0].split(";")[0].strip().replace(" ", "")
        match = re.fullmatch(r"([A-Za-z0-9][A-Za-z0-9._-]*)(\[[^\]]*\])?([<>=!~][^@]*)?", text)
        if match:
            found[plain(match.group(1))] = (text, origin, bool(match.group(3)))
    return found

def constant(node):
    try:
        value = ast.literal_eval(node)
    except Exception:
        return None
    return value if isinstance(value, (bool, int, float, str)) else None

def argument(call):
    names = [one.value for one in call.args if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    given = {one.arg: one.value for one in call.keywords if one.arg}
    kind = given.get("type")
    choices = given.get("choices")
    try:
        choices = list(ast.literal_eval(choices)) if choices is not None else []
    except Exception:
        choices = []
    return {
        "names": names,
        "type": kind.id if isinstance(kind, ast.Name) else "",
        "default": constant(given["default"]) if "default" in given else None,
        "choices": [one for one in choices if isinstance(one, str)],
        "help": constant(given["help"]) if isinstance(constant(given.get("help")), str) else "",
        "plain": "action" not in given and "nargs" not in given,
    }

def printed_by(tree):
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"):
            continue
        for one in node.args:
            if not isinstance(one, ast.JoinedStr):
                continue
            for before, value in zip(one.values, one.values[1:]):
                if isinstance(before, ast.Constant) and isinstance(value, ast.FormattedValue):
                    match = re.search(r"([A-Za-z_][A-Za-z0-9_]*)\s*[:= ]\s*$", str(before.value))
                    if match:
                        yield match.group(1)

try:
    tree = parse(script)
except SyntaxError as error:
    stop("line %s: %s" % (error.lineno, error.msg))
except ValueError as error:
    stop(str(error))
names, waiting, seen = set(), [tree], set()
while waiting:
    for name in imports_of(waiting.pop()):
        file = module_file(name)
        if file is None:
            names.add(name)
        elif file not in seen:
            seen.add(file)
            try:
                waiting.append(parse(file))
            except (SyntaxError, ValueError) as error:
                stop("%s: %s" % (os.path.basename(file), error))
known, asked = distributions(), wanted()
requirements, unpinned, unknown = [], [], []
for name in sorted(names):
    if is_standard(name):
        continue
    package, version = known.get(name, (None, None))
    found = asked.get(plain(package or name))
    if name == "pysabath":
        unknown.append(name)
    elif found and found[2]:
        requirements.append([found[0], found[1]])
    elif package:
        requirements.append(["%s==%s" % (package, version), "the active environment"])
    elif found:
        unpinned.append(found[0])
    else:
        unknown.append(name)
calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)
         and isinstance(node.func, ast.Attribute) and node.func.attr == "add_argument"]
print(json.dumps({
    "requirements": requirements, "unpinned": unpinned, "unknown": unknown,
    "arguments": [one for one in map(argument, calls) if one["names"]],
    "printed": sorted(set(printed_by(tree)))}))
