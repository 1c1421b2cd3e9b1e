#!/usr/bin/env python3
"""A real Grid Engine on this machine, for tests: a master, and one host that runs jobs.

  cluster.py start FOLDER --from TREE   makes FOLDER, starts it, prints lines for a shell's eval
  cluster.py serve FOLDER --from TREE   the same, and stays; FOLDER/cluster.json is there once it is ready
  cluster.py FOLDER COMMAND             stop, and the faults: see GridEngine.commands
  cluster.py run --from TREE -- PROGRAM ARGUMENT...   one for as long as the program runs

TREE is where unpack.sh has put Debian's packages. Wants root. It ends with its owner, as ../supervisor.py says.
"""
import argparse
import os
import re
import shutil
import signal
import socket
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from supervisor import Supervisor, command_line, free_ports, listens, place, refuse, wait_until, write  # noqa: E402

PROGRAMS = "/usr/lib/gridengine"  # is compiled into them
HOST = "localhost"

EXECUTION_HOST = f"""hostname {HOST}
load_scaling NONE
complex_values NONE
user_lists NONE
xuser_lists NONE
projects NONE
xprojects NONE
usage_scaling NONE
report_variables NONE
"""


def changed(text, settings):
    """Lines of a name and a value."""
    for name, value in settings.items():
        text, count = re.subn(rf"(?m)^{name}\s.*$", lambda _, line=f"{name} {value}": line, text)
        assert count == 1, name
    return text


