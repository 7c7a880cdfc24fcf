"""What an adaptive integration does in several places, as functions: rates, inputs, sums of rates, dense output."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

import numpy as np
import numpy.typing as npt

from trundle.program.llvm.dormand_prince import DENSE, FIFTH, STAGES, THIRD
from trundle.program.llvm.jit import Code, element
from trundle.program.llvm.llvm_table import TableWriter

WORDS = (
    # The rates' code, the table that it takes, and the words of this one for the state and the rates.
    *("rate", "rate_table", "rate_in", "rate_out"),
    # Rows: the state, at a stage, after the step, rates at all stages, dense output, bounds on errors, zeros; and
    # `WEIGHTS`.
    *("x", "y", "after", "k", "dense", "bounds", "zeros", "weights"),
    # Padded length of a row; the relative bound; one by the number of states that a mean counts.
    *("size", "relative", "share"),
    # Where it is, the step that comes next and the longest, the error of the last step, whether one has just failed.
    *("time", "step", "longest", "error", "failed"),
    # Pieces: which, how many, where they end, whether samples are due; inside one or about to begin it.
    *("piece", "pieces", "edges", "jumps", "inside"),
    # Inputs: coefficients (pieces, inputs, 4), the row of values, how many, whether any moves on a piece.
    *("coefficients", "inputs", "input_count", "moving"),
    # What is sampled: code, table, its word for the clocks that are due, (pieces, clocks), what comes out, how many.
    *("sampling", "sampling_table", "sampling_due", "due", "clocks", "sampled", "own"),
    # Times that are wanted, how many, which is next, and the rows there.
    *("wanted", "wanted_count", "next_wanted", "stored"),
    # Steps: times, pieces and rows, how many, room for how many, and into how many parts a step is cut.
    *("kept_times", "kept_pieces", "kept", "kept_count", "room", "parts"),
    # Steps so far, failed ones among them, and how many there may be; why it came back.
    *("steps", "most", "status"),
)
_SUMS = (*STAGES, FIFTH, THIRD, *DENSE)
AT_FIFTH, AT_THIRD, AT_DENSE = len(STAGES), len(STAGES) + 1, len(STAGES) + 2
"""The rows of weights that errors and the dense output have; those before are the stages'."""
_MOST_TERMS = max(map(len, _SUMS))


@cache
def weights() -> npt.NDArray[np.float64]:
    """Sums of rates, one a row: how many terms, then the stage and the weight of every term; wholes as words."""
    rows = np.zeros((len(_SUMS), 1 + 2 * _MOST_TERMS))
    for row, terms in zip(rows, _SUMS, strict=True):
        words = row.view(np.int64)
        words[0] = len(terms)
        words[1 : 1 + 2 * len(terms) : 2] = list(terms)
        row[2 : 2 + 2 * len(terms) : 2] = list(terms.values())
    return rows


def add_functions(writer: TableWriter) -> None:
    """Rates at a row, inputs at a time, the polynomial between two steps, and sums of rates."""
    for name, arguments, body in (
        ("rates", "ptr %table, ptr %from, ptr %to", _rates_body),
        ("inputs", "ptr %table, double %time", _inputs_body),
        ("between", "ptr %table, double %part, ptr %to", _between_body),
        ("sum", "ptr %table, i64 %which, double %h, ptr %base, ptr %to", _sum_body),
    ):
        own = TableWriter(Code(writer.width), WORDS)
        body(own)
        own.code.do("ret void")
        writer.code.add_function(name, arguments, own.code)


def _rates_body(own: TableWriter) -> None:
    for word, value in (("rate_in", "%from"), ("rate_out", "%to")):
        own.code.do(f"store ptr {value}, ptr {own.get(word, 'ptr')}")
    own.code.do(f"call void {own.get('rate', 'ptr')}(ptr {own.get('rate_table', 'ptr')})")


def _inputs_body(own: TableWriter) -> None:
    """u = ((c₃ τ + c₂) τ + c₁) τ + c₀, τ since the piece began."""
    code, piece, count = own.code, own.get("piece"), own.get("input_count")
    since = own.one.sub("%time", own.word_at("edges", piece))
    first = own.integer("mul", piece, own.integer("mul", count, 4))
    rows, values = element(code, own.get("coefficients", "ptr"), first), own.get("inputs", "ptr")

    def one(index: str, _: list[str]) -> Iterable[str]:
        begin = own.integer("mul", index, 4)
        value = ""
        for power in (3, 2, 1, 0):
            place = element(code, rows, own.integer("add", begin, str(power)))
            each = code.new(f"load double, ptr {place}")
            value = own.one.add(own.one.mul(value, since), each) if value else each
        code.do(f"store double {value}, ptr {element(code, values, index)}")
        return ()

    own.loop("each", count, one, stride=1)


def _between_body(own: TableWriter) -> None:
    """x + θ (d₀ + (1 − θ) (d₁ + θ (d₂ + …)))."""
    own.code.do(f"%size = load i64, ptr {own.slot('size')}")
    own.code.do(f"%dense = load ptr, ptr {own.slot('dense')}")
    x = own.get("x", "ptr")
    part = own.code.splat("%part")
    rest = own.code.splat(own.one.sub(1.0, "%part"))

    def one(index: str, _: list[str]) -> Iterable[str]:
        value = ""
        for place in reversed(range(3 + len(DENSE))):
            each = own.load(own.row("%dense", place), index)
            value = own.vector_op("fadd", value, each) if value else each
            value = own.vector_op("fmul", value, rest if place % 2 else part)
        own.store(own.vector_op("fadd", own.load(x, index), value), "%to", index)
        return ()

    own.loop("row", "%size", one)


def _sum_body(own: TableWriter) -> None:
    """base + h Σ w_j k_j, vector by vector."""
    code = own.code
    code.do(f"%size = load i64, ptr {own.slot('size')}")
    code.do(f"%k = load ptr, ptr {own.slot('k')}")
    first = own.integer("mul", "%which", str(1 + 2 * _MOST_TERMS))
    code.do(f"%terms = getelementptr i64, ptr {own.get('weights', 'ptr')}, i64 {first}")
    count = code.new("load i64, ptr %terms")
    wide = own.code.splat("%h")
    own.go("row")
    own.label("row")
    code.do("%row.index = phi i64 [ 0, %entry ], [ %row.next, %row.end ]")
    own.go("term")
    own.label("term")
    code.do("%term.index = phi i64 [ 0, %row ], [ %term.next, %term ]")
    code.do(f"%total = phi {own.vector} [ zeroinitializer, %row ], [ %total.next, %term ]")
    place = own.integer("shl", "%term.index", 1)
    at, then = (element(code, "%terms", own.integer("add", place, each)) for each in "12")
    stage, weight = code.new(f"load i64, ptr {at}"), code.new(f"load double, ptr {then}")
    row = element(code, "%k", own.integer("mul", "%size", stage))
    product = own.vector_op("fmul", own.code.splat(weight), own.load(row, "%row.index"))
    code.do(f"%total.next = fadd contract {own.vector} %total, {product}")
    code.do("%term.next = add i64 %term.index, 1")
    own.branch(own.integer("icmp slt", "%term.next", count), "term", "row.end")
    own.label("row.end")
    change = own.vector_op("fmul", wide, "%total.next")
    own.store(own.vector_op("fadd", own.load("%base", "%row.index"), change), "%to", "%row.index")
    code.do(f"%row.next = add i64 %row.index, {own.width}")
    own.branch(own.integer("icmp slt", "%row.next", "%size"), "row", "out")
    own.label("out")
