"""What the pages are tried on; browser.py runs it. A test is a function whose name begins with `test_`."""
import http.client
import json
import pathlib
import random
import re
import socket
import struct
import subprocess
import sys
import threading
import time

INPUTS = pathlib.Path(__file__).resolve().parent / "Inputs"
HOSTILE = "<img src=x onerror=\"document.title='owned'\"></script><script>document.title='owned'</script>"


def tests():
    module = sys.modules[__name__]
    return [(name, getattr(module, name)) for name in dir(module) if name.startswith("test_")]


def example(self, name):
    path = next(self.build.glob(f"*/{name}"), None)
    self.assertIsNotNone(path, f"{name} is not built")
    return path


# -- Real programs -----------------------------------------------------------------------------------------------------


def test_flash_attention_on_the_cpu(self):
    folder = self.record("attention-cpu", "run", example(self, "flash_attention"), "--no-reference", "--no-formula")
    self.open(self.page_of(folder))
    self.tour("attention-cpu", {
        "run": ["flash_attention", "cpu", "2x100x64"], "timeline": ["busy"], "arguments": ["NaN", "deviation"], "code": ["kiln-outline", "llvm"],
        "pipes": ["No pipe was used"], "memory": ["Buffers of the run", "Each bar is a buffer"], "findings": ["holds no check"]})
    # A line of the emitted code leads to its source, too.
    self.show("code")
    next(each for each in self.find_all(".stages button") if each.text.startswith("llvm")).click()
    self.settle()
    self.search("fmul", enter=True)
    self.browser.execute_script("[...document.querySelectorAll('.code > div:last-child .line')].find((row) => row.textContent.includes('fmul')).click()")
    self.settle()
    self.assertIn("flash_attention.cpp", self.find(".code > div:first-child .code-head").text)
    self.assertTrue(self.find_all(".code > div:first-child .line.on"), "the source of emitted code is not marked")
    self.shoot("attention-cpu-code-emitted")
    self.assert_silent()


def test_flash_attention_on_a_simulator(self):
    folder = self.record("attention-sim", "run", example(self, "flash_attention"), "-p", "a2a3sim", "--no-reference", "--no-formula")
    self.open(self.page_of(folder))
    self.tour("attention-sim", {
        "run": ["a2a3sim", "ascend910b"], "timeline": ["worker 0 aiv"], "pipes": ["pop from", "slots"], "memory": ["KiB", "in use at the most"],
        "code": ["kiln-partition-roles", "tile-plan-memory"]})
    self.show("pipes")
    waits = [[cell.text for cell in row.find_elements("css selector", "td")][:3] for row in self.find_all("#waits tr")]
    self.assertIn(["worker 0 aic", "aiv", "to pop from to_aic"], waits)
    self.assertIn(["worker 0 aiv", "aic", "to pop from to_aiv_0"], waits)
    self.show("code")
    for stage in self.find_all(".stages button"):
        if stage.text.startswith("kiln-partition-roles"):
            stage.click()
            break
    self.settle()
    self.assertTrue(self.find_all(".code .line.plus"), "what a pass changed is not shown")
    self.shoot("attention-sim-code-partition")
    # A line of the program leads to its source.
    self.browser.execute_script("[...document.querySelectorAll('.code > div:last-child .line')].find((row) => row.textContent.includes('tile.')).click()")
    self.settle()
    self.assertTrue(self.find_all(".code > div:first-child .line.on"), "the source line is not marked")
    self.assert_silent()


def test_qwen3_decode_layer(self):
    folder = self.record("qwen3", "run", example(self, "qwen3_decode_layer"), "--no-reference", "--no-formula")
    self.open(self.page_of(folder))
    self.tour("qwen3", {"run": ["qwen3_decode_layer", "Where the time went"], "graph": ["every task"], "arguments": ["bf16"]})
    self.show("graph")
    self.assertEqual(self.browser.execute_script("""
        const canvas = document.querySelector('#panel-graph canvas'), copy = new OffscreenCanvas(1, canvas.height).getContext('2d');
        copy.drawImage(canvas, 4 - canvas.width, 0);
        return copy.getImageData(0, 0, 1, canvas.height).data.reduce((sum, byte) => sum + byte);"""), 0, "a graph that nearly fits is cut at the edge")


