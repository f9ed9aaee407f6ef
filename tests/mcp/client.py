"""A client of `tracelens mcp` for tests: lines of JSON, in both eras of the protocol."""
import json
import os
import queue
import subprocess
import threading
import time

MODERN, LEGACY = "2026-07-28", "2025-11-25"
META = "io.modelcontextprotocol/"
PATIENCE = 600  # seconds: the end of what hangs, far above what anything takes on a busy machine, sanitized


class Server:
    """One server process. Everything it writes to standard output must be a message."""

    def __init__(self, program, folders, era, *flags):
        self.era = era
        self.process = subprocess.Popen([program, "mcp", *flags, *map(str, folders)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.messages = queue.Queue()
        self.kept = []
        self.next_id = 0
        self.recent = []
        self.taken = 0  # seconds of the last call
        threading.Thread(target=self._read, daemon=True).start()
        self.log = []
        threading.Thread(target=lambda: self.log.extend(self.process.stderr), daemon=True).start()
        if era == LEGACY:
            answer = self.request("initialize", {"protocolVersion": LEGACY, "capabilities": {},
                                                 "clientInfo": {"name": "test", "version": "1"}})
            assert answer["result"]["protocolVersion"] == LEGACY, answer
            self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def _read(self):
        for line in self.process.stdout:
            self.messages.put(json.loads(line))
        self.messages.put(None)

    def write(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, message):
        self.write(json.dumps(message).encode() + b"\n")

    def params(self, params, token=None):
        params = dict(params)
        meta = {META + "protocolVersion": MODERN, META + "clientCapabilities": {}} if self.era == MODERN else {}
        if token is not None:
            meta["progressToken"] = token
        if meta:
            params["_meta"] = meta
        return params

    def start(self, method, params=None, token=None):
        """Sends a request and returns its id."""
        self.next_id += 1
        self.send({"jsonrpc": "2.0", "id": self.next_id, "method": method,
                   "params": self.params(params or {}, token)})
        return self.next_id

    def wait(self, of, timeout=PATIENCE):
        """The answer to a request; what else arrives meanwhile is kept."""
        end = time.monotonic() + timeout
        for message in self.kept:
            if message.get("id") == of and "method" not in message:
                self.kept.remove(message)
                return message
        while True:
            message = self.messages.get(timeout=max(0.001, end - time.monotonic()))
            if message is None:
                raise EOFError(b"".join(self.log).decode())
            if message.get("id") == of and "method" not in message:
                return message
            self.kept.append(message)

    def next(self, timeout=PATIENCE):
        return self.messages.get(timeout=timeout)

    def wait_for_progress(self, of, fraction):
        """Until the request whose progress token is `of` has come so far; what arrives meanwhile is kept."""
        while True:
            message = self.next()
            assert message is not None, b"".join(self.log).decode()
            self.kept.append(message)
            params = message.get("params", {})
            if message.get("method") == "notifications/progress" and params["progressToken"] == of and (
                    params["progress"] >= fraction):
                return

    def request(self, method, params=None, timeout=PATIENCE):
        return self.wait(self.start(method, params), timeout)

    def pace(self):
        """The server takes 20 calls a second. What counts is when one is read, which is before it is answered."""
        now = time.monotonic()
        self.recent = [at for at in self.recent if now - at < 1.05]
        if len(self.recent) >= 19:
            time.sleep(max(0, 1.05 - (now - self.recent[0])))

    def call(self, tool, timeout=PATIENCE, **arguments):
        """The result of a tool."""
        self.pace()
        start = time.monotonic()
        answer = self.request("tools/call", {"name": tool, "arguments": arguments}, timeout)
        self.taken = time.monotonic() - start
        self.recent.append(time.monotonic())
        assert "result" in answer, answer
        return answer["result"]

    def close(self, timeout=PATIENCE):
        if self.process.poll() is None:
            self.process.stdin.close()
        status = self.process.wait(timeout)
        assert status == 0, (status, b"".join(self.log).decode())

    def memory_mb(self, line_of="VmRSS:"):
        """Now, or with VmHWM: the most it ever was."""
        with open(f"/proc/{self.process.pid}/status", encoding="utf-8") as status:
            for line in status:
                if line.startswith(line_of):
                    return int(line.split()[1]) / 1024
        return 0

    def __enter__(self):
        return self

    def __exit__(self, kind, *rest):
        if kind is None:
            self.close()
        else:
            os.kill(self.process.pid, 9)
            self.process.wait()


def text_of(result):
    assert [part["type"] for part in result["content"]] == ["text"], result
    return result["content"][0]["text"]
