"""Writes what the table of elementwise operations (TileElementwise.td) means to each part of Kiln.

Usage: elementwise.py RECORDS OUT DOCS

RECORDS is what `llvm-tblgen -dump-json` makes of TileOps.td. OUT receives one file for each part that
includes one; DOCS the page of the documentation.
"""
import json
import os
import sys

from write_if_changed import write


class Row:
    """One operation of the table, with the fields of its record as attributes."""

    def __init__(self, record, records):
        self.__dict__.update({name: value for name, value in record.items() if not name.startswith("!")})
        self.type = record["!name"].removeprefix("Tile_").removesuffix("Op")
        self.op = f"tile::{self.type}Op"
        self.name = record["opName"]
        self.operands = len(record["arguments"]["args"])
        self.line = int(record["!locs"][0].rsplit(":", 1)[1])
        self.torch = [records[rule["def"]] for rule in record["torch"]]
        self.random_kind = record["random"]["def"]
        self.random = records[self.random_kind]
        traits = {trait["def"] for trait in record["traits"]}
        self.of_floats = not traits & {"Tile_OfIntegers", "Tile_OfWideIntegers"}
        self.of_ints = "Tile_OfFloats" not in traits
        self.of_bools = self.of_ints and "Tile_OfWideIntegers" not in traits

    def is_operator(self):
        return self.cpp.startswith("operator")

    def spelled(self):
        """How error messages and the documentation call it: the sign of an operator, or its name."""
        return self.cpp.removeprefix("operator")

    def device_name(self):
        return f"bit_{self.name}" if self.name in ("and", "or", "xor", "not") else self.name

    def parameters(self, of):
        return ", ".join(f"{of} {name}" for name in "xy"[: self.operands])

    def elements(self):
        kinds = [("floats", self.of_floats), ("integers", self.of_ints), ("truth values", self.of_bools)]
        return ", ".join(kind for kind, fits in kinds if fits)


def front_end(row):
    """The function of C++ that records it."""
    if row.operands == 2:
        signature, operands, where = f"{row.cpp}(TileOperand lhs, TileOperand rhs)", "lhs, rhs", "lhs.where"
    elif row.is_operator():
        signature, operands, where = f"{row.cpp}(TileOperand x)", "x", "x.where"
    else:
        signature, operands, where = f"{row.cpp}(TileArg x, Where where = Where::current())", "x", "where"
    body = f'{{ return detail::recordTile("{row.name}", {{{operands}}}, {where}); }}'
    return f"/// {row.summary}\ninline Tile {signature} {body}"


def recorded(row):
    """The operation of the recorder."""
    if row.operands == 2:
        names, of = '{"lhs", "rhs"}', "const TileOperand &lhs, const TileOperand &rhs"
        call = f'binary<{row.op}>("{row.spelled()}", lhs, rhs)'
    else:
        names, of = '{"x"}', "const TileOperand &x" if row.is_operator() else "const TileArg &x"
        call = f'math<{row.op}>("{row.spelled()}", x)'
    return f'list.push_back(operation("{row.name}", "{row.summary}", {names}, []({of}) {{ return {call}; }}));'


def torch(row):
    return "\n".join(
        f'{{"tile.{row.name}", {rule["kinds"]}, "{rule["pattern"]}", Prec::{rule["precedence"]}, '
        f'{"Rounds" if rule["rounds"] else "Exact"}, "{row.hint}"}},'
        for rule in row.torch
    )


def formulas(row):
    """A function object for each type that the simulator computes in."""
    lines = [f"struct {row.type} {{"]
    for of, formula in (("float", row.floats), ("int64_t", row.ints)):
        if formula:
            lines.append(f"  {of} operator()({row.parameters(f'std::same_as<{of}> auto')}) const {{ return {formula}; }}")
    return "\n".join(lines + ["};"])