def test_vector_dag_is_moved_and_searched(self):
    folder = self.record("vector-dag", "run", example(self, "vector_dag"), "--no-reference", "--no-formula")
    self.open(self.page_of(folder))
    self.tour("vector-dag", {"run": ["vector_dag"], "graph": ["read after write"]})
    # The timeline zooms, searches, and says what was clicked.
    self.show("timeline")
    before = self.picture()
    self.find("#panel-timeline canvas").send_keys("w")
    self.settle()
    self.assertNotEqual(before, self.picture(), "the timeline does not zoom")
    self.find("#timeline-fit").click()
    self.search("add_scalar", enter=True)
    self.assertIn("add_scalar", self.find("#panel-timeline .side h2").text)
    self.assertRegex(self.find("#matches").text, r"^1 of \d+$")
    self.shoot("vector-dag-timeline-search")
    # A task's dependencies lead to other tasks, its values to the Arguments panel.
    self.show("graph")
    self.search("add_scalar", enter=True)
    self.assertIn("add_scalar", self.find("#panel-graph .side h2").text)
    self.assertIn("read after write of x", self.find("#panel-graph .side").text)
    self.shoot("vector-dag-graph-chosen")
    for button in self.find_all("#panel-graph .side .link"):
        if button.text == "Look at their values":
            button.click()
            break
    self.settle()
    self.assertTrue(self.find("#panel-arguments").is_displayed())
    self.assertIn("add_scalar", self.find("#panel-arguments .item.on").text)
    # Heat map: the value under the pointer.
    self.search("")
    self.find("#panel-arguments .list").click()
    from selenium.webdriver.common.action_chains import ActionChains
    canvas = self.find("#panel-arguments .map canvas")
    ActionChains(self.browser).move_to_element(canvas).perform()
    self.settle()
    self.assertRegex(self.find("#under").text, r"^\w+\[\d+, \d+\](: mean of the cell around it| =) -?[\d.e-]+$")
    self.assertGreater(self.ink("#panel-arguments .scale canvas"), 20, "no scale says what the colours of the heat map mean")
    # Light and dark.
    light = self.browser.execute_script("return getComputedStyle(document.body).backgroundColor")
    self.find("#theme").click()
    self.settle()
    self.assertNotEqual(light, self.browser.execute_script("return getComputedStyle(document.body).backgroundColor"))
    # What was written before the theme changed has the colours of the new one.
    reason = self.find("#panel-graph .side table:last-of-type td[style]")
    self.assertEqual(*self.browser.execute_script("""
        const probe = document.body.appendChild(document.createElement('i'));
        probe.style.color = 'var(--raw)';
        const wanted = getComputedStyle(probe).color;
        probe.remove();
        return [getComputedStyle(arguments[0]).color, wanted];""", reason))
    for panel in ("timeline", "graph", "arguments"):
        self.show(panel)
        self.shoot("vector-dag-dark-" + panel)
    self.assert_silent()


def test_keys_reach_the_panel(self):
    """Whoever has chosen a panel by its number, and clicked nothing in it, zooms and moves what it draws."""
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.keys import Keys

    def press(key):
        ActionChains(self.browser).send_keys(key).perform()
        self.settle()

    attention = self.record("keys", "run", example(self, "flash_attention"), "-p", "a2a3sim", "--no-reference", "--no-formula")
    deadlock = self.record("keys-deadlock", "check", "test/Driver/deadlock.mlir", code=1)
    self.open(self.page_of(attention))
    for number, panel in ((2, "timeline"), (3, "graph"), (4, "arguments"), (5, "pipes"), (6, "memory")):
        press(str(number))
        self.assertTrue(self.find("#panel-" + panel).is_displayed())
        drawing = f"#panel-{panel} " + (".map canvas" if panel == "arguments" else "canvas")
        all_of_it = self.picture(drawing)
        press("w")
        zoomed = self.picture(drawing)
        self.assertTrue(all_of_it != zoomed, f"{panel}: w does not zoom")
        press("d")
        self.assertTrue(zoomed != self.picture(drawing), f"{panel}: d does not move")
        press("0")
        self.assertTrue(all_of_it == self.picture(drawing), f"{panel}: 0 does not show all")
    press("4")
    press(Keys.ARROW_DOWN)
    self.assertIn("k before the task", self.find("#panel-arguments .side h2").text)
    self.open(self.page_of(deadlock))
    press(Keys.ARROW_LEFT)
    self.assertRegex(self.find("#step-status").text, r"^step 5 of 6")
    self.assert_silent()


def cut_off(self):
    """What a list shows only a part of, of what always has room: when, smallest, largest, what is wrong."""
    return self.browser.execute_script("""
        return [...document.querySelectorAll('#panel-arguments .item')].flatMap((item) => [3, 5, 6, 7].map((at) => item.children[at]))
            .filter((cell) => cell.scrollWidth > cell.clientWidth || cell.getBoundingClientRect().right > cell.closest('.list').getBoundingClientRect().right)
            .map((cell) => cell.textContent);""")


