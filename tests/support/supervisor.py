"""What starts servers of several processes for tests, and sees to it that nothing is left of them.

A supervisor is the parent of them all. It obeys words that come through FOLDER/control, and takes everything down when it is
told so, when its owner ends, and when it fails to start; when it is killed itself, the kernel kills its children.
FOLDER/cluster.json is there once all is ready, and says what a client needs.
"""
import ctypes
import json
import os
import random
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import traceback

PATIENCE_S = 30


class Failure(Exception):
    pass


def free_ports(count):
    """Ports that nobody has, below those that the kernel gives to clients: they must be free again after a restart."""
    found = []
    while len(found) < count:
        port = random.randrange(10000, 32000)
        with socket.socket() as probe:
            try:
                probe.bind(("0.0.0.0", port))
            except OSError:
                continue
        if port not in found:
            found.append(port)
    return found


def write(path, text, mode=0o644):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode), "w") as file:
        file.write(text)


def die_with_parent():
    ctypes.CDLL(None, use_errno=True).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def children_of(parent):
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat") as file:
                    name, rest = file.read().split("(", 1)[1].rsplit(")", 1)
            except OSError:
                continue
            if int(rest.split()[1]) == parent:
                found.append((int(entry), name))
    return found


def wait_until(holds, what, patience=PATIENCE_S):
    end = time.monotonic() + patience
    while not holds():
        if time.monotonic() > end:
            raise Failure(f"{what}: not within {patience} s")
        time.sleep(0.05)


def listens(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


class Supervisor:
    """`plan` has the folder, and whether to keep it. To be derived from: `start`, `commands`, and `environment` for clients."""

    def __init__(self, plan, hidden):
        self.plan = plan
        self.folder = plan["folder"]
        self.processes = {}
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith(hidden)}
        self.environment["PATH"] = self.environment.get("PATH", "") + ":/usr/sbin:/sbin:/usr/bin:/bin"
        self.for_clients = ()  # names of variables
        self.commands = {}

    def start(self):
        raise NotImplementedError

    def clean(self):
        """What else there was, once no process is left."""

    def spawn(self, name, argv, **more):
        output = open(f"{self.folder}/log/{name}.out", "a")
        self.processes[name] = subprocess.Popen(
            argv, stdin=more.pop("stdin", subprocess.DEVNULL), stdout=more.pop("stdout", output), stderr=output,
            env=self.environment, preexec_fn=die_with_parent, **more)
        return self.processes[name]

    def end(self, name, number):
        process = self.processes.pop(name, None)
        if process is None:
            raise Failure(f"{name} does not run")
        process.send_signal(number)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def alive(self, name):
        process = self.processes.get(name)
        if process is None or process.poll() is not None:
            raise Failure(f"{name} ended: {self.said(name)}")
        return True

    def said(self, name):
        text = ""
        for path in (f"{self.folder}/log/{name}.out", f"{self.folder}/log/{name}.log"):
            if os.path.exists(path):
                with open(path, errors="replace") as file:
                    text += file.read()[-2000:]
        return text

    def call(self, *argv, patience=10):
        result = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                env=self.environment, timeout=patience, check=False)
        return result.returncode, result.stdout

    def describe(self, **more):
        document = dict(self.plan, supervisor=os.getpid(), **more,
                        environment={name: self.environment[name] for name in self.for_clients},
                        pids={name: process.pid for name, process in self.processes.items()})
        write(f"{self.folder}/cluster.json.new", json.dumps(document, indent=1) + "\n")
        os.rename(f"{self.folder}/cluster.json.new", f"{self.folder}/cluster.json")

    def begin(self):
        began = time.monotonic()
        ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER: what is left by others comes here
        self.start()
        self.plan["started_in_s"] = round(time.monotonic() - began, 2)
        self.describe()

    def serve(self, owner):
        os.chdir(self.folder)
        listener = socket.socket(socket.AF_UNIX)
        listener.bind("control")
        listener.listen()
        watched = [listener]
        if owner:
            watched.append(os.pidfd_open(owner))
        while True:
            ready, _, _ = select.select(watched, [], [], 1)
            self.reap_others()
            if any(isinstance(item, int) for item in ready):
                return None  # the owner ended
            if not os.path.exists(f"{self.folder}/cluster.json"):
                return None  # somebody removed it all
            if listener in ready:
                connection, _ = listener.accept()
                words = connection.makefile("r").readline().split()
                if words[:1] == ["stop"]:
                    return connection
                with connection:
                    connection.sendall(self.answer(words).encode())

    def reap_others(self):
        own = {process.pid for process in self.processes.values()}
        for pid, _ in children_of(os.getpid()):
            if pid not in own:
                try:
                    os.waitpid(pid, os.WNOHANG)
                except ChildProcessError:
                    pass

    def answer(self, words):
        try:
            if not words or words[0] not in self.commands:
                raise Failure(f"commands: stop {' '.join(self.commands)}")
            self.commands[words[0]](*words[1:])
            self.describe()
            return "ok\n"
        except Exception as error:  # pylint: disable=broad-except
            return f"{type(error).__name__}: {error}\n"

    def close(self):
        """Nothing that this started is there any longer, whatever state it was in."""
        for _ in range(100):
            left = children_of(os.getpid())
            if not left:
                break
            for pid, _ in left:
                for grandchild, _ in children_of(pid):
                    kill(grandchild)  # the first process of a node: with it goes all of the node
                kill(pid)
            for pid, _ in left:
                try:
                    os.waitpid(pid, 0)
                except ChildProcessError:
                    pass
        self.clean()
        if not self.plan["keep"]:
            shutil.rmtree(self.folder, ignore_errors=True)


def kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def port_was_taken(folder):
    for name in os.listdir(f"{folder}/log"):
        with open(f"{folder}/log/{name}", errors="replace") as file:
            if "Address already in use" in file.read():
                return True
    return False


def supervise(make, plan, owner, report):
    """Never returns. `make` a supervisor of the plan. `report` is called with what is wrong, or nothing once the cluster is there."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(0))
    for attempt in range(3):
        shutil.rmtree(plan["folder"], ignore_errors=True)
        os.makedirs(f"{plan['folder']}/log")
        supervisor = make(plan)
        connection = None
        trouble = None
        try:
            supervisor.begin()
            report(None)
            connection = supervisor.serve(owner)
        except Exception as error:  # pylint: disable=broad-except
            trouble = str(error) if isinstance(error, Failure) else traceback.format_exc()
            if attempt < 2 and port_was_taken(plan["folder"]):
                continue
        finally:
            supervisor.close()
        if trouble is not None:
            report(trouble)
        if connection is not None:
            connection.sendall(b"ok\n")
        os._exit(0 if trouble is None else 1)


# --- The caller --------------------------------------------------------------------------------------------------------

def ask(folder, words):
    # A path of a socket has at most 107 bytes.
    descriptor = os.open(folder, os.O_PATH)
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(f"/proc/self/fd/{descriptor}/control")
        connection.sendall((" ".join(words) + "\n").encode())
        return connection.makefile("r").read()


def stop(folder):
    try:
        ask(folder, ["stop"])
    except OSError:
        pass  # it does not run


def die(text, code=1):
    print(f"cluster.py: {text}", file=sys.stderr)
    sys.exit(code)


def launch(make, plan, owner):
    """A supervisor that is nobody's child."""
    reading, writing = os.pipe()
    if os.fork() == 0:
        os.close(reading)
        os.setsid()
        if os.fork():
            os._exit(0)
        nothing = os.open("/dev/null", os.O_RDWR)
        for target in range(3):
            os.dup2(nothing, target)

        def report(trouble):
            os.write(writing, (trouble or "ok").encode())
            os.close(writing)

        supervise(make, plan, owner, report)
    os.close(writing)
    os.wait()
    with os.fdopen(reading) as pipe:
        text = pipe.read()
    if text != "ok":
        die(text or "the supervisor went without a word")


def refuse(programs, path):
    """Ends with status 77 where there is no root, or a program is missing."""
    missing = [program for program in programs if not shutil.which(program, path=path)]
    if missing or os.geteuid():
        die(f"missing: {' '.join(missing)}" if missing else "this wants root", 77)


def place(folder):
    """An absolute path; whatever ran there is ended."""
    folder = os.path.abspath(folder)
    if len(folder) > 75:  # there are sockets beneath it
        die(f"too long a path: {folder}")
    stop(folder)
    return folder


def options(parser):
    parser.add_argument("--owner", type=int, help="with this process it ends; 0: with none")
    parser.add_argument("--keep", action="store_true", help="leave the folder, with its logs")


def command_line(make, plan_of, parser, more_options):
    """`start`, `serve`, `run`, and FOLDER COMMAND, as the users' own documentation has them."""
    mode = sys.argv[1] if sys.argv[1:2] and sys.argv[1] in ("start", "serve", "run") else None
    if mode:
        parser.add_argument(mode)
        options(parser)
        more_options(parser)
        parser.add_argument("folder" if mode != "run" else "program", nargs="+" if mode == "run" else None)
        arguments = parser.parse_args()
        plan = plan_of(arguments, arguments.folder if mode != "run" else tempfile.mkdtemp(prefix="cluster-"))
        owner = arguments.owner if arguments.owner is not None else os.getpid() if mode == "run" else os.getppid()
        if mode == "serve":
            supervise(make, plan, owner, lambda trouble: trouble and print(f"{parser.prog}: {trouble}", file=sys.stderr))
        launch(make, plan, owner)
        with open(f"{plan['folder']}/cluster.json") as file:
            environment = json.load(file)["environment"]
        if mode == "start":
            for name, value in environment.items():
                print(f"export {name}='{value}'")
            return 0
        environment = {**os.environ, **environment, "SABATH_CLUSTER": plan["folder"]}
        code = subprocess.run(arguments.program, env=environment, check=False).returncode
        stop(plan["folder"])
        return code
    parser.add_argument("folder")
    parser.add_argument("command", nargs="+")
    arguments = parser.parse_args()
    if arguments.command == ["stop"]:
        stop(arguments.folder)
        return 0
    try:
        text = ask(arguments.folder, arguments.command)
    except OSError as error:
        die(f"{arguments.folder}: {error}")
    if text != "ok\n":
        die(text.strip())
    return 0
