"""Writes generated files. One that would not change is left alone, so that nothing is compiled again for it."""
import os


def write(path, text):
    if os.path.exists(path):
        with open(path) as file:
            if file.read() == text:
                return
    with open(path, "w") as file:
        file.write(text)