def test_windows_of_other_sizes(self):
    """Narrow and wide, light and dark: nothing is cut off, and what matters is seen without scrolling."""
    attention = self.record("sizes", "run", example(self, "flash_attention"), "-p", "a2a3sim", "--no-reference", "--no-formula")
    odd = self.record("sizes-nan", "run", INPUTS / "nan.mlir", "--no-reference")
    deadlock = self.record("sizes-deadlock", "check", "test/Driver/deadlock.mlir", code=1)
    pages = [self.page_of(folder) for folder in (attention, odd, deadlock)]
    try:
        for width, height in ((420, 800), (700, 900), (1000, 800), (1440, 900), (1920, 1080)):
            self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})
            for scheme in ("light", "dark"):
                self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
                for page, panel in ((pages[0], "arguments"), (pages[1], "arguments"), (pages[0], "timeline"), (pages[0], "memory"), (pages[0], "code"), (pages[2], "findings")):
                    self.open(page, panel)
                    self.assertFalse(self.browser.execute_script("return document.documentElement.scrollWidth > innerWidth"), f"{panel} at {width}")
                    self.shoot(f"size-{width}-{scheme}-{panel}" + ("-nan" if page == pages[1] else ""))
                    tab = self.find("#tabs [aria-selected=true]").rect
                    self.assertTrue(0 <= tab["x"] and tab["x"] + tab["width"] <= width + 1, f"the tab of {panel} is out of sight at {width}")
                    if panel == "findings":  # what steps through the schedule stays in its card
                        self.assertFalse(self.browser.execute_script("const card = document.querySelector('#schedule'); return card.scrollWidth > card.clientWidth"), f"at {width}")
                        lanes, step = self.find(".lanes").rect, self.find(".lanes tr.on .act").rect  # the last step is in the last lane
                        self.assertTrue(lanes["x"] <= step["x"] and step["x"] + min(step["width"], 150) <= lanes["x"] + lanes["width"], f"what the step does is out of sight at {width}")
                    if panel == "arguments":
                        self.assertEqual(cut_off(self), [], f"at {width}")
                    if panel == "findings":  # the finding itself begins in the upper half
                        self.assertLess(self.find(".findings .card .message").rect["y"], height / 2, f"at {width}")
                    if panel in ("timeline", "memory"):  # what is beside a drawing leaves it the larger part
                        drawing, side = self.find(f"#panel-{panel} .split > *").rect, self.find(f"#panel-{panel} .side").rect
                        self.assertGreater(drawing["width"] * drawing["height"], side["width"] * side["height"], f"{panel} at {width}")
    finally:
        self.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    self.assert_silent()


def test_difference_from_another_run(self):
    program = example(self, "vector_dag")
    folder = self.record("difference", "run", program, "--no-reference", "--no-formula")
    other = self.record("difference-other", "run", program, "--no-reference", "--no-formula", "--data-seed", "2")
    self.open(self.page_of(folder, "--diff", other), "arguments")
    self.assertIn("different from", self.find("#panel-arguments .bar").text)
    self.assertTrue(self.find_all("#worst tr"))
    self.find("#worst .link").click()
    self.settle()
    self.shoot("difference-arguments")
    self.assert_silent()


# -- What a check found ------------------------------------------------------------------------------------------------


def finding(self, name, program, kind, words, *options):
    folder = self.record(name, "check", program, *options, code=1)
    self.open(self.page_of(folder))
    panel = self.find("#panel-findings")
    self.assertTrue(panel.is_displayed(), "a page with findings begins with them")
    for button in self.find_all(".findings .left button"):
        if kind in button.text:
            button.click()
            break
    else:
        self.fail(f"no finding of kind {kind}: {panel.text}")
    self.settle()
    for each in words:
        self.assertIn(each, panel.text)
    self.assertTrue(self.find_all(".source .row.here"), "the line is not shown")
    self.shoot(name + "-finding")
    # The schedule is replayed step by step.
    schedule = self.find("#schedule")
    self.assertRegex(self.find("#step-status").text, r"^step (\d+) of \1")
    schedule.find_element("css selector", "button[title='First step']").click()
    self.assertIn("step 1 of", self.find("#step-status").text)
    schedule.find_element("css selector", "button[title='Step on']").click()
    self.assertIn("step 2 of", self.find("#step-status").text)
    self.assertEqual(len(self.find_all(".lanes tr.on")), 1)
    self.browser.execute_script("arguments[0].scrollIntoView()", schedule)
    self.shoot(name + "-schedule")
    self.tour(name, {"findings": words})


def test_deadlock(self):
    finding(self, "deadlock", "test/Driver/deadlock.mlir", "deadlock", ["waits to pop from 'to_aic'", "cycle of waits"])


def test_race(self):
    finding(self, "race", INPUTS / "race.mlir", "race", ["nothing orders the two", "reads", "writes"])


def test_nan(self):
    finding(self, "nan", INPUTS / "nan.mlir", "nan-birth", ["makes NaN"], "--nan")


def test_nan_in_a_dump(self):
    folder = self.record("nan-run", "run", INPUTS / "nan.mlir", "--no-reference")
    self.open(self.page_of(folder), "arguments")
    from selenium.webdriver.support.ui import Select
    Select(self.find("#arguments-filter")).select_by_value("odd")
    self.settle()
    self.assertIn("NaN", self.find("#panel-arguments .item").text)
    self.find("#panel-arguments .item").click()
    self.settle()
    self.assertTrue(self.find_all("#statistics .bad"))
    self.shoot("nan-run-arguments")
    self.assert_silent()