class GridEngine(Supervisor):
    def __init__(self, plan):
        super().__init__(plan, ("SGE_", "JOB_", "QUEUE"))
        master, execution = free_ports(2)
        plan["ports"] = {"master": master, "execution": execution}
        self.tree = plan["tree"]
        self.environment |= {"SGE_ROOT": f"{self.folder}/root", "SGE_CELL": "default", "SGE_CLUSTER_NAME": "test",
                             "SGE_QMASTER_PORT": str(master), "SGE_EXECD_PORT": str(execution),
                             "PATH": f"{self.tree}{PROGRAMS}:{self.environment['PATH']}"}
        self.for_clients = ("SGE_ROOT", "SGE_CELL", "SGE_CLUSTER_NAME", "SGE_QMASTER_PORT", "SGE_EXECD_PORT", "PATH")
        self.commands = {
            "stop-master": lambda: self.end("sge_qmaster", signal.SIGTERM),
            "kill-master": lambda: self.end("sge_qmaster", signal.SIGKILL),
            "start-master": self.start_master,
            "pause-master": lambda: self.master().send_signal(signal.SIGSTOP),
            "continue-master": lambda: self.master().send_signal(signal.SIGCONT),
            "crash-host": lambda: self.end("sge_execd", signal.SIGKILL),  # jobs are gone, too
        }

    def there(self, *argv):
        """An argument vector whose program finds itself in PROGRAMS."""
        return ["unshare", "--mount", "sh", "-c", 'mount -t overlay overlay -o "lowerdir=$0/usr/lib:/usr/lib" /usr/lib && exec "$@"',
                self.tree, *argv]

    def master(self):
        self.alive("sge_qmaster")
        return self.processes["sge_qmaster"]

    def must(self, *argv):
        code, text = self.call(*argv)
        if code:
            raise RuntimeError(f"{' '.join(argv)}: {text}")
        return text

    def settings(self, name):
        with open(f"{self.tree}/usr/share/gridengine/{name}") as file:
            return file.read()

    def prepare(self):
        folder, common = self.folder, f"{self.folder}/root/default/common"
        for name in (common, f"{folder}/qmaster/job_scripts", f"{folder}/execd"):
            os.makedirs(name)
        shutil.copytree(f"{self.tree}/usr/share/gridengine/util", f"{folder}/root/util")
        write(f"{common}/bootstrap", changed(self.settings("default-bootstrap"), {
            "admin_user": "none", "spooling_method": "classic", "spooling_lib": "libspoolc",
            "spooling_params": f"{common};{folder}/qmaster", "binary_path": PROGRAMS,
            "qmaster_spool_dir": f"{folder}/qmaster"}))
        write(f"{common}/act_qmaster", f"{HOST}\n")
        write(f"{common}/host_aliases", f"{HOST} {socket.gethostname()}\n")
        write(f"{folder}/configuration", changed(self.settings("default-configuration"), {
            "execd_spool_dir": f"{folder}/execd", "mailer": "/bin/true", "min_uid": "0", "min_gid": "0",
            "load_report_time": "00:00:01", "max_unheard": "00:00:05", "loglevel": "log_info",
            "reporting_params": "accounting=true reporting=false flush_time=00:00:01 joblog=false sharelog=00:00:00"}))
        # The programs of Debian are found beneath PROGRAMS alone.
        spool, defaults = f"{PROGRAMS}/spoolinit", f"{PROGRAMS}/spooldefaults"
        resources = f"{self.tree}/usr/share/gridengine/util/resources"
        self.must(*self.there("sh", "-ec", f"""{spool} classic libspoolc "{common};{folder}/qmaster" init
            {defaults} configuration {folder}/configuration
            {defaults} complexes {resources}/centry
            {defaults} usersets {resources}/usersets
            {defaults} managers root"""))

    def start_master(self):
        self.environment["SGE_ND"] = "1"  # in the foreground
        self.spawn("sge_qmaster", self.there(f"{PROGRAMS}/sge_qmaster"))
        wait_until(lambda: self.alive("sge_qmaster") and listens(self.plan["ports"]["master"])
                   and self.call("qconf", "-sh")[0] == 0, "sge_qmaster")

    def start_host(self):
        # With processes of its own: jobs end with it.
        self.spawn("sge_execd", ["unshare", "--pid", "--mount-proc", "--fork", "--kill-child",
                                 *self.there("sh", "-c", '"$0" & wait', f"{PROGRAMS}/sge_execd")])
        wait_until(lambda: self.alive("sge_execd") and listens(self.plan["ports"]["execution"]), "sge_execd")

    def start(self):
        self.prepare()
        self.start_master()
        write(f"{self.folder}/host", EXECUTION_HOST)
        self.must("qconf", "-Ae", f"{self.folder}/host")
        self.must("qconf", "-as", HOST)
        write(f"{self.folder}/scheduler", changed(self.must("qconf", "-ssconf"), {
            "schedule_interval": "0:0:1", "flush_submit_sec": "1", "flush_finish_sec": "1", "load_formula": "slots"}))
        self.must("qconf", "-Msconf", f"{self.folder}/scheduler")
        write(f"{self.folder}/environment", "pe_name smp\nslots 999\nuser_lists NONE\nxuser_lists NONE\n"
              "start_proc_args NONE\nstop_proc_args NONE\nallocation_rule $pe_slots\ncontrol_slaves FALSE\n"
              "job_is_first_task TRUE\nurgency_slots min\naccounting_summary FALSE\nqsort_args NONE\n")
        self.must("qconf", "-Ap", f"{self.folder}/environment")
        write(f"{self.folder}/queue", changed(self.must("qconf", "-sq"), {
            "qname": "all.q", "hostlist": HOST, "slots": str(self.plan["slots"]), "load_thresholds": "NONE",
            "pe_list": "smp", "shell": "/bin/bash", "shell_start_mode": "unix_behavior", "notify": "00:00:02",
            "rerun": "TRUE"}))
        self.must("qconf", "-Aq", f"{self.folder}/queue")
        self.start_host()
        wait_until(lambda: re.search(r"all\.q@\S+\s+\S+\s+0/0/\d+\s+[0-9.]+\s+\S+\s*$", self.call("qstat", "-f")[1], re.M),
                   "a queue that takes jobs")


def plan_of(arguments, folder):
    refuse((), "")
    tree = os.path.abspath(arguments.tree)
    return {"folder": place(folder), "keep": arguments.keep, "tree": tree, "slots": arguments.slots}


def options(parser):
    parser.add_argument("--from", dest="tree", required=True, metavar="TREE")
    parser.add_argument("--slots", type=int, default=4, help="jobs at once")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    return command_line(GridEngine, plan_of, parser, options)


if __name__ == "__main__":
    sys.exit(main())
