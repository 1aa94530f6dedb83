#!/usr/bin/env python3
"""Opens pages of `kiln view` in a headless browser, looks at every panel, and tries to break them.

usage: browser.py BUILD OUT [NAME...]

BUILD is the build folder; screenshots, pages and a report of times go to OUT. With names, only those tests run. Exit code
77 where there is no chromium, chromedriver or selenium.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import time
import unittest

import cases

try:
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
except ImportError:
    webdriver = None

SOURCE = pathlib.Path(__file__).resolve().parents[2]
PANELS = ("run", "timeline", "graph", "arguments", "pipes", "memory", "code", "findings")


def start_browser():
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1440,900",
                 "--hide-scrollbars", "--force-color-profile=srgb", "--disable-extensions", "--no-first-run",
                 "--disable-background-networking"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return webdriver.Chrome(service=Service(shutil.which("chromedriver")), options=options)


class PageTest(unittest.TestCase):
    browser = None
    build = out = None
    report = []

    # -- Making pages --------------------------------------------------------------------------------------------------

    def kiln(self, *words, code=0):
        done = subprocess.run([str(self.build / "bin" / "kiln"), *map(str, words)], capture_output=True, text=True, timeout=120,
                              cwd=SOURCE, env={**os.environ, "KILN_CACHE": "0"})
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout

    def record(self, name, *words, code=0):
        folder = self.out / name
        shutil.rmtree(folder, ignore_errors=True)
        self.kiln(*words, "--record", "--out", folder, code=code)
        return folder

    def page_of(self, folder, *options):
        self.kiln("view", folder, *options)
        return folder / "view.html"

    # -- Looking -------------------------------------------------------------------------------------------------------

    def open(self, page, panel=""):
        self.browser.get("about:blank")
        begin = time.monotonic()
        self.browser.get((page.as_uri() if isinstance(page, pathlib.Path) else page) + ("#" + panel if panel else ""))
        self.browser.execute_async_script("const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(done))")
        return time.monotonic() - begin

    def show(self, panel):
        self.find(f"#tabs [data-panel={panel}]").click()
        self.settle()
        return self.find("#panel-" + panel)

    def settle(self):
        self.browser.execute_async_script("const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(done))")

    def find(self, selector):
        return self.browser.find_element(By.CSS_SELECTOR, selector)

    def find_all(self, selector):
        return self.browser.find_elements(By.CSS_SELECTOR, selector)

    def shoot(self, name):
        self.browser.save_screenshot(str(self.out / (name + ".png")))

    def search(self, words, enter=False):
        box = self.find("#search")
        box.clear()
        box.send_keys(words + (Keys.ENTER if enter else ""))
        self.settle()

    def ink(self, selector="#main section:not([hidden]) canvas"):
        """How many colours a canvas shows: something is drawn if there are several."""
        return self.browser.execute_script("""
            const canvas = document.querySelector(arguments[0]);
            const {data} = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
            const seen = new Set();
            for (let i = 0; i < data.length; i += 4 * 7) seen.add((data[i] << 16) | (data[i + 1] << 8) | data[i + 2]);
            return seen.size;""", selector)

    def picture(self, selector="#main section:not([hidden]) canvas"):
        return self.browser.execute_script("return document.querySelector(arguments[0]).toDataURL()", selector)

    def assert_silent(self):
        """That the console has neither errors nor warnings, nor a violation of the page's own policy."""
        self.assertEqual([entry["message"] for entry in self.browser.get_log("browser")], [])

    def tour(self, name, expects):
        """Every panel of the open page: what it must say, no errors; a screenshot of each that shows something."""
        for panel in PANELS:
            section = self.show(panel)
            self.assertTrue(section.is_displayed())
            self.assertNotIn("cannot be drawn", section.text)
            for words in expects.get(panel, ()):
                self.assertIn(words, section.text, f"{name}: panel {panel}")
            if section.find_elements(By.CSS_SELECTOR, "canvas"):
                self.assertGreater(self.ink(), 2, f"{name}: panel {panel} draws nothing")
            if not section.find_elements(By.CSS_SELECTOR, ".empty"):
                self.shoot(f"{name}-{panel}")
        self.assert_silent()


def load_tests(loader, _, __):
    """The tests of all cases, in one class so that they share the browser."""
    for module_name, function in cases.tests():
        setattr(PageTest, module_name, function)
    return loader.loadTestsFromTestCase(PageTest)


DEBIAN_PYTHON = "/usr/bin/python3"  # which Debian's selenium is installed for, whatever comes first in PATH


def main(arguments):
    if webdriver is None and os.path.realpath(sys.executable) != os.path.realpath(DEBIAN_PYTHON) and os.path.exists(DEBIAN_PYTHON):
        os.execv(DEBIAN_PYTHON, [DEBIAN_PYTHON, __file__, *arguments])
    if webdriver is None or not shutil.which("chromium") or not shutil.which("chromedriver"):
        print("skipped: no chromium, chromedriver or selenium; scripts/setup --browser installs them")
        return 77
    PageTest.build, PageTest.out = pathlib.Path(arguments[0]).resolve(), pathlib.Path(arguments[1]).resolve()
    PageTest.out.mkdir(parents=True, exist_ok=True)
    PageTest.browser = start_browser()
    try:
        suite = load_tests(unittest.TestLoader(), None, None)
        if arguments[2:]:
            suite = unittest.TestSuite(test for test in suite if any(name in test.id() for name in arguments[2:]))
        result = unittest.TextTestRunner(verbosity=2).run(suite)
    finally:
        PageTest.browser.quit()
    text = "\n".join(PageTest.report)
    (PageTest.out / "times.txt").write_text(text + "\n")
    print(text)
    return 0 if result.wasSuccessful() and result.testsRun else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