def test_deadlock_of_a_plain_run(self):
    folder = self.record("deadlock-run", "run", "test/Driver/deadlock.mlir", "-p", "a2a3sim", code=1)
    self.open(self.page_of(folder))
    self.assertIn("Cross-core simulation deadlock", self.find("#errors").text)
    self.assertTrue(self.find_all("#errors .row.here"))
    self.tour("deadlock-run", {"run": ["error"], "pipes": ["pop from", "to_aic · 2 slots · full 0 % of the time, empty 100 %"]})


# -- Hostile and huge --------------------------------------------------------------------------------------------------


def timeline_of(tasks, kernels, workers=4):
    events = [{"ph": "M", "name": "thread_name", "pid": 1, "tid": 0, "args": {"name": "submit"}}]
    events += [{"ph": "M", "name": "thread_name", "pid": 1, "tid": 1 + w, "args": {"name": f"worker {w}"}} for w in range(workers)]
    for task in range(tasks):
        begin = task // workers * 12.5
        for cat, inset in (("task", 0), ("blocks", 1)):
            events.append({"ph": "X", "name": kernels[task % len(kernels)] if cat == "task" else "blocks [0..1)", "pid": 1, "tid": 1 + task % workers,
                           "ts": begin + inset, "dur": 10 - 2 * inset, "cat": cat, "args": {"task": task}})
        events.append({"ph": "C", "name": "ready tasks", "pid": 1, "tid": 0, "ts": begin, "args": {"tasks": task % 7}})
    return {"traceEvents": events}


def graph_of(tasks, kernels, width=16):
    edges = [{"from": task - width + shift, "to": task, "kind": kind, "tensor": "x", "arg_index": 0, "buffer_id": 1, "critical": False}
             for task in range(width, tasks) for shift, kind in ((0, "raw"), (1, "war")) if task - width + shift < task]
    return {"format": "kiln-task-graph", "version": 1, "title": "made up", "critical_path": {"tasks": [], "duration_us": 10}, "edges": edges,
            "tasks": [{"task": task, "kernel": kernels[task % len(kernels)], "state": "done", "grid": [1, 1, 1], "source": "prog.mlir:3:4", "begin_us": task * 3.0,
                       "duration_us": 10, "critical": task % 16 == 0, "scope": task // 256,
                       "arguments": [{"name": "x", "role": "in", "dtype": "f32", "shape": [64, 64], "strides": [64, 1], "buffer_id": task % 99 + 1, "byte_offset": 0}]}
                      for task in range(tasks)]}


def dump_of(folder, tasks, names, rows, cols):
    """A dump of one input for each task, of rows x cols; its payload is one file."""
    size = rows * cols * 4
    dump = folder / "tensor_dump"
    dump.mkdir(parents=True)
    entries = [{"task": task, "kernel": names[task % len(names)], "kernels": [names[task % len(names)]], "arg_index": 0, "arg_name": names[task % len(names)], "kind": "tensor",
                "role": "in", "stage": "before_dispatch", "dtype": "f32", "unsigned": False, "shape": [rows, cols], "strides": [cols, 1], "offset": 0, "contiguous": True,
                "address": "0x10", "buffer_id": 1, "internal": False, "marked": False, "bin_offset": task * size, "bin_size": size, "truncated": False} for task in range(tasks)]
    with open(dump / "tensor_dump.bin", "wb") as payload:
        line = struct.pack(f"<{cols}f", *((i * 37 % 101) / 50 - 1 for i in range(cols)))
        for task in range(tasks):
            payload.write(struct.pack("<f", task) + line[4:] + line * (rows - 1))
    (dump / "tensor_dump.json").write_text(json.dumps({
        "format": "kiln-tensor-dump", "version": 2, "level": 2, "run": {"program": names[0], "platform": "cpu", "seed": 0, "tasks": tasks, "status": "ok", "error": ""},
        "bin_file": "tensor_dump.bin", "bin_bytes": tasks * size, "totals": {"records": tasks, "tensors": tasks, "scalars": 0, "by_stage": {"before_dispatch": tasks, "after_completion": 0},
                                                                            "truncated": 0, "dropped": 0, "unsigned": 0}, "unsigned_tasks": [], "entries": entries}))


def fresh(self, name):
    import shutil
    folder = self.out / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return folder


