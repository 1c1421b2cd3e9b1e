#!/usr/bin/env python3
"""globus_stand_in.py PORT SOURCE DESTINATION LOG: as much of Globus Auth and Transfer as globus-cli asks for.

It copies from SOURCE to DESTINATION (both as the root of a collection). What a path contains says what happens: "fails",
"consent", "inactive", "slow" (active until the file SOURCE/go exists), "gone". Each request is a line of JSON in LOG. It is a
stand-in: argument vectors, login, JSON, polling and the mapping of errors can be checked against it, GridFTP and speed not.
"""
import hashlib
import json
import pathlib
import shutil
import sys
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

source, destination, log = (pathlib.Path(text) for text in sys.argv[2:5])
tasks, submissions = {}, {}


def run(body):
    """A task's document, after doing its work."""
    item = body["DATA"][0]
    path = item["source_path"]
    task = {"task_id": str(uuid.uuid4()), "status": "SUCCEEDED", "nice_status": None, "bytes_transferred": 0,
            "label": body.get("label"), "is_paused": False, "type": "TRANSFER",
            "completion_time": None, "request_time": "2026-11-21T10:00:00+00:00", "fatal_error": None, "path": path, "item": item}
    if "fails" in path:
        task.update(status="FAILED", fatal_error={"code": "VERIFY_CHECKSUM", "description": "the checksums differ"})
    elif "gone" in path:
        task.update(status="FAILED", fatal_error={"code": "FILE_NOT_FOUND", "description": "no such file"})
    elif "inactive" in path:
        task.update(status="INACTIVE", nice_status="EXPIRED", nice_status_details="the session has expired")
    elif "slow" in path:
        task.update(status="ACTIVE", nice_status="CONNECT_FAILED", nice_status_details="the endpoint does not answer")
    else:
        copy(task)
    return task


def copy(task):
    item = task["item"]
    origin, end = source / item["source_path"].lstrip("/"), destination / item["destination_path"].lstrip("/")
    if item.get("recursive"):
        shutil.copytree(origin, end, dirs_exist_ok=True)
    else:
        wanted = item.get("external_checksum")
        content = origin.read_bytes()
        if wanted and hashlib.sha256(content).hexdigest() != wanted:
            task.update(status="FAILED", fatal_error={"code": "EXTERNAL_CHECKSUM", "description": "another checksum"})
            return
        end.write_bytes(content)
        task["bytes_transferred"] = len(content)
    task["status"], task["nice_status"] = "SUCCEEDED", None


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, value, status=200):
        text = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def note(self, body):
        with log.open("a") as file:
            file.write(json.dumps({"method": self.command, "path": self.path, "body": body}) + "\n")

    def do_GET(self):
        self.note(None)
        path = self.path.split("?")[0].removeprefix("/v0.10/")
        if path == "submission_id":
            return self.answer({"DATA_TYPE": "submission_id", "value": str(uuid.uuid4())})
        if path.startswith("task/"):
            task = tasks.get(path.split("/")[1])
            if task is None:
                return self.answer({"code": "TaskNotFound", "message": "no such task"}, 404)
            if task["status"] == "ACTIVE" and (source / "go").exists():
                copy(task)
            return self.answer(task)
        if path.endswith("/ls"):
            files = [{"DATA_TYPE": "file", "name": entry.name, "size": entry.stat().st_size,
                      "type": "dir" if entry.is_dir() else "file"} for entry in sorted(self.folder().iterdir())]
            return self.answer({"DATA_TYPE": "file_list", "DATA": files, "path": str(self.folder())})
        return self.answer({"DATA_TYPE": "endpoint", "display_name": "x", "entity_type": "GCSv5_guest_collection"})

    def folder(self):
        from urllib.parse import parse_qs, urlsplit
        return source / parse_qs(urlsplit(self.path).query).get("path", ["/"])[0].lstrip("/")

    def do_POST(self):
        length = int(self.headers.get("Content-Length", 0))
        text = self.rfile.read(length).decode()
        if self.path.startswith("/v2/oauth2/token"):
            return self.answer({"access_token": "a-token", "token_type": "Bearer", "expires_in": 3600, "other_tokens": [],
                                "resource_server": "transfer.api.globus.org", "refresh_token": None,
                                "scope": "urn:globus:auth:scope:transfer.api.globus.org:all"})
        body = json.loads(text) if text else None
        self.note(body)
        if self.path.endswith("/cancel"):
            tasks[self.path.split("/")[-2]]["status"] = "FAILED"
            return self.answer({"code": "Canceled", "message": "The task has been cancelled successfully."})
        if "consent" in body["DATA"][0]["source_path"]:
            scope = "urn:globus:auth:scope:transfer.api.globus.org:all[*https://auth.globus.org/scopes/x/data_access]"
            return self.answer({"code": "ConsentRequired", "message": "Missing required data_access consent",
                                "required_scopes": [scope]}, 403)
        known = submissions.get(body["submission_id"])
        if known is None:
            task = run(body)
            tasks[task["task_id"]] = task
            known = submissions[body["submission_id"]] = task["task_id"]
        return self.answer({"DATA_TYPE": "transfer_result", "code": "Accepted", "message": "accepted", "task_id": known,
                            "submission_id": body["submission_id"]}, 202)


ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
