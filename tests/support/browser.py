"""A real browser for tests of pages: Chromium without a screen, its log and requests, and axe-core.

Where they cannot be had, these tests are skipped, but never where the variable CI is set.
"""

import json
import os
import shutil
import subprocess
import tarfile
from base64 import b64decode
from functools import cache
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
CODES = {"Space": 32, "Tab": 9}


SCHEMES = ("light", "dark")


def looks(widths, number):
    """Each width with a colour scheme, for the page with this number: light and dark in turn, and
    the other way round on the next page. So every page is seen at each width and in both schemes,
    and each pair of them on half of the pages.
    """
    return [(width, SCHEMES[(number + at) % 2]) for at, width in enumerate(widths)]


def lacking(what, cure):
    """Ends a test for which something is not installed: in CI that is a failure."""
    said = f"{what} on this machine: {cure}"
    if os.environ.get("CI"):
        pytest.fail(f"expected no test of a page to be skipped in CI, got no {said}", pytrace=False)
    pytest.skip(f"no {said}")


class Browser:
    """A page in Chromium."""

    def __init__(self, profile):
        try:
            from selenium import webdriver
        except ImportError:
            lacking("selenium", "pip install -e '.[dev]'")
        chromium, driver = (
            shutil.which("chromium") or shutil.which("google-chrome"),
            shutil.which("chromedriver"),
        )
        if not chromium or not driver:
            lacking("chromium with chromedriver", "apt install chromium chromium-driver")
        options = webdriver.ChromeOptions()
        options.binary_location = chromium
        for flag in (*FLAGS, f"user-data-dir={profile}"):
            options.add_argument(f"--{flag}")
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
        self.driver.set_script_timeout(240)
        # as the page that a reader looks at, whichever of several browsers here has the focus
        self.cdp("Emulation.setFocusEmulationEnabled", enabled=True)

    def open(self, page, fragment="", *, width=1280, scheme="light", height=900):
        """Loads a file, or the page at an address, anew, as a reader with this window and colour
        scheme has it.
        """
        self.become(width, scheme, height)
        self.driver.get("about:blank")
        self.log()
        self.requests()
        address = page if isinstance(page, str) else page.resolve().as_uri()
        self.driver.get(f"{address}{fragment}")
        self.wait(
            "return document.readyState === 'complete' && location.href.startsWith(arguments[0])",
            address.partition(":")[0],
        )

    def wait(self, script, *arguments):
        """Waits for a script to return something true, and returns it: `get` of a driver comes back
        before a page has run its scripts, now and then, on a busy machine.
        """
        from selenium.webdriver.support.wait import WebDriverWait

        return WebDriverWait(self.driver, 240, 0.05).until(
            lambda _: self.js(script, *arguments), script
        )

    def become(self, width, scheme="light", height=900, *, is_calm=False):
        """Gives the page that is open another window and colour scheme, and ``is_calm`` a reader
        who wants no motion.
        """
        self.cdp(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )
        self.cdp(
            "Emulation.setEmulatedMedia",
            features=[
                {"name": "prefers-color-scheme", "value": scheme},
                {
                    "name": "prefers-reduced-motion",
                    "value": "reduce" if is_calm else "no-preference",
                },
            ],
        )

    def picture(self, selector, width):
        """A PNG of an element, so many pixels wide."""
        x, y, wide, high = self.js(
            "const box = document.querySelector(arguments[0]).getBoundingClientRect();"
            "return [box.x + scrollX, box.y + scrollY, box.width, box.height]",
            selector,
        )
        clip = {"x": x, "y": y, "width": wide, "height": high, "scale": width / wide}
        shot = self.cdp("Page.captureScreenshot", clip=clip, captureBeyondViewport=True)
        return b64decode(shot["data"])

    def swipe(self, name, way):
        """Draws a finger across an element, by so many pixels to the right."""
        x, y = self.js(
            "const node = document.getElementById(arguments[0]);"
            "node.scrollIntoView({ behavior: 'instant', block: 'center' });"
            "const box = node.getBoundingClientRect();"
            "return [box.x + box.width / 2, box.y + box.height / 2]",
            name,
        )
        for kind, at in (("Start", -1), ("Move", 0), ("Move", 1), ("End", None)):
            points = [] if at is None else [{"x": x + at * way / 2, "y": y}]
            self.cdp("Input.dispatchTouchEvent", type=f"touch{kind}", touchPoints=points)

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
        if not self.js("return 'axe' in window"):
            self.js(axe_source())
        script = """
            const done = arguments[0];
            const elements = (one) => one.nodes.map((node) => node.html.slice(0, 160));
            axe.run({ resultTypes: ["violations"] }).then(
              (found) => done(found.violations.map((one) => [one.id, one.impact, elements(one)])),
              (error) => done([String(error)]));
        """
        return self.driver.execute_async_script(script)


@cache
def axe_source():
    """The text of axe-core, fetched from the npm registry once and kept in the user's cache."""
    path = CACHE / AXE / "axe.min.js"
    if not path.exists():
        npm = shutil.which("npm")
        if npm is None:
            lacking("npm to fetch axe-core with", "apt install npm")
        path.parent.mkdir(parents=True, exist_ok=True)
        done = fetched(npm, path.parent)
        if done.returncode:
            lacking("axe-core", f"'npm pack {AXE}' has to work, and said {done.stderr[-200:]}")
        with tarfile.open(path.parent / done.stdout.split()[-1]) as archive:
            content = archive.extractfile("package/axe.min.js").read()
        part = path.with_suffix(f".{os.getpid()}")
        part.write_bytes(content)
        part.replace(path)
    return path.read_text()


def fetched(npm, folder):
    """The last of three tries: a registry may be slow."""
    for _ in range(3):
        done = subprocess.run(
            [npm, "pack", "--silent", AXE],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        if done.returncode == 0:
            break
    return done