def measure_frames(self, panel):
    """Milliseconds from frame to frame while a panel is zoomed and moved: the median and the worst."""
    self.show(panel)
    times = self.browser.execute_async_script("""
        const [panel, done] = arguments, canvas = document.querySelector(`#panel-${panel} canvas`), box = canvas.getBoundingClientRect(), times = [];
        let last = performance.now(), count = 0;
        const step = (now) => {
          times.push(now - last);
          last = now;
          canvas.dispatchEvent(new WheelEvent('wheel', {deltaY: count < 20 ? -120 : 120, clientX: box.left + box.width / 2, clientY: box.top + box.height / 2, cancelable: true}));
          if (++count < 40) requestAnimationFrame(step); else done(times.slice(2));
        };
        requestAnimationFrame(step);""", panel)
    times.sort()
    self.report.append(f"{self.id().rsplit('.', 1)[-1]}: {panel}: frame {times[len(times) // 2]:.1f} ms median, {times[-1]:.1f} ms worst, while zooming")


def measure_scrolling(self, panel, what):
    """The same while a list is scrolled from its begin to its end."""
    self.show(panel)
    times = self.browser.execute_async_script("""
        const [selector, done] = arguments, list = document.querySelector(selector), times = [], most = list.scrollHeight - list.clientHeight;
        let last = performance.now(), count = 0;
        const step = (now) => {
          times.push(now - last);
          last = now;
          list.scrollTop = most * count / 60;
          if (++count <= 60) requestAnimationFrame(step); else done([times.slice(2), most]);
        };
        requestAnimationFrame(step);""", what)
    times, most = times
    self.assertGreater(most, 1000, "there is nothing to scroll")
    times.sort()
    self.report.append(f"{self.id().rsplit('.', 1)[-1]}: {panel}: frame {times[len(times) // 2]:.1f} ms median, {times[-1]:.1f} ms worst, while scrolling {most} pixels")


def test_ten_thousand_tasks_and_a_large_dump(self):
    folder = fresh(self, "huge")
    kernels = [f"kernel_{i}" for i in range(12)]
    (folder / "timeline.json").write_text(json.dumps(timeline_of(10000, kernels)))
    (folder / "graph.json").write_text(json.dumps(graph_of(10000, kernels)))
    dump_of(folder, 400, kernels, 256, 256)  # 105 MB
    begin = time.monotonic()
    page = self.page_of(folder)
    made = time.monotonic() - begin
    opened = self.open(page, "timeline")
    self.report.append(f"10 000 tasks and a dump of 105 MB: page of {page.stat().st_size / 1e6:.1f} MB made in {made:.2f} s, opened and drawn in {opened:.2f} s")
    self.assertLess(opened, 10)  # a guard; the report has the number, which depends on who else uses the machine
    for panel in ("timeline", "graph"):
        measure_frames(self, panel)
    measure_scrolling(self, "arguments", "#panel-arguments .list")
    self.tour("huge", {"graph": ["10,000 tasks", "19,968 edges", "by scope"], "arguments": ["400 of 400 records"]})
    self.show("graph")
    from selenium.webdriver.support.ui import Select
    begin = time.monotonic()
    Select(self.find("#graph-mode")).select_by_value("tasks")
    self.settle()
    self.report.append(f"10 000 boxes laid out and drawn in {time.monotonic() - begin:.2f} s")
    self.shoot("huge-graph-every-task")
    measure_frames(self, "graph")
    self.assert_silent()


def test_more_tasks_than_a_page_draws(self):
    folder = fresh(self, "endless")
    (folder / "graph.json").write_text(json.dumps({"tasks": [{}] * 250000, "edges": [{"from": task, "to": task + 1, "kind": "raw"} for task in range(0, 249999, 100)]}))
    page = self.page_of(folder)
    self.assertLess(page.stat().st_size, 40e6)
    opened = self.open(page, "graph")
    self.report.append(f"250 000 tasks: the 200 000 of the page opened and drawn in {opened:.2f} s")
    self.assertIn("50,000 later tasks not drawn", self.find("#panel-graph .bar").text)
    self.assert_silent()


def test_code_with_many_passes(self):
    """What each pass changed is counted while the page already answers."""
    folder = fresh(self, "passes")
    number = random.Random(1).random
    stages = [{"name": f"pass-{stage}", "text": "\n".join(str(number()) for _ in range(3000)), "lines": []} for stage in range(300)]
    (folder / "code.json").write_text(json.dumps({"files": [], "stages": stages, "emitted": []}))
    self.open(self.page_of(folder), "code")
    self.assertIn("…", self.find(".stages button:last-child").text, "all passes are compared before the page shows one")
    self.find(".stages button:last-child").click()
    self.settle()
    self.assertIn("pass-299", self.find(".code > div:last-child .code-head").text)


