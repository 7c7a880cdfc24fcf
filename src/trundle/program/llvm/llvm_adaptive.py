"""Native code of an adaptive integration, the same for all programs: their own code is called by its address.

Dormand and Prince's method of order 8 from piece to piece of the inputs, on which they are polynomials of the third
degree. At the beginning of a piece a second program may change the state (what is sampled there). The function stops
where its room is full or its steps are spent, and goes on when it is called again: all that it knows is in its table
of 64-bit words, `WORDS`, and in the arrays that these point at. Rows of numbers are padded to whole vectors.
"""

from __future__ import annotations

from collections.abc import Iterable

from trundle.program.llvm.dormand_prince import AT, DENSE
from trundle.program.llvm.formula import Formula
from trundle.program.llvm.jit import Code, element, number
from trundle.program.llvm.llvm_stages import AT_DENSE, AT_FIFTH, AT_THIRD, WORDS, add_functions
from trundle.program.llvm.llvm_table import TableWriter

SIGNATURE = "ptr %table"
DONE, GOES_ON, STUCK = 0, 1, 2
"""Why it came back: it is at the end, its room or its steps are used up, or its steps get too short for the time."""

# Of the step's length: a margin, the least and the greatest change, and the share of the last error (Gustafsson's).
_SAFE, _LEAST, _MOST, _MEMORY = 0.9, 1 / 3, 6.0, 0.04
# A step shorter than so many roundings of the time is stuck.
_SHORTEST = 16 * 2.0**-52


def emit_adaptive(width: int) -> Code:
    """The whole function for vectors of so many numbers."""
    return _Writer(Code(width), WORDS).write()


