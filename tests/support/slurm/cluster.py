#!/usr/bin/env python3
"""A real Slurm cluster on this machine, for tests.

  cluster.py start FOLDER [options]   makes FOLDER, starts what is asked for, prints lines for a shell's eval
  cluster.py serve FOLDER [options]   the same, and stays; FOLDER/cluster.json is there once it is ready
  cluster.py FOLDER COMMAND [NODE]    stop, and the faults: see Supervisor.commands
  cluster.py run [options] -- PROGRAM ARGUMENT...   a cluster for as long as the program runs

FOLDER/cluster.json says what a client needs. Each node has a host name, processes, control groups and a scratch folder of
its own (name spaces, so this wants root); what is killed there is gone as if the machine had lost power. Everything is a
child of one supervisor, and goes with it and with its owner: the process that is named with --owner, by default the one
that called.
"""
import argparse
import glob
import os
import signal
import socket
import stat
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from supervisor import (Failure, Supervisor, children_of, command_line, free_ports, listens, place, refuse, wait_until,  # noqa: E402
                        write)

SELF = os.path.abspath(__file__)
CGROUPS = "/sys/fs/cgroup"
CONTROLLERS = ("memory", "cpuset", "freezer", "cpuacct", "devices")
GROUP = "sabath-slurm-"
DATABASE = "slurm_acct_db"
PROGRAMS = ("slurmctld", "slurmd", "sbatch", "munged")
ACCOUNTING_PROGRAMS = ("slurmdbd", "mariadbd", "mariadb-install-db", "my_print_defaults", "sacctmgr")


# --- Files of settings -------------------------------------------------------------------------------------------------

def has_control_groups():
    """Version 1, as far as Slurm 22.05 needs it to limit memory and to find a job's processes."""
    return all(os.access(f"{CGROUPS}/{name}/cgroup.procs", os.W_OK) for name in CONTROLLERS)


def slurm_conf(plan):
    settings = {
        "ClusterName": plan["cluster"],
        "SlurmctldHost": f"{socket.gethostname().split('.')[0]}(127.0.0.1)",
        "SlurmctldPort": plan["ports"]["controller"],
        "AuthType": "auth/munge",
        "AuthInfo": f"socket={plan['folder']}/munge/socket,cred_expire=5",  # a requeued job waits so long, by default 120 s
        "SlurmUser": "root",
        "SlurmdUser": "root",
        "StateSaveLocation": f"{plan['folder']}/state",
        "SlurmdSpoolDir": f"{plan['folder']}/spool/%n",
        "SlurmctldPidFile": f"{plan['folder']}/slurmctld.pid",
        "SlurmdPidFile": f"{plan['folder']}/slurmd-%n.pid",
        "SlurmctldLogFile": f"{plan['folder']}/log/slurmctld.log",
        "SlurmdLogFile": f"{plan['folder']}/log/slurmd-%n.log",
        "SlurmctldDebug": "info",
        "SlurmdDebug": "info",
        "ProctrackType": "proctrack/cgroup" if plan["control_groups"] else "proctrack/linuxproc",
        "TaskPlugin": "task/cgroup,task/affinity" if plan["control_groups"] else "task/none",
        "JobAcctGatherType": "jobacct_gather/linux",
        "JobAcctGatherFrequency": "task=1",
        "JobCompType": "jobcomp/none",
        "SelectType": "select/cons_tres",
        "SelectTypeParameters": "CR_CPU_Memory",
        "DefMemPerCPU": 100,
        "PreemptType": "preempt/partition_prio",
        "PreemptMode": "REQUEUE",
        "JobRequeue": 1,
        "RequeueExit": 142,
        "RequeueExitHold": 143,
        "MpiDefault": "none",
        "ReturnToService": 1,
        "SchedulerParameters": "sched_interval=1,sched_min_interval=200000,bf_interval=1,"
                               "batch_sched_delay=0,defer_batch=0,default_queue_depth=2000",
        "PriorityType": "priority/basic",
        "MaxJobCount": 20000,
        "MaxArraySize": 2001,
        "MinJobAge": 300,
        "KillWait": 2,
        "InactiveLimit": 0,
        "OverTimeLimit": 0,
        "SlurmdTimeout": 5,
        "SlurmctldTimeout": 5,
        "MessageTimeout": 5,
        "BatchStartTimeout": 5,
        "CompleteWait": 0,
        "UnkillableStepTimeout": 20,
    }
    if plan["accounting"]:
        settings |= {
            "AccountingStorageType": "accounting_storage/slurmdbd",
            "AccountingStorageHost": "127.0.0.1",
            "AccountingStoragePort": plan["ports"]["accounting"],
            "AccountingStoragePass": f"{plan['folder']}/munge/socket",  # for slurmdbd that is where munge is
            "AccountingStoreFlags": "job_comment",
            "AccountingStorageEnforce": "associations,limits,qos",
        }
    else:
        settings["AccountingStorageType"] = "accounting_storage/none"
    settings |= dict(item.split("=", 1) for item in plan["set"])
    if plan["gpus"]:
        settings["GresTypes"] = "gpu"
    lines = [f"{name}={value}" for name, value in settings.items()]
    lines += [f"NodeName={node['name']} NodeAddr=127.0.0.1 Port={node['port']} CPUs={plan['cpus']} "
              f"RealMemory={plan['memory']} State=UNKNOWN" + (f" Gres=gpu:{plan['gpus']}" if plan["gpus"] else "")
              for node in plan["nodes"]]
    common = "Nodes=ALL MaxTime=INFINITE DefaultTime=10 State=UP OverSubscribe=NO"
    lines += [f"PartitionName=debug Default=YES PriorityTier=10 {common}",
              f"PartitionName=low PriorityTier=1 PreemptMode=REQUEUE {common}",
              f"PartitionName=urgent PriorityTier=100 PreemptMode=OFF {common}",
              f"PartitionName=short PriorityTier=10 {common.replace('INFINITE', '1').replace('=10', '=1')}"]
    return "\n".join(lines) + "\n"