def test_timeline_of_several_ranks(self):
    """Ranks have workers of the same numbers, and collectives."""
    folder = fresh(self, "ranks")
    events = []
    for rank in (0, 1):
        events += [{"ph": "M", "name": "process_name", "pid": rank + 1, "tid": 0, "args": {"name": f"made up, rank {rank}"}},
                   {"ph": "M", "name": "thread_name", "pid": rank + 1, "tid": 1, "args": {"name": "worker 0"}},
                   {"ph": "X", "name": f"kernel_{rank}", "pid": rank + 1, "tid": 1, "ts": 0, "dur": 10, "cat": "task", "args": {"task": 0}},
                   {"ph": "X", "name": "all_reduce", "pid": rank + 1, "tid": 2, "ts": 10, "dur": 5, "cat": "collective", "args": {"task": 1}}]
    (folder / "timeline.json").write_text(json.dumps({"traceEvents": events}))
    self.open(self.page_of(folder), "timeline")
    said = self.find("#panel-timeline").text
    for track in ("rank 0: worker 0", "rank 1: worker 0", "rank 1: track 2"):
        self.assertIn(track, said)
    self.assertNotIn("not understood", said)
    self.search("all_reduce", enter=True)
    self.assertIn("all_reduce", self.find("#panel-timeline .side h2").text)
    self.assert_silent()


def test_names_with_html_in_them(self):
    folder = fresh(self, "hostile-names")
    (folder / "timeline.json").write_text(json.dumps(timeline_of(50, [HOSTILE, "ok\u2028\u0000"])))
    (folder / "graph.json").write_text(json.dumps(graph_of(50, [HOSTILE, "</title>"])))
    dump_of(folder, 4, [HOSTILE], 4, 4)
    place = {"file": HOSTILE, "line": 2, "column": 1, "excerpt": {"first": 1, "lines": [HOSTILE, HOSTILE]}}
    (folder / "run.json").write_text(json.dumps({"program": HOSTILE, "platform": HOSTILE, "outcome": HOSTILE, "command": HOSTILE, "config": {HOSTILE: HOSTILE},
                                                "errors": [{"message": HOSTILE, "location": place}], "arguments": [{"name": HOSTILE, "type": HOSTILE}],
                                                "report": {"checks": [{"output": HOSTILE, "against": HOSTILE, "ok": False, "worst": HOSTILE}], "skipped": [HOSTILE]}}))
    (folder / "check.json").write_text(json.dumps({"verdict": HOSTILE, "findings": [
        {"kind": HOSTILE, "message": HOSTILE, "location": place, "notes": [{"message": HOSTILE, "location": place}], "replay": HOSTILE,
         "schedule": {"lanes": [{"instance": HOSTILE}], "steps": [{"lane": 0, "kind": HOSTILE, "what": HOSTILE, "location": place}]}}]}))
    (folder / "code.json").write_text(json.dumps({"files": [{"name": HOSTILE, "text": HOSTILE}], "stages": [{"name": HOSTILE, "text": HOSTILE, "lines": [[1, 0, 1]]}],
                                                 "emitted": [{"name": HOSTILE, "text": HOSTILE}]}))
    (folder / "memory.json").write_text(json.dumps({"functions": [{"name": HOSTILE, "role": HOSTILE, "memories": [
        {"name": HOSTILE, "capacity": 100, "used": 50, "rings": [{"pipe": HOSTILE, "address": 0, "slots": 2, "slot_bytes": 8}],
         "buffers": [{"address": 20, "bytes": 20, "copies": 1, "alive": [[0, 3]], "tiles": [{"tile": HOSTILE, "location": HOSTILE}]}]}]}]}))
    self.open(self.page_of(folder))
    self.tour("hostile-names", {"run": [HOSTILE]})
    self.show("run")
    self.assertFalse(self.browser.execute_script("return [...document.querySelectorAll('#panel-run .card')].some((card) => card.scrollWidth > card.clientWidth)"),
                     "a long name leaves its card")
    self.assertNotEqual(self.browser.title, "owned")
    self.assertEqual(self.find_all("main img, main script"), [])