class _Writer(TableWriter):
    """Writes the function block by block: pieces, steps, what is stored of them."""

    def leave(self, status: int) -> None:
        """Back to who called."""
        self.set("status", str(status))
        self.code.do("ret void")

    def write(self) -> Code:
        """All its blocks."""
        code = self.code
        code.do(f"%size = load i64, ptr {self.slot('size')}")
        for name in ("x", "y", "after", "k", "dense"):
            code.do(f"%{name} = load ptr, ptr {self.slot(name)}")
        add_functions(self)
        self.branch(self.integer("icmp ne", self.get("inside"), 0), "step", "piece")
        self._piece()
        self._begin()
        self._step()
        self._accept()
        self._keep()
        self._on()
        self.label("full")
        self.leave(GOES_ON)
        return code

    def sum(self, which: int, h: str, base: str, to: str) -> None:
        """base + h Σ w_j k_j with one of the rows of weights."""
        self.code.do(f"call void @sum(ptr %table, i64 {which}, double {h}, ptr {base}, ptr {to})")

    def rates(self, at: str, to: str) -> None:
        """ẋ of a row."""
        self.code.do(f"call void @rates(ptr %table, ptr {at}, ptr {to})")

    def copy(self, name: str, source: str, target: str) -> None:
        """A row to another place."""

        def one(index: str, _: list[str]) -> Iterable[str]:
            self.store(self.load(source, index), target, index)
            return ()

        self.loop(name, "%size", one)

    def _piece(self) -> None:
        """At a piece's beginning: samples that are due, then inputs, and the wanted times that are now."""
        self.label("piece")
        piece = self.get("piece")
        self.branch(self.integer("icmp slt", piece, self.get("pieces")), "enter", "done")
        self.label("done")
        self.leave(DONE)
        self.label("enter")
        room = self.integer("icmp slt", self.integer("add", self.get("kept_count"), 1), self.get("room"))
        self.branch(room, "arrive", "full")
        self.label("arrive")
        begin = self.word_at("edges", piece)
        self.set("time", begin, "double")
        some = self.integer("icmp ne", self.get("input_count"), 0)
        self.branch(some, "hear", "heard")
        self.label("hear")
        self.code.do(f"call void @inputs(ptr %table, double {begin})")
        self.go("heard")
        self.label("heard")
        due = self.integer("icmp ne", self.word_at("jumps", piece, "i64"), 0)
        self.branch(due, "sample", "now")
        self.label("sample")
        self._sample(piece)
        self.go("now")
        self.label("now")
        self._store_now(begin)

    def _sample(self, piece: str) -> None:
        """The state after what is sampled."""
        code = self.code
        first = self.integer("mul", piece, self.get("clocks"))
        code.do(
            f"store ptr {element(code, self.get('due', 'ptr'), first)}, ptr {self.get('sampling_due', 'ptr')}"
        )
        code.do(f"call void {self.get('sampling', 'ptr')}(ptr {self.get('sampling_table', 'ptr')})")
        sampled = self.get("sampled", "ptr")

        def one(index: str, _: list[str]) -> Iterable[str]:
            value = code.new(f"load double, ptr {element(code, sampled, index)}")
            code.do(f"store double {value}, ptr {element(code, '%x', index)}")
            return ()

        self.loop("hold", self.get("own"), one, stride=1)

    def _store_now(self, begin: str) -> None:
        """The state at all wanted times that are not later than the piece's beginning; on where it has a length."""
        self.go("ask.now")
        self.label("ask.now")
        self._next_wanted("ole", begin, "tell.now", "told.now")
        self.label("tell.now")
        self.copy("copy.now", "%x", self._row_of_next())
        self._count("next_wanted")
        self.go("ask.now")
        self.label("told.now")
        end = self.word_at("edges", self.integer("add", self.get("piece"), 1))
        self.branch(self.one.test("ogt", end, begin), "begin", "over")
        self.label("over")
        self._count("piece")
        self.go("piece")

    def _next_wanted(self, than: str, time: str, then: str, otherwise: str) -> None:
        """Whether there is a next wanted time that is earlier than another one."""
        index, name = self.get("next_wanted"), then.replace(".", "_")
        self.branch(self.integer("icmp slt", index, self.get("wanted_count")), f"is_{name}", otherwise)
        self.label(f"is_{name}")
        self.branch(self.one.test(than, self.word_at("wanted", index), time), then, otherwise)

    def _row_of_next(self) -> str:
        place = self.integer("mul", self.get("next_wanted"), "%size")
        return element(self.code, self.get("stored", "ptr"), place)

    def _count(self, word: str) -> None:
        self.set(word, self.integer("add", self.get(word), 1))

    def _begin(self) -> None:
        """The first rates of a piece."""
        self.label("begin")
        self._note("first", "%x", self.get("time", "double"))
        self.rates("%x", "%k")
        self.set("inside", "1")
        self.go("step")

    def _note(self, name: str, row: str, time: str) -> None:
        """Keep a row and its time."""
        code, count = self.code, self.get("kept_count")
        for array, kind, value in (("kept_times", "double", time), ("kept_pieces", "i64", self.get("piece"))):
            place = code.new(f"getelementptr i64, ptr {self.get(array, 'ptr')}, i64 {count}")
            code.do(f"store {kind} {value}, ptr {place}")
        target = element(code, self.get("kept", "ptr"), self.integer("mul", count, "%size"))
        self.copy(f"note.{name}", row, target)
        self._count("kept_count")

    def _step(self) -> None:
        """One step: its length, its stages, its error."""
        self.label("step")
        count = self.integer("add", self.get("kept_count"), self.get("parts"))
        self.branch(self.integer("icmp slt", count, self.get("room")), "roomy", "full")
        self.label("roomy")
        self.branch(self.integer("icmp slt", self.get("steps"), self.get("most")), "try", "full")
        self.label("try")
        self._count("steps")
        h, ahead, end, last = self._length()
        self._stages(h)
        error = self._error(h)
        self._judge(h, error, ahead)
        self.h, self.end, self.last = h, end, last

    def _length(self) -> tuple[str, str, str, str]:
        """How long the step is, how long the controller meant it to be, where it ends, and whether that is the piece's
        end; the last two are of one length.
        """
        time, w = self.get("time", "double"), self.one
        self.code.do(f"%time = fadd double {time}, {number(-0.0)}")
        wish, longest = self.get("step", "double"), self.get("longest", "double")
        wish = w.pick(w.test("olt", wish, longest), wish, longest)
        edge = self.word_at("edges", self.integer("add", self.get("piece"), 1))
        rest = w.sub(edge, time)
        last = w.test("ole", rest, w.mul(wish, 1 + 1e-9))
        twice = w.test("olt", rest, w.mul(wish, 2.0))
        half = w.pick(twice, w.mul(rest, 0.5), wish)
        h = w.pick(last, rest, half)
        return h, wish, w.pick(last, edge, w.add(time, h)), last

    def _stages(self, h: str) -> None:
        """x + h Σ a_j k_j at every stage, and the rates there; stage 12 is the state after the step."""
        for stage in range(1, 13):
            self.sum(stage, h, "%x", "%after" if stage == 12 else "%y")
            if stage < 12:
                self._rates_at(stage, h, "%y")

    def _rates_at(self, stage: int, h: str, row: str) -> None:
        """The rates at a stage's row, after the inputs at its time where any moves."""
        name = f"rates{stage}"
        moving = self.integer("icmp ne", self.get("moving"), 0)
        self.branch(moving, f"{name}.heard", name)
        self.label(f"{name}.heard")
        time = self.one.add("%time", self.one.mul(h, AT[stage]))
        self.code.do(f"call void @inputs(ptr %table, double {time})")
        self.go(name)
        self.label(name)
        self.rates(row, self.row("%k", stage))

    def _error(self, h: str) -> str:
        """|h| e₅ / √(N (e₅ + e₃/100)), with e the sums of squares of errors by their bounds."""
        rows, zeros = (self.row("%dense", 0), self.row("%dense", 1)), self.get("zeros", "ptr")
        for which, row in zip((AT_FIFTH, AT_THIRD), rows, strict=True):
            self.sum(which, number(1.0), zeros, row)
        bounds, relative = self.get("bounds", "ptr"), self.code.splat(self.get("relative", "double"))
        w, wide = self.one, Formula(self.code, self.width)

        def one(index: str, sums: list[str]) -> list[str]:
            """Both sums, with the squares of this state's errors by its bound."""
            old, new = (wide.call("fabs", self.load(row, index)) for row in ("%x", "%after"))
            largest = wide.pick(wide.test("ogt", old, new), old, new)
            bound = self.vector_op(
                "fadd", self.load(bounds, index), self.vector_op("fmul", relative, largest)
            )
            found = list[str]()
            for row, total in zip(rows, sums, strict=True):
                share = self.vector_op("fdiv", self.load(row, index), bound)
                found.append(self.vector_op("fadd", total, self.vector_op("fmul", share, share)))
            return found

        fifth, third = self.loop("errors", "%size", one, sums=2)
        both = w.add(fifth, w.mul(third, 0.01))
        root = w.call("sqrt", w.div(self.get("share", "double"), both))
        error = w.mul(w.mul(h, fifth), root)
        return w.pick(w.test("oeq", both, 0.0), 0.0, error)

    def _judge(self, h: str, error: str, wish: str) -> None:
        """On where the error is small enough; else once more by a shorter step."""
        w = self.one
        self.branch(w.test("ole", error, 1.0), "accept", "fail")
        self.label("fail")
        factor = w.mul(_SAFE, self._power(error, -1 / 8))
        useful = w.test("ogt", factor, _LEAST)  # not where it is NaN
        shorter = w.mul(h, w.pick(useful, factor, _LEAST))
        self.set("step", shorter, "double")
        self.set("failed", "1")
        least = w.add(w.mul(w.call("fabs", "%time"), _SHORTEST), 1e-300)
        self.branch(w.test("ogt", shorter, least), "step", "stuck")
        self.label("stuck")
        self.leave(STUCK)
        self.label("accept")
        error = w.pick(w.test("ogt", error, 1e-10), error, 1e-10)
        before = self._power(self.get("error", "double"), _MEMORY)
        factor = w.mul(w.mul(_SAFE, before), self._power(error, -1 / 8 + 0.2 * _MEMORY))
        most = w.pick(self.integer("icmp ne", self.get("failed"), 0), 1.0, _MOST)
        factor = w.pick(w.test("olt", factor, most), factor, most)
        factor = w.pick(w.test("ogt", factor, _LEAST), factor, _LEAST)
        following = w.mul(h, factor)
        # A step that the piece's end cut short says nothing against a longer one.
        cut = w.test("olt", h, wish)
        longer = w.pick(w.test("ogt", following, wish), following, wish)
        self.set("step", w.pick(cut, longer, following), "double")
        self.set("error", w.pick(w.test("ogt", error, 1e-4), error, 1e-4), "double")
        self.set("failed", "0")

    def _power(self, base: str, exponent: float) -> str:
        self.code.symbols.add("pow")
        return self.code.call("pow", "double", base, number(exponent))

    def _accept(self) -> None:
        """The rates after the step; where something between is asked for, the polynomial, too."""
        self._rates_at(12, self.h, "%after")
        parts = self.integer("icmp sgt", self.get("parts"), 1)
        self.branch(parts, "fit", "ask")
        self.label("ask")
        self._next_wanted("olt", self.end, "fit", "keep")
        self.label("fit")
        for stage in (13, 14, 15):
            self.sum(stage, self.h, "%x", "%y")
            self._rates_at(stage, self.h, "%y")
        self._polynomial(self.h)
        self.go("ask.between")
        self.label("ask.between")
        self._next_wanted("olt", self.end, "tell.between", "keep.parts")
        self.label("tell.between")
        wanted = self.word_at("wanted", self.get("next_wanted"))
        part = self.one.div(self.one.sub(wanted, "%time"), self.h)
        self.code.do(f"call void @between(ptr %table, double {part}, ptr {self._row_of_next()})")
        self._count("next_wanted")
        self.go("ask.between")

    def _polynomial(self, h: str) -> None:
        """Its seven coefficients."""
        wide = self.code.splat(h)

        def one(index: str, _: list[str]) -> Iterable[str]:
            """This state's first three coefficients, from both ends and the rates there."""
            change = self.vector_op("fsub", self.load("%after", index), self.load("%x", index))
            first = self.vector_op("fmul", wide, self.load("%k", index))
            last = self.vector_op("fmul", wide, self.load(self.row("%k", 12), index))
            rows = [change, self.vector_op("fsub", first, change)]
            rows.append(
                self.vector_op(
                    "fsub", self.vector_op("fadd", change, change), self.vector_op("fadd", first, last)
                )
            )
            for place, value in enumerate(rows):
                self.store(value, self.row("%dense", place), index)
            return ()

        self.loop("polynomial", "%size", one)
        for place in range(len(DENSE)):
            self.sum(AT_DENSE + place, h, self.get("zeros", "ptr"), self.row("%dense", 3 + place))

    def _keep(self) -> None:
        """Keep parts of the step, and its end."""
        code = self.code
        self.label("keep.parts")
        self.go("keep.part")
        self.label("keep.part")
        code.do("%part = phi i64 [ 1, %keep.parts ], [ %part.next, %part.kept ]")
        self.branch(self.integer("icmp slt", "%part", self.get("parts")), "inside.part", "keep")
        self.label("inside.part")
        share = self.one.div(self.one.real("%part"), self.one.real(self.get("parts")))
        code.do(f"call void @between(ptr %table, double {share}, ptr %y)")
        self._note("part", "%y", self.one.add("%time", self.one.mul(share, self.h)))
        self.go("part.kept")
        self.label("part.kept")
        code.do("%part.next = add i64 %part, 1")
        self.go("keep.part")
        self.label("keep")
        self._note("end", "%after", self.end)

    def _on(self) -> None:
        """To the next step, or to the next piece."""
        self.copy("move", "%after", "%x")
        self.copy("reuse", self.row("%k", 12), "%k")
        self.set("time", self.end, "double")
        self.branch(self.last, "leave", "step")
        self.label("leave")
        self.set("inside", "0")
        self._count("piece")
        self.go("piece")
