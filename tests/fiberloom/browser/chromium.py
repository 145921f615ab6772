# SPDX-License-Identifier: BSD-3-Clause
"""A headless Chromium, driven through its DevTools pipe (two file descriptors): Python's standard library is all that
is needed, no driver program, no port. find() is None where there is no Chromium."""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PATIENCE = 30.0  # seconds for one answer: a loaded machine starts a browser slowly


def find():
    """Path of the browser: FIBERLOOM_CHROMIUM, or the first of the usual names."""
    named = os.environ.get("FIBERLOOM_CHROMIUM")
    return named or next((p for p in map(shutil.which, NAMES) if p), None)


class BrowserError(Exception):
    pass


class Chromium:
    """One browser with one page. Errors and warnings that the page logs are collected in `complaints`."""

    def __init__(self, width=1400, height=900, dark=False, touch=False):
        self.complaints, self.loaded, self._last, self._buffer = [], 0, 0, b""
        self._profile = tempfile.mkdtemp(prefix="fiberloom-chromium-")
        to_browser, self._to = os.pipe()
        self._from, from_browser = os.pipe()

        def connect():  # the browser reads descriptor 3 and writes descriptor 4
            low, high = os.dup(to_browser), os.dup(from_browser)
            spare_low, spare_high = os.dup(low), os.dup(high)
            os.dup2(spare_low, 3)
            os.dup2(spare_high, 4)
        flags = ["--headless=new", "--remote-debugging-pipe", "--no-first-run", "--disable-extensions",
                 "--disable-background-networking", "--disable-component-update", "--disable-sync",
                 "--disable-dev-shm-usage", "--disable-gpu", "--hide-scrollbars", "--mute-audio",
                 "--force-color-profile=srgb", f"--user-data-dir={self._profile}"]
        if os.geteuid() == 0:
            flags.append("--no-sandbox")  # root has none
        self._process = subprocess.Popen([find(), *flags, "about:blank"], stdin=subprocess.DEVNULL,
                                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                         preexec_fn=connect, close_fds=False, start_new_session=True)
        os.close(to_browser)
        os.close(from_browser)
        self._session = None
        try:
            self._attach(width, height, dark, touch)
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        for descriptor in (self._to, self._from):
            os.close(descriptor)  # the browser ends when its pipe does
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        shutil.rmtree(self._profile, ignore_errors=True)

    def _attach(self, width, height, dark, touch):
        targets = self.send("Target.getTargets")["targetInfos"]
        page = next(t["targetId"] for t in targets if t["type"] == "page")
        self._session = self.send("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(domain + ".enable")
        self.view(width, height, dark, touch)

    def view(self, width, height, dark=False, touch=False):
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                  mobile=touch)
        self.send("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def send(self, method, **parameters):
        """Sends a command and returns its result; events that come meanwhile are taken in."""
        self._last += 1
        message = {"id": self._last, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + PATIENCE
        while True:
            answer = self._receive(end)
            if answer.get("id") == self._last:
                if "error" in answer:
                    raise BrowserError(f"{method}: {answer['error']}")
                return answer["result"]

    def _receive(self, end):
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._from], [], [], max(0.0, end - time.monotonic()))
            data = os.read(self._from, 1 << 20) if ready else b""
            if not data:
                raise BrowserError("the browser " + ("has ended" if ready else "does not answer"))
            self._buffer += data
        text, _, self._buffer = self._buffer.partition(b"\0")
        message = json.loads(text)
        self._take(message.get("method"), message.get("params", {}))
        return message

    def _take(self, method, event):
        if method == "Page.loadEventFired":
            self.loaded += 1
        elif method == "Runtime.exceptionThrown":
            details = event["exceptionDetails"]
            self.complaints.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Runtime.consoleAPICalled" and event["type"] in ("error", "warning", "assert"):
            self.complaints.append(str([a.get("value") for a in event["args"]]))
        elif method == "Log.entryAdded" and event["entry"]["level"] in ("error", "warning"):
            self.complaints.append(event["entry"]["text"])
        elif method == "Network.requestWillBeSent" and event["request"]["url"].startswith(("http:", "https:")):
            self.complaints.append("asks for " + event["request"]["url"])

    def open(self, path):
        """Loads a file from its file:// address; returns the seconds until its load event."""
        before, start = self.loaded, time.monotonic()
        self.send("Page.navigate", url=path if "://" in str(path) else "file://" + str(path))
        while self.loaded == before:
            self._receive(start + PATIENCE)
        return time.monotonic() - start

    def follow(self, script):
        """Does what loads another page, and waits for that."""
        before, start = self.loaded, time.monotonic()
        self.run(script)
        while self.loaded == before:
            self._receive(start + PATIENCE)

    def run(self, script):
        """The value of a JavaScript expression; a promise is awaited."""
        answer = self.send("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise BrowserError(f"{script}: {answer['exceptionDetails'].get('exception', answer)}")
        return answer["result"].get("value")

    def wait_for(self, script, seconds=20):
        """Waits until the expression is true; while one page gives way to another nothing is."""
        end = time.monotonic() + seconds
        while not self._is_true(script):
            if time.monotonic() > end:
                raise BrowserError("still not true: " + script)
            time.sleep(0.1)

    def _is_true(self, script):
        try:
            return self.run(script)
        except BrowserError as error:
            if "navigated or closed" in str(error) or "context" in str(error):
                return False
            raise

    def mouse(self, kind, x, y, **more):
        self.send("Input.dispatchMouseEvent", type="mouse" + kind, x=x, y=y, **more)

    def drag(self, x0, y0, x1, y1):
        self.mouse("Moved", x0, y0)
        self.mouse("Pressed", x0, y0, button="left", clickCount=1)
        for part in (0.3, 0.7, 1.0):
            self.mouse("Moved", x0 + part * (x1 - x0), y0 + part * (y1 - y0), button="left", buttons=1)
        self.mouse("Released", x1, y1, button="left", clickCount=1)

    def click(self, x, y, times=1):
        for count in range(1, times + 1):
            self.mouse("Pressed", x, y, button="left", clickCount=count)
            self.mouse("Released", x, y, button="left", clickCount=count)

    def key(self, name):
        codes = {"ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "Escape": 27, "Home": 36, "Enter": 13}
        for kind in ("rawKeyDown", "keyUp"):
            self.send("Input.dispatchKeyEvent", type=kind, key=name, code=name,
                      windowsVirtualKeyCode=codes.get(name, 0))

    def place(self, selector):
        """Left, top, width, height of an element in the window."""
        return self.run(f"(() => {{ const r = document.querySelector({json.dumps(selector)}).getBoundingClientRect();"
                        " return [r.left, r.top, r.width, r.height]; })()")

    def screenshot(self, path=None, whole=False):
        """PNG of what is seen, or of the whole page."""
        data = base64.b64decode(self.send("Page.captureScreenshot", format="png",
                                          captureBeyondViewport=whole)["data"])
        if path:
            with open(path, "wb") as file:
                file.write(data)
        return data