def test_more_than_a_page_lays_out(self):
    """Lists that are as long as files may be: of each the page has as much as a browser lays out soon, and says how much more there is."""
    folder, many = fresh(self, "lists"), 50000
    place = {"file": "a.cpp", "line": 1, "excerpt": {"first": 1, "lines": ["x"] * many}}
    (folder / "run.json").write_text(json.dumps({"program": "p" * 10 ** 6, "errors": [{"message": "m", "location": place}] + [{"message": "m"}] * many, "arguments": [{"name": "a"}] * many,
                                                "config": {str(at): at for at in range(5000)}, "report": {"checks": [{"output": "o"}] * many, "skipped": ["s"] * many}}))
    (folder / "check.json").write_text(json.dumps({"incomplete": [{"what": "w"}] * many, "findings": [{"kind": "race", "message": "y " * 10 ** 6, "notes": [{"message": "n"}] * many, "schedule": {
        "lanes": [{"instance": "i"}] * 20, "steps": [{"lane": at % 20, "kind": "read", "what": "w"} for at in range(many)]}}] + [{}] * 4 * many}))
    (folder / "code.json").write_text(json.dumps({"files": [{"name": f"{at}.cpp", "text": "x" * 10 ** 6 if at == 0 else ""} for at in range(many)], "stages": [{"name": "s", "text": "t"}] * many}))
    (folder / "memory.json").write_text(json.dumps({"functions": [{"name": "f", "memories": [{"name": "m", "capacity": 9, "used": 9, "rings": [{"slots": 1e9}] * many, "buffers": [{"alive": [[0, 1]] * many}] * 3}] + [{"name": "n"}] * many}] * 2}))
    (folder / "graph.json").write_text(json.dumps({"tasks": [{"kernel": "k" * 10 ** 6, "arguments": [{"name": "a"}] * many}], "edges": []}))
    self.open(self.page_of(folder))
    for panel, said in (("run", "and 49,901 more"), ("graph", ""), ("memory", "only the first 20,000 are drawn"), ("code", "and 49,000 passes more"), ("findings", "and 199,001 more")):
        section = self.show(panel)
        if panel == "graph":
            self.search("k", enter=True)
            said = "and 49,500 more"
        self.assertTrue(said in section.text, panel)
        self.assertLess(len(section.find_elements("css selector", "*")), 30000, panel)
        self.assertLess(len(section.text), 400000, panel)
    self.assert_silent()


def test_task_that_is_no_object(self):
    """The tasks behind it keep their numbers, which edges and dumps name."""
    folder = fresh(self, "no-object")
    (folder / "graph.json").write_text(json.dumps({"tasks": [7, {"kernel": "first"}, {"kernel": "second"}], "edges": [{"from": 1, "to": 2, "kind": "raw"}]}))
    self.open(self.page_of(folder), "graph")
    self.assertIn("1 task or edge not understood", self.find("#panel-graph .bar").text)
    self.search("second", enter=True)
    self.assertIn("1: first", self.find("#panel-graph .side").text)
    self.assert_silent()


def test_files_of_the_wrong_kind(self):
    """JSON that is valid and holds something else in every place: no panel hangs, and none is code."""
    strange = [None, "x\ud800", [None], [[]], {"a": 1}, [-1e308]]
    for number, value in enumerate(strange):
        folder = fresh(self, f"strange-{number}")
        run = {key: value for key in ("program", "platform", "outcome", "errors", "config", "arguments", "report", "findings", "seed")}
        check = {key: value for key in ("verdict", "plan", "groups", "incomplete", "command")} | {"findings": [value, {"message": value, "location": value, "notes": value,
                 "schedule": {"lanes": value, "steps": [value, {"lane": value, "location": value, "kind": value}]}}]}
        code = {"files": [value, {"name": value, "text": value}], "stages": [value, {"name": value, "text": value, "lines": [value]}], "emitted": [value]}
        memory = {"functions": [value, {"name": value, "memories": [value, {"name": value, "capacity": value, "used": value, "rings": [value],
                  "buffers": [value, {"alive": [value], "tiles": [value]}]}]}]}
        for name, content in (("run", run), ("check", check), ("code", code), ("memory", memory), ("graph", {"tasks": [value, {"arguments": value, "grid": value}], "edges": [value]}),
                              ("timeline", {"traceEvents": [value, {"ph": "X", "ts": value, "dur": value, "tid": value}, {"ph": "C", "ts": 1, "args": value}]})):
            (folder / (name + ".json")).write_text(json.dumps(content))
        self.open(self.page_of(folder))
        for panel in ("run", "timeline", "graph", "arguments", "pipes", "memory", "code", "findings"):
            self.show(panel)
        # A panel may say that it cannot be drawn, but nothing is thrown past it.
        self.assertEqual([entry["message"] for entry in self.browser.get_log("browser") if entry["level"] == "SEVERE"], [], f"value {value!r}")


