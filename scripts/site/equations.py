# SPDX-License-Identifier: BSD-3-Clause
"""Equations as they are typed in the pages (N = A^T W A) become MathML, which browsers set without help.

A block ```equation holds one equation a line. Names of one letter are italic, Greek ones are letters, longer ones
upright; _ and ^ take one name or number, (...) or {...}; a fraction is what is multiplied before a / over the next
factor; * is a dot; "words" are words; two blanks are a gap. What is none of this is an error.
"""
import html
import re

GREEK = {name: chr(code) for name, code in (
    ("alpha", 0x3B1), ("beta", 0x3B2), ("gamma", 0x3B3), ("delta", 0x3B4), ("epsilon", 0x3B5), ("eps", 0x3B5),
    ("kappa", 0x3BA), ("lambda", 0x3BB), ("mu", 0x3BC), ("nu", 0x3BD), ("pi", 0x3C0), ("rho", 0x3C1),
    ("sigma", 0x3C3), ("phi", 0x3C6), ("chi", 0x3C7), ("psi", 0x3C8), ("omega", 0x3C9))}
SIGNS = {"<=": "≤", ">=": "≥", "->": "→", "...": "…", "~": "≲", "-": "−", "*": "·", "'": "′"}
WITH_LIMITS = {"sum": "∑", "max": "max", "min": "min", "prod": "∏"}
TOKEN = re.compile(r"""(?P<gap>\s{2,})|(?P<blank>\s)|"(?P<words>[^"]*)"|(?P<number>\d+(?:\.\d+)?(?:e-?\d+)?)|
                   (?P<name>[A-Za-z]+\d*)|(?P<sign><=|>=|->|\.\.\.|[-+=<>~*,;:|./^_!'(){}\[\]])""", re.X)
CLOSING = {"(": ")", "[": "]", "{": "}"}
UPRIGHT = re.compile(r"<mi>[A-Za-z]{2,}")  # names that would run together
BREAKS = set("+-=<>,;:|~*") | {"<=", ">=", "->", "..."}


class BadEquation(ValueError):
    pass


def tokens(line):
    found, at = [], 0
    while at < len(line):
        match = TOKEN.match(line, at)
        if not match:
            raise BadEquation(f"equation {line!r}: {line[at]!r} is not known")
        at = match.end()
        found.append((match.lastgroup, match[match.lastgroup]))
    return found


def name_of(text):
    """A name; digits at its end are an index."""
    letters, digits = re.fullmatch(r"([A-Za-z]+)(\d*)", text).groups()
    shown = f"<mi>{GREEK.get(letters, WITH_LIMITS.get(letters, letters))}</mi>"
    return f"<msub>{shown}<mn>{digits}</mn></msub>" if digits else shown