def slurmdbd_conf(plan):
    folder = plan["folder"]
    return f"""AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
DbdHost={socket.gethostname().split('.')[0]}
DbdAddr=127.0.0.1
DbdPort={plan['ports']['accounting']}
SlurmUser=root
LogFile={folder}/log/slurmdbd.log
PidFile={folder}/slurmdbd.pid
StorageType=accounting_storage/mysql
StorageHost=localhost
StoragePort=0
StorageUser=root
StorageLoc={DATABASE}
"""


CGROUP_CONF = """CgroupPlugin=cgroup/v1
CgroupMountpoint=/sys/fs/cgroup
CgroupAutomount=no
ConstrainRAMSpace=yes
ConstrainSwapSpace=no
ConstrainCores=no
AllowedRAMSpace=100
MinRAMSpace=20
"""


# --- Inside a node -----------------------------------------------------------------------------------------------------

def be_node(folder, name, log):
    """The first process of a node: prepares its name spaces, then starts slurmd whenever a line asks for it."""
    def must(*argv):
        subprocess.run(argv, check=True, stdin=subprocess.DEVNULL)

    socket.sethostname(name)
    must("mount", "--make-rprivate", "/")
    must("mount", "-t", "proc", "proc", "/proc")
    must("mount", "--bind", f"{folder}/hosts", "/etc/hosts")
    must("mount", "--bind", f"{folder}/local/{name}", f"{folder}/scratch")
    if os.path.exists(f"{folder}/cgroup.conf"):
        must("mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", CGROUPS)
        for controller in CONTROLLERS:
            os.mkdir(f"{CGROUPS}/{controller}")
            must("mount", "-t", "cgroup", "-o", controller, "cgroup", f"{CGROUPS}/{controller}")

    def reap(*_):
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            pass

    signal.signal(signal.SIGCHLD, reap)
    print("ready", flush=True)
    while sys.stdin.readline():
        with open(log, "a") as output:
            subprocess.Popen(["slurmd", "-D", "-N", name], stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                             start_new_session=True)


# --- The supervisor ----------------------------------------------------------------------------------------------------