def test_truncated_files(self):
    folder = self.record("truncated", "run", example(self, "vector_dag"), "--no-reference", "--no-formula")
    for name in ("timeline.json", "graph.json", "run.json", "code.json", "tensor_dump/tensor_dump.json"):
        text = (folder / name).read_bytes()
        (folder / name).write_bytes(text[:len(text) // 2])
    self.open(self.page_of(folder))
    self.assertIn("5 files left out", self.find("#pills").text)
    self.tour("truncated", {"run": ["timeline.json is left out"], "timeline": ["holds no timeline"]})
    (folder / "run.json").write_text("[" * 100000 + "]" * 100000)
    self.open(self.page_of(folder))
    self.assertIn("levels deep", self.show("run").text)


# -- Served ------------------------------------------------------------------------------------------------------------


def send_quietly(connection, data):
    try:
        connection.sendall(data)
    except OSError:
        pass


def received(connection):
    """What came over a connection that the other side has ended: None if it was reset."""
    connection.settimeout(5)
    try:
        return connection.recv(100)
    except ConnectionResetError:
        return None


def test_who_takes_nothing_keeps_nobody_out(self):
    folder = fresh(self, "served-slowly")
    dump_of(folder, 400, ["k"], 128, 128)
    server = subprocess.Popen([str(self.build / "bin" / "kiln"), "view", str(folder), "--serve", "--json"], stdout=subprocess.PIPE, text=True)
    try:
        port, token = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/([0-9a-f]{32})/", json.loads(server.stdout.readline())["address"]).groups()
        ask = f"GET /{token}/ HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode()
        slow = []
        for _ in range(20):
            each = socket.socket()
            each.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
            each.connect(("127.0.0.1", int(port)))
            each.sendall(ask)
            each.setblocking(False)
            slow.append(each)
        ends = time.monotonic() + 30

        def drip():  # a little now and then, as a hostile reader takes
            while time.monotonic() < ends:
                for each in slow:
                    try:
                        each.recv(1024)
                    except OSError:
                        pass
                time.sleep(.5)
        dripping = threading.Thread(target=drip, daemon=True)
        dripping.start()
        time.sleep(1)
        begin = time.monotonic()
        connection = http.client.HTTPConnection("127.0.0.1", int(port), timeout=60)
        connection.request("GET", f"/{token}/")
        self.assertGreater(len(connection.getresponse().read()), 1e6)
        self.assertLess(time.monotonic() - begin, 20)
        ends = 0
        dripping.join()
        for each in slow:
            each.close()
    finally:
        server.kill()
        server.wait()


def test_served_page(self):
    folder = fresh(self, "served")
    dump_of(folder, 2, ["k"], 600, 700)
    server = subprocess.Popen([str(self.build / "bin" / "kiln"), "view", str(folder), "--serve", "--json"], stdout=subprocess.PIPE, text=True)
    try:
        address = json.loads(server.stdout.readline())["address"]
        port, token = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/([0-9a-f]{32})/", address).groups()

        def ask(path, host=None, method="GET"):
            connection = http.client.HTTPConnection("127.0.0.1", int(port), timeout=10)
            connection.request(method, path, headers={"Host": host} if host else {})
            answer = connection.getresponse()
            return answer.status, answer.read()

        values = f"/{token}/values?entry=1&row=599&col=698&rows=1&cols=2"
        self.assertEqual(ask(f"/{token}/")[0], 200)
        status, body = ask(values)
        self.assertEqual(status, 200)
        want = [(698 * 37 % 101) / 50 - 1, (699 * 37 % 101) / 50 - 1]
        for have, each in zip(struct.unpack("<2d", body), want):
            self.assertAlmostEqual(have, each, 6)
        self.assertEqual(ask(values, host="example.com")[0], 403)
        self.assertEqual(ask(values, host=f"localhost:{port}")[0], 200)
        self.assertEqual(ask(values, method="POST")[0], 405)
        # Who connects and says nothing, or a byte now and then, keeps nobody out for long.
        idle = [socket.create_connection(("127.0.0.1", int(port))) for _ in range(20)]
        for each in idle:
            each.sendall(b"GET /")
        drip = threading.Thread(target=lambda: [time.sleep(.3) or send_quietly(each, b"a") for _ in range(20) for each in idle[:1]])
        drip.start()
        begin = time.monotonic()
        self.assertEqual(ask(f"/{token}/")[0], 200)
        self.assertLess(time.monotonic() - begin, 5)
        drip.join()
        for each in idle:
            self.assertIn(received(each), (b"", None), "an unfinished request is answered, or its connection kept")
            each.close()
        for path in ("/", "/" + "0" * 32 + "/", f"/{token}", f"/{token}/../etc/passwd", f"/{token}/run.json", "/%2e%2e/", values + "&cols=9" * 0 + "0"):
            self.assertEqual(ask(path)[0], 404, path)
        for query in ("", "entry=1", "entry=x&row=0&col=0&rows=1&cols=1", "entry=1&row=-1&col=0&rows=1&cols=1", "entry=1&row=0&col=0&rows=1&cols=1&more=1"):
            self.assertEqual(ask(f"/{token}/values?{query}")[0], 400, query)
        for query in ("entry=9&row=0&col=0&rows=1&cols=1", "entry=1&row=600&col=0&rows=1&cols=1", "entry=1&row=0&col=0&rows=600&cols=700"):
            self.assertEqual(ask(f"/{token}/values?{query}")[0], 404, query)
        self.open(address, "arguments")
        canvas = self.find("#panel-arguments .map canvas")
        for _ in range(14):
            canvas.send_keys("w")
        time.sleep(.4)
        self.settle()
        from selenium.webdriver.common.action_chains import ActionChains
        ActionChains(self.browser).move_to_element(canvas).perform()
        self.settle()
        self.assertRegex(self.find("#under").text, r"^k\[\d+, \d+\] = ")
        self.shoot("served-arguments")
        self.assert_silent()
    finally:
        server.kill()
        server.wait()