class Line:
    """One equation."""

    def __init__(self, text):
        self.text, self.tokens, self.at = text, tokens(text.strip()), 0

    def kind(self, ahead=0):
        return self.tokens[self.at + ahead][0] if self.at + ahead < len(self.tokens) else ""

    def sign(self):
        return self.tokens[self.at][1] if self.kind() == "sign" else ""

    def take(self):
        self.at += 1
        return self.tokens[self.at - 1][1]

    def expect(self, sign):
        if self.sign() != sign:
            raise BadEquation(f"equation {self.text!r}: {sign!r} is missing")
        self.take()

    def blanks(self):
        while self.kind() == "blank":
            self.take()

    def sequence(self, end=""):
        """Until the closing sign: terms, and signs between them."""
        parts, product = [], []
        while self.at < len(self.tokens) and not (end and self.sign() == end):
            if self.kind() == "blank":
                self.take()
            elif self.kind() == "gap":
                self.take()
                parts += [*product, '<mspace width="2em"/>']
                product = []
            elif self.sign() == "/":
                self.take()
                self.blanks()
                product = [f"<mfrac>{unbracketed(row(product))}{row([self.factor(bare=True)])}</mfrac>"]
            elif self.sign() in BREAKS and self.sign():
                sign = self.take()
                form = ' form="prefix"' if sign in "+-" and not product and not parts[-1:] else ""
                parts += [*product, f"<mo{form}>{html.escape(SIGNS.get(sign, sign))}</mo>"]
                product = []
            else:
                factor = self.factor()
                if product and UPRIGHT.search(product[-1] + factor):
                    product.append('<mspace width="0.17em"/>')
                product.append(factor)
        return parts + product

    def group(self, bare):
        """Brackets, kept or not."""
        opening = self.take()
        inside = self.sequence(CLOSING[opening])
        self.expect(CLOSING[opening])
        if opening == "{" or bare:
            return row(inside)
        return row([f"<mo>{opening}</mo>", *inside, f"<mo>{CLOSING[opening]}</mo>"])

    def script(self):
        """What stands after _ or ^."""
        if self.sign() in ("(", "{"):
            return self.group(bare=True)
        if self.sign() == "-":
            self.take()
            return row(["<mo>−</mo>", self.script()])
        if self.kind() == "name" and re.fullmatch(r"[A-Za-z]{2}", self.tokens[self.at][1]) and \
                self.tokens[self.at][1] not in GREEK:
            return row([f"<mi>{letter}</mi>" for letter in self.take()])  # N_ii: two indices
        return self.primary(bare=False)

    def primary(self, bare):
        kind = self.kind()
        if kind == "number":
            return f"<mn>{self.take()}</mn>"
        if kind == "words":
            return f"<mtext>{html.escape(self.take())}</mtext>"
        if kind == "name":
            name = self.take()
            if name == "sqrt":
                self.blanks()
                return f"<msqrt>{self.factor(bare=True)}</msqrt>"
            return name_of(name)
        if self.sign() in CLOSING:
            return self.group(bare)
        raise BadEquation(f"equation {self.text!r}: {self.take() if kind else 'its end'!r} is out of place")

    def factor(self, bare=False):
        """A primary with indices, powers, primes, and what it is applied to."""
        large = self.kind() == "name" and self.tokens[self.at][1] in WITH_LIMITS
        base = self.primary(bare)
        low = high = ""
        while self.sign() in ("_", "^", "!", "'") or (self.sign() in ("(", "[") and not base.startswith("<mn>")):
            sign = self.take() if self.sign() in ("_", "^", "!", "'") else ""
            if sign == "_":
                low = self.script()
            elif sign == "^":
                high = self.script()
            else:
                base, low, high = scripted(base, low, high, large), "", ""
                base = row([base, f"<mo>{SIGNS.get(sign, sign)}</mo>" if sign else self.group(bare=False)])
        return scripted(base, low, high, large)


def unbracketed(markup):
    """(a - b) over a line needs no brackets."""
    start, end = "<mrow><mo>(</mo>", "<mo>)</mo></mrow>"
    if not (markup.startswith(start) and markup.endswith(end)):
        return markup
    return f"<mrow>{markup[len(start):-len(end)]}</mrow>"


def row(parts):
    return parts[0] if len(parts) == 1 else f"<mrow>{''.join(parts)}</mrow>"


def scripted(base, low, high, large):
    under, over, both = ("munder", "mover", "munderover") if large else ("msub", "msup", "msubsup")
    if low and high:
        return f"<{both}>{base}{low}{high}</{both}>"
    if low:
        return f"<{under}>{base}{low}</{under}>"
    return f"<{over}>{base}{high}</{over}>" if high else base


def equation(line):
    """MathML of one line."""
    parsed = Line(line)
    parts = parsed.sequence()
    if parsed.at < len(parsed.tokens):
        raise BadEquation(f"equation {line!r}: {parsed.take()!r} is out of place")
    return "".join(parts)


def block(text):
    """MathML of a block of lines, with the text as it was typed for who cannot see it."""
    lines = [line for line in text.split("\n") if line.strip()]
    rows = "".join(f'<mtr><mtd><mstyle displaystyle="true">{equation(line)}</mstyle></mtd></mtr>' for line in lines)
    typed = html.escape(" ; ".join(" ".join(line.split()) for line in lines), quote=True)
    return f'<div class="equation"><math display="block" aria-label="{typed}"><mtable>{rows}</mtable></math></div>'
