"""A real browser for tests of pages: Chromium without a screen, its log, its requests, and axe-core
where it can be had.
"""

import json
import os
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest

AXE = "axe-core@4.14.1"
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "qin-arena"
FLAGS = (
    "headless",
    "no-sandbox",
    "disable-gpu",
    "disable-quic",
    "no-first-run",
    "disable-background-networking",
    "disable-component-update",
    "disable-sync",
    "disable-dev-shm-usage",
)

KEYS = {"Space": " "}
CODES = {"Space": 32}


class Browser:
    """A page in Chromium."""

    def __init__(self, profile):
        webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
        chromium, driver = (
            shutil.which("chromium") or shutil.which("google-chrome"),
            shutil.which("chromedriver"),
        )
        if not chromium or not driver:
            pytest.skip("no chromium with chromedriver here: apt install chromium chromium-driver")
        options = webdriver.ChromeOptions()
        options.binary_location = chromium
        for flag in (*FLAGS, f"user-data-dir={profile}"):
            options.add_argument(f"--{flag}")
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
        self.driver.set_script_timeout(240)

    def open(self, path, fragment="", *, width=1280, scheme="light"):
        """Loads a file anew, as a reader with this width and colour scheme has it."""
        self.cdp(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=900,
            deviceScaleFactor=1,
            mobile=width < 600,
        )
        self.cdp(
            "Emulation.setEmulatedMedia",
            features=[{"name": "prefers-color-scheme", "value": scheme}],
        )
        self.driver.get("about:blank")
        self.log()
        self.requests()
        self.driver.get(f"{path.resolve().as_uri()}{fragment}")

    def cdp(self, command, **parameters):
        return self.driver.execute_cdp_cmd(command, parameters)

    def js(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def click(self, name):
        self.js("document.getElementById(arguments[0]).click()", name)

    def text(self, name):
        return self.js("return document.getElementById(arguments[0]).textContent", name)

    def keys(self, *keys):
        """Presses keys where the focus is."""
        for key in keys:
            for kind in ("rawKeyDown", "keyUp"):
                self.cdp(
                    "Input.dispatchKeyEvent",
                    type=kind,
                    key=KEYS.get(key, key),
                    code=key,
                    windowsVirtualKeyCode=CODES.get(key, 0),
                )

    def log(self):
        """What the console said since the last call."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self):
        """What was asked for since the last call."""
        messages = [
            json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")
        ]
        return [
            message["params"]["request"]["url"]
            for message in messages
            if message["method"] == "Network.requestWillBeSent"
        ]

    def violations(self):
        """What axe-core finds wrong with the page as it is: rule, impact, the elements."""
        self.js(axe_source())
        script = """
            const done = arguments[0];
            const elements = (one) => one.nodes.map((node) => node.html.slice(0, 160));
            axe.run().then(
              (found) => done(found.violations.map((one) => [one.id, one.impact, elements(one)])),
              (error) => done([String(error)]));
        """
        return self.driver.execute_async_script(script)


def axe_source():
    """The text of axe-core, fetched from the npm registry once and kept in the user's cache."""
    path = CACHE / AXE / "axe.min.js"
    if not path.exists():
        npm = shutil.which("npm")
        if npm is None:
            pytest.skip("no npm to fetch axe-core with")
        path.parent.mkdir(parents=True, exist_ok=True)
        done = subprocess.run(
            [npm, "pack", "--silent", AXE],
            cwd=path.parent,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        if done.returncode:
            pytest.skip(f"axe-core could not be fetched: {done.stderr[-200:]}")
        with tarfile.open(path.parent / done.stdout.split()[-1]) as archive:
            content = archive.extractfile("package/axe.min.js").read()
        part = path.with_suffix(f".{os.getpid()}")
        part.write_bytes(content)
        part.replace(path)
    return path.read_text()