def simulator(row):
    how = "divide" if row.divides else "zip" if row.operands == 2 else "map"
    return f"table.add<{row.op}, {how}<{row.type}>>();"


def bounds(row):
    if row.bounds == "all":
        return None
    return f".Case([&]([[maybe_unused]] {row.op} op) -> Bounds {{ return {row.bounds}; }})"


def combinations(row):
    return f".Case([]({row.op}) {{ return tile::ReduceKind::{row.combines}; }})" if row.combines else None


def commutative(row):
    return f".Case([]({row.op}) {{ return true; }})" if row.commutes else None


def long_functions(row):
    return f".Case([]({row.op}) {{ return true; }})" if row.takesLong else None


def ascend(row):
    return f'.Case([]({row.op}) {{ return "{row.ascend}"; }})' if row.ascend else None


def cpu(row):
    return f"table.addPointwise<{row.op}>(elementwise<{row.cpuFloats or 'nullptr'}, {row.cpuInts or 'nullptr'}>);"


def cuda(row):
    return f'{{"tile.{row.name}", "{row.device_name()}"}},' if row.cuda else None


def device(row):
    if not row.cuda:
        return None
    return f"KILN_{'BINARY' if row.operands == 2 else 'UNARY'}({row.device_name()}, {row.cuda})"


def random_functions(row):
    if row.random_kind == "OwnStatement":
        return None
    if row.random_kind == "Jumps":
        return f'{{.op = "tile.{row.name}", .jumps = true}},'
    fields = ", ".join(f".{name} = {row.random[name]}" for name in ("low", "high", "bound", "slope"))
    return f'{{.op = "tile.{row.name}", {fields}}},'


def tests(row):
    kinds = ", ".join("true" if fits else "false" for fits in (row.of_floats, row.of_ints, row.of_bools))
    formula = f"[](double x) -> double {{ return {row.floats}; }}" if row.operands == 1 and row.floats else "nullptr"
    return f'{{"{row.name}", {row.operands}, {kinds}, {formula}}},'


def document(row):
    x = {1: "x", 2: "lhs, rhs"}[row.operands]
    written = f"{row.cpp}({x})"
    if row.is_operator():
        written = f"lhs {row.spelled()} rhs" if row.operands == 2 else f"{row.spelled()}x"
    written = written.replace("|", "\\|")
    return f"| `{written}` | `tile.{row.name}` | {row.elements()} | {row.summary} |"


PAGE = """# Elementwise operations

The rows of `include/kiln/Dialect/Tile/TileElementwise.td`.

| C++ | text | elements | is |
|---|---|---|---|
"""

FILES = {
    "FrontEnd.h.inc": front_end,
    "Record.inc": recorded,
    "Torch.inc": torch,
    "Formulas.inc": formulas,
    "Simulator.inc": simulator,
    "Bounds.inc": bounds,
    "Combinations.inc": combinations,
    "Commutative.inc": commutative,
    "Cpu.inc": cpu,
    "LongFunctions.inc": long_functions,
    "Cuda.inc": cuda,
    "Ascend.inc": ascend,
    "Device.inc": device,
    "Random.inc": random_functions,
    "Tests.inc": tests,
}


def main(records_path, out, docs):
    with open(records_path) as file:
        records = json.load(file)
    rows = [Row(records[name], records) for name in records["!instanceof"]["Tile_Row"]]
    rows.sort(key=lambda row: row.line)
    os.makedirs(out, exist_ok=True)
    os.makedirs(os.path.dirname(docs), exist_ok=True)
    for name, line_of in FILES.items():
        lines = [line for line in map(line_of, rows) if line is not None]
        text = "\n".join(lines)
        if line_of is device:  # the text of a header, as a string
            text = f'R"KILN({text}\n)KILN"'
        write(os.path.join(out, name), f"// Made from TileElementwise.td by cmake/elementwise.py.\n{text}\n")
    write(docs, PAGE + "\n".join(map(document, rows)) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
