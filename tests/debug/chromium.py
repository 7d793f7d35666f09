"""Pages in headless Chromium, driven through the pipes of its debugging protocol."""

from __future__ import annotations

import json
import os
import select
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
OPTIONS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--remote-debugging-pipe", "--disable-quic",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip
SECONDS = 60  # that an answer may take

needs_chromium = pytest.mark.skipif(not CHROMIUM, reason="chromium is not installed (Debian: apt install chromium)")


class Page:
    """A file that is open in a browser of its own; `messages` are what it printed to the console, errors included."""

    def __init__(self, path: Path, profile: Path, options: Sequence[str] = ()) -> None:
        to_browser, self._write = os.pipe()
        self._read, from_browser = os.pipe()
        assert CHROMIUM is not None
        script = f'exec "$0" "$@" 3<&{to_browser} 4>&{from_browser}'
        command = ["bash", "-c", script, CHROMIUM, *OPTIONS, f"--user-data-dir={profile}", *options, "about:blank"]
        self._process = subprocess.Popen(
            command, pass_fds=(to_browser, from_browser), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        os.close(to_browser)
        os.close(from_browser)
        self._buffer, self._count, self._session = b"", 0, ""
        self.messages: list[str] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Runtime", "Log", "Page"):
            self.call(f"{domain}.enable")
        self.call("Page.navigate", url=path.as_uri())
        self._wait_for("document.readyState === 'complete'")
        self._wait_for("performance.getEntriesByName('interactive').length")

    def _wait_for(self, condition: str) -> None:
        wait = "await new Promise(done => setTimeout(done, 5))"
        self.evaluate(f"(async () => {{ while (!({condition})) {wait} }})()")

    def __enter__(self) -> Page:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._read)
        os.close(self._write)

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Call a method of the protocol and return its result."""
        self._count += 1
        message: dict[str, Any] = {"id": self._count, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._message()
            if answer.get("method") in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"):
                self.messages.append(json.dumps(answer["params"]))
            if answer.get("id") == self._count:
                assert "error" not in answer, answer
                return dict(answer["result"])

    def _message(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            assert select.select([self._read], [], [], SECONDS)[0], f"the browser did not answer in {SECONDS} seconds"
            read = os.read(self._read, 1 << 16)
            assert read, "the browser ended"
            self._buffer += read
        message, _, self._buffer = self._buffer.partition(b"\0")
        return dict(json.loads(message))

    def evaluate(self, script: str) -> Any:
        """Return the value of an expression, awaited if it is a promise."""
        answer = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def press(self, *keys: str) -> None:
        """Press keys one after another, such as `Tab`, `ArrowDown`, `Enter`."""
        codes = {"Tab": 9, "Enter": 13, "ArrowUp": 38, "ArrowDown": 40, "End": 35, "Home": 36, "PageDown": 34}
        for key in keys:
            event = {"key": key, "code": key, "windowsVirtualKeyCode": codes[key]}
            text = {"text": "\r"} if key == "Enter" else {}
            self.call("Input.dispatchKeyEvent", type="keyDown", **event, **text)
            self.call("Input.dispatchKeyEvent", type="keyUp", **event)