class Slurm(Supervisor):
    def __init__(self, plan):
        super().__init__(plan, ("SLURM", "SBATCH", "SRUN", "SALLOC", "SQUEUE", "SACCT"))
        self.for_clients = ("SLURM_CONF",)
        plan["scratch"] = f"{self.folder}/scratch"
        ports = free_ports(2 + plan["node_count"])
        plan["ports"] = dict(zip(("controller", "accounting"), ports))
        plan["nodes"] = [{"name": f"n{i + 1}", "port": port} for i, port in enumerate(ports[2:])]
        self.environment["SLURM_CONF"] = f"{self.folder}/slurm.conf"
        self.group = f"{GROUP}{os.getpid()}"
        self.commands = {
            "stop-controller": lambda: self.end("slurmctld", signal.SIGTERM),
            "kill-controller": lambda: self.end("slurmctld", signal.SIGKILL),
            "start-controller": self.start_controller,
            "pause-controller": lambda: self.processes["slurmctld"].send_signal(signal.SIGSTOP),
            "continue-controller": lambda: self.processes["slurmctld"].send_signal(signal.SIGCONT),
            "stop-accounting": lambda: self.end("slurmdbd", signal.SIGTERM),
            "start-accounting": self.start_accounting,
            "kill-slurmd": self.kill_slurmd,      # kill -9 of slurmd alone: what runs there goes on
            "start-slurmd": self.start_slurmd,
            "crash-node": self.crash_node,        # everything on the node is gone at once
            "boot-node": self.boot_node,
            "down-node": lambda node: self.scontrol("update", f"nodename={node}", "state=down", "reason=test"),
            "resume-node": lambda node: self.scontrol("update", f"nodename={node}", "state=resume"),
        }

    # Processes

    def scontrol(self, *arguments):
        code, text = self.call("scontrol", *arguments)
        if code:
            raise Failure(f"scontrol {' '.join(arguments)}: {text}")

    # Starting

    def start_munge(self):
        folder = f"{self.folder}/munge"
        os.mkdir(folder, 0o755)
        with open(os.open(f"{folder}/key", os.O_WRONLY | os.O_CREAT, 0o600), "wb") as key:
            key.write(os.urandom(128))
        # Forced: it minds that folders above, such as /tmp, are not root's alone.
        self.spawn("munged", ["munged", "--foreground", "--force", f"--socket={folder}/socket", f"--key-file={folder}/key",
                              f"--pid-file={folder}/pid", f"--seed-file={folder}/seed", f"--log-file={folder}/log",
                              "--num-threads=10"])

    def start_database(self):
        data, log = f"{self.folder}/database", f"{self.folder}/log/mariadb-install.out"
        with open(log, "w") as output:
            subprocess.run(["mariadb-install-db", "--no-defaults", f"--datadir={data}", "--user=root", "--skip-test-db",
                            "--auth-root-authentication-method=normal", "--skip-name-resolve", "--skip-log-bin",
                            "--innodb-log-file-size=8M", "--innodb-flush-method=nosync"],
                           stdout=output, stderr=output, env=self.environment, check=True)
        self.spawn("mariadbd", ["mariadbd", "--no-defaults", f"--datadir={data}", "--user=root", "--skip-networking",
                                f"--socket={self.folder}/database.socket", f"--pid-file={self.folder}/mariadbd.pid",
                                "--innodb-flush-log-at-trx-commit=0", "--innodb-flush-method=nosync",
                                "--innodb-lock-wait-timeout=900", "--innodb-buffer-pool-size=64M",
                                "--innodb-log-file-size=8M", "--skip-log-bin", "--skip-name-resolve"])
        wait_until(lambda: self.alive("mariadbd") and os.path.exists(f"{self.folder}/database.socket"), "mariadbd")

    def start_accounting(self):
        self.environment["MYSQL_UNIX_PORT"] = f"{self.folder}/database.socket"
        self.spawn("slurmdbd", ["slurmdbd", "-D"])
        wait_until(lambda: self.alive("slurmdbd") and listens(self.plan["ports"]["accounting"]), "slurmdbd")

    def register(self):
        for what in (["cluster", self.plan["cluster"]],
                     ["account", "science", f"Cluster={self.plan['cluster']}", "Description=tests", "Organization=tests"],
                     ["user", "root", "Account=science", "AdminLevel=Admin"]):
            code, text = self.call("sacctmgr", "-i", "add", *what)
            if code:
                raise Failure(f"sacctmgr add {' '.join(what)}: {text}")

    def start_controller(self):
        if "slurmctld" in self.processes:
            raise Failure("slurmctld runs")
        self.spawn("slurmctld", ["slurmctld", "-D"])
        wait_until(lambda: self.alive("slurmctld") and self.call("scontrol", "ping")[0] == 0, "slurmctld")

    def boot_node(self, node):
        if node in self.processes:
            raise Failure(f"{node} runs")
        before = []
        if self.plan["control_groups"]:
            for controller in CONTROLLERS:
                path = f"{CGROUPS}/{controller}/{self.group}/{node}"
                for folder in (os.path.dirname(path), path):
                    os.makedirs(folder, exist_ok=True)
                    if controller == "cpuset":
                        for item in ("cpus", "mems"):
                            with open(f"{os.path.dirname(folder)}/cpuset.{item}") as source:
                                write(f"{folder}/cpuset.{item}", source.read())
                before.append(path)
        enter = "".join(f"echo $$ >'{path}/cgroup.procs' && " for path in before)
        unshare = ["unshare", "--uts", "--pid", "--mount", "--fork", "--kill-child"] + (["--cgroup"] if before else [])
        process = self.spawn(node, ["sh", "-c", enter + 'exec "$@"', "sh", *unshare, sys.executable, SELF, "node",
                                    self.folder, node, f"{self.folder}/log/slurmd-{node}.out"],
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        if process.stdout.readline() != "ready\n":
            raise Failure(f"node {node}: {self.said(node)}")
        self.start_slurmd(node)

    def init_of(self, node):
        process = self.processes.get(node)
        first = children_of(process.pid) if process is not None else []
        if not first:
            raise Failure(f"{node} does not run")
        return first[0][0]

    def slurmd_of(self, node):
        return [pid for pid, name in children_of(self.init_of(node)) if name == "slurmd"]

    def start_slurmd(self, node):
        if self.slurmd_of(node):
            raise Failure(f"slurmd of {node} runs")
        self.processes[node].stdin.write("start\n")
        self.processes[node].stdin.flush()

    def kill_slurmd(self, node):
        for pid in self.slurmd_of(node):
            os.kill(pid, signal.SIGKILL)
        wait_until(lambda: not self.slurmd_of(node), f"the end of slurmd of {node}")

    def crash_node(self, node):
        os.kill(self.init_of(node), signal.SIGKILL)
        self.processes.pop(node).wait()

    def start(self):
        self.start_munge()
        for node in self.plan["nodes"]:
            os.makedirs(f"{self.folder}/spool/{node['name']}")
            os.makedirs(f"{self.folder}/local/{node['name']}")
        for name in ("state", "scratch"):
            os.mkdir(f"{self.folder}/{name}")
        with open("/etc/hosts") as file:
            names = " ".join(node["name"] for node in self.plan["nodes"])
            write(f"{self.folder}/hosts", file.read() + f"\n127.0.0.1 {names}\n")
        write(f"{self.folder}/slurm.conf", slurm_conf(self.plan))
        if self.plan["control_groups"]:
            write(f"{self.folder}/cgroup.conf", CGROUP_CONF)
        if self.plan["gpus"]:
            for i in range(self.plan["gpus"]):
                # 240 is for local use; nothing opens it.
                os.mknod(f"{self.folder}/gpu{i}", 0o600 | stat.S_IFCHR, os.makedev(240, i))
            write(f"{self.folder}/gres.conf", f"Name=gpu File={self.folder}/gpu[0-{self.plan['gpus'] - 1}]\n")
        wait_until(lambda: self.alive("munged") and os.path.exists(f"{self.folder}/munge/socket"), "munged")
        if self.plan["accounting"]:
            write(f"{self.folder}/slurmdbd.conf", slurmdbd_conf(self.plan), 0o600)
            self.start_database()
            self.start_accounting()
            self.register()
        for node in self.plan["nodes"]:
            self.boot_node(node["name"])
        self.start_controller()
        self.wait_for_nodes()

    def wait_for_nodes(self):
        def all_idle():
            states = self.call("sinfo", "-h", "-N", "-p", "debug", "-o", "%t")[1].split()
            return states == ["idle"] * len(self.plan["nodes"])
        wait_until(all_idle, "nodes that are idle")

    def clean(self):
        """Those of this process, and of supervisors that were killed."""
        for controller in CONTROLLERS:
            for top in glob.glob(f"{CGROUPS}/{controller}/{GROUP}*"):
                pid = top.rsplit("-", 1)[1]
                if pid != str(os.getpid()) and os.path.exists(f"/proc/{pid}"):
                    continue
                for folder, _, _ in os.walk(top, topdown=False):
                    for _ in range(50):  # the kernel may still be at its processes
                        try:
                            os.rmdir(folder)
                            break
                        except FileNotFoundError:
                            break
                        except OSError:
                            time.sleep(0.02)


def plan_of(arguments, folder):
    refuse(PROGRAMS + (ACCOUNTING_PROGRAMS if arguments.accounting else ()), os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
    return {"folder": place(folder), "cluster": arguments.cluster, "accounting": arguments.accounting, "keep": arguments.keep,
            "cpus": arguments.cpus, "memory": arguments.memory, "gpus": arguments.gpus, "set": arguments.set,
            "node_count": arguments.nodes, "control_groups": not arguments.no_control_groups and has_control_groups()}


def options(parser):
    parser.add_argument("--nodes", type=int, default=4)
    parser.add_argument("--cpus", type=int, default=2, help="of a node")
    parser.add_argument("--memory", type=int, default=2000, help="of a node, in MiB")
    parser.add_argument("--gpus", type=int, default=0, help="of a node; they are only counted and named to jobs")
    parser.add_argument("--accounting", action="store_true", help="slurmdbd with MariaDB: sacct answers")
    parser.add_argument("--no-control-groups", action="store_true")
    parser.add_argument("--cluster", default="test", help="its name")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="of slurm.conf")


def main():
    if sys.argv[1:2] == ["node"]:
        return be_node(*sys.argv[2:])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    return command_line(Slurm, plan_of, parser, options)


if __name__ == "__main__":
    sys.exit(main())
