#!/usr/bin/env python3
"""fetch_kill9.py SABATH: kill -9 hits a segmented fetch from two mirrors at random moments, again and again, until the file is there;
then another file. Each must end as the right object, and no byte may have crossed the wire more often than what was under way
at the kills explains: at each, the unfinished pieces of the open connections.

SABATH_SOAK_ROUNDS: how many kills (default 20). SABATH_SOAK_SEED: of the random moments."""
import hashlib, http.server, json, os, pathlib, random, shutil, socket, subprocess, sys, tempfile, threading, time

SIZE = 48 << 20
PIECE = 1 << 20  # of a file of this size
RATE = 40e6  # bytes a second, of each mirror in all
CONNECTIONS = 16  # the most that a fetch opens to a host
BUFFERS = 256 << 10  # what a connection may hold on its way


class Mirror(http.server.ThreadingHTTPServer):
    """One file, with ranges and conditions, at a limited rate; counts what it sent."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.lock, self.due = threading.Lock(), time.monotonic()
        self.offer(b"")
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def offer(self, content):
        with self.lock:
            self.content, self.etag, self.sent, self.open, self.most = content, '"%s"' % hashlib.md5(content).hexdigest(), 0, 0, 0

    def url(self):
        return "http://127.0.0.1:%d/file.bin" % self.server_address[1]

    def wait_for(self, size):
        with self.lock:
            self.due = max(self.due, time.monotonic()) + size / RATE
            pause = self.due - time.monotonic()
        time.sleep(max(0.0, pause))

    def handle_error(self, request, address):
        pass  # the killed ones


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def setup(self):
        self.request.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 64 << 10)
        super().setup()

    def log_message(self, *_):
        pass

    def wanted(self):
        """The range of the answer, or nothing for a whole file; None: the condition does not hold."""
        mirror = self.server
        if self.headers.get("If-Match", mirror.etag) != mirror.etag:
            return None
        text = self.headers.get("Range", "")
        if not text.startswith("bytes=") or self.headers.get("If-Range", mirror.etag) != mirror.etag:
            return ()
        first, last = text[6:].split("-")
        return int(first), min(int(last) + 1 if last else len(mirror.content), len(mirror.content))

    def do_GET(self):
        mirror, content = self.server, self.server.content
        part = self.wanted()
        if part is None:
            self.send_response(412)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        begin, end = part or (0, len(content))
        self.send_response(206 if part else 200)
        self.send_header("Content-Length", str(end - begin))
        self.send_header("ETag", mirror.etag)
        self.send_header("Accept-Ranges", "bytes")
        if part:
            self.send_header("Content-Range", "bytes %d-%d/%d" % (begin, end - 1, len(content)))
        self.end_headers()
        with mirror.lock:
            mirror.open += 1
            mirror.most = max(mirror.most, mirror.open)
        try:
            while begin < end:
                block = content[begin : min(end, begin + (64 << 10))]
                mirror.wait_for(len(block))
                self.wfile.write(block)
                begin += len(block)
                with mirror.lock:
                    mirror.sent += len(block)
        finally:
            with mirror.lock:
                mirror.open -= 1


def main():
    sabath = os.path.realpath(sys.argv[1])
    rounds = int(os.environ.get("SABATH_SOAK_ROUNDS", "20"))
    chance = random.Random(os.environ.get("SABATH_SOAK_SEED"))
    folder = pathlib.Path(tempfile.mkdtemp(prefix="sabath-soak-"))
    environment = dict(os.environ, SABATH_HOME=str(folder / "home"), SABATH_CACHE=str(folder / "cache"), SABATH_CONFIG=str(folder / "config"))
    mirrors = [Mirror(), Mirror()]
    assets = folder / "catalog" / "datasets"
    assets.mkdir(parents=True)
    problems, kills, files, worst = [], 0, 0, 0.0

    def fetch():
        return subprocess.Popen([sabath, "-q", "--catalog", str(folder / "catalog"), "fetch", "soak"], env=environment,
                                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True)

    while kills < rounds and len(problems) < 5:
        content = chance.randbytes(SIZE)
        digest = hashlib.sha256(content).hexdigest()
        for mirror in mirrors:
            mirror.offer(content)
        (assets / "soak.json").write_text(json.dumps({
            "schema": 1, "kind": "dataset", "name": "soak",
            "files": [{"path": "file.bin", "size": SIZE, "digest": {"sha256": digest}, "sources": [m.url() for m in mirrors]}]}))
        files, hits = files + 1, 0
        while True:
            process = fetch()
            try:
                # The last kills of a file's life fall into hashing and publishing.
                process.wait(timeout=chance.uniform(0.02, 0.9) if kills < rounds else 60)
            except subprocess.TimeoutExpired:
                process.kill()
            process.wait()
            if process.returncode == 0:
                break
            if process.returncode != -9:
                problems.append("file %d: fetch ended with %d: %s" % (files, process.returncode, process.stderr.read().decode(errors="replace")))
                break
            hits, kills = hits + 1, kills + 1
        sent, most = sum(m.sent for m in mirrors), sum(m.most for m in mirrors)
        allowed = SIZE + (hits + 1) * min(most, 2 * CONNECTIONS) * (PIECE + BUFFERS)
        worst = max(worst, (sent - SIZE) / max(1, hits) / PIECE)
        if sent > allowed:
            problems.append("file %d: %d bytes were sent for %d, after %d kills" % (files, sent, SIZE, hits))
        path = folder / "cache" / "objects" / "sha256" / digest[:2] / digest[2:]
        if not path.is_file() or hashlib.sha256(path.read_bytes()).hexdigest() != digest:
            problems.append("file %d: is not the object that it must be" % files)
    if subprocess.run([sabath, "-q", "verify", "--full"], env=environment, capture_output=True).returncode != 0:
        problems.append("verify --full finds damage")
    # One that died between publishing and tidying up leaves a folder that no later fetch looks at, since the object is there.
    collection = subprocess.run([sabath, "-q", "cache", "gc", "--older-than", "0s"], env=environment, capture_output=True, text=True)
    left = [str(p) for p in (folder / "cache" / "partial").rglob("*")]
    if collection.returncode != 0 or left:
        problems.append("left in partial/ by the dead, and not collected: %s; gc: %s" % (", ".join(left[:5]), collection.stderr))
    for problem in problems:
        print("PROBLEM:", problem)
    print("%d kills over %d files; at most %.1f pieces sent again for a kill; %d problems" % (kills, files, worst, len(problems)))
    shutil.rmtree(folder, ignore_errors=True)
    return 1 if problems else 0


sys.exit(main())
