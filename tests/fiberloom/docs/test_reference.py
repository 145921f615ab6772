# SPDX-License-Identifier: BSD-3-Clause
"""What docs-site makes beside the pages: equations, references, the index for the search; and that troubleshooting
knows every exit code."""
import json
import os
import pathlib
import re
import sys
import unittest
import xml.etree.ElementTree as ElementTree

SOURCE = pathlib.Path(os.environ["FIBERLOOM_SOURCE"])
sys.path.insert(0, str(SOURCE / "scripts/site"))
import cpp_reference  # noqa: E402
import equations  # noqa: E402
import python_reference  # noqa: E402
import search  # noqa: E402


def shape(line):
    """An equation as nested tags and texts."""
    def of(node):
        inside = "".join(of(child) for child in node)
        text = node.text or ""
        return f"{node.tag}[{inside or text}]" if node.tag not in ("mi", "mn", "mo") else text
    return "".join(of(node) for node in ElementTree.fromstring(f"<m>{equations.equation(line)}</m>"))


class Equations(unittest.TestCase):
    def test_indices_and_powers(self):
        self.assertEqual(shape("N_ii^-1"), "msubsup[Nmrow[ii]mrow[−1]]")
        self.assertEqual(shape("L_(g-1)"), "msub[Lmrow[g−1]]")
        self.assertEqual(shape("u0"), "msub[u0]")
        self.assertEqual(shape("S^(1/2)"), "msup[Smfrac[12]]")

    def test_a_fraction_takes_the_product_before_it(self):
        self.assertEqual(shape("a = b c / (d e)"), "a=mfrac[mrow[bc]mrow[de]]")
        self.assertEqual(shape("(a - b) / 2"), "mfrac[mrow[a−b]2]")
        self.assertEqual(shape("a * b / c"), "a·mfrac[bc]")
        self.assertEqual(shape("low b"), "lowmspace[]b")  # else they look like one word

    def test_sums_have_limits_and_functions_arguments(self):
        self.assertEqual(shape("sum_{k=0}^{9} c_k"), "munderover[∑mrow[k=0]9]msub[ck]")
        self.assertEqual(shape("exp(-x)"), "mrow[expmrow[(−x)]]")
        self.assertEqual(shape("sqrt(2 pi)"), "msqrt[mrow[2π]]")

    def test_what_is_not_known_is_an_error(self):
        for line in ("a # b", "a_", "(a", "a)", "b ^ ", "{"):
            with self.assertRaises(equations.BadEquation, msg=line):
                equations.equation(line)

    def test_every_equation_of_the_pages_can_be_set(self):
        count = 0
        for page in (SOURCE / "docs/fiberloom").glob("*.md"):
            for text in re.findall(r"^```equation\n(.*?)^```$", page.read_text(encoding="utf-8"), re.M | re.S):
                ElementTree.fromstring(equations.block(text))
                count += 1
        self.assertGreater(count, 8)


class PythonReference(unittest.TestCase):
    def test_every_public_name_is_there(self):
        body = python_reference.reference(SOURCE / "python/fiberloom")
        for name in ("extract_frame", "read_image", "Frame", "Psf", "compare", "write_frame", "Error"):
            self.assertIn(f'id="fiberloom.{name}"', body)
        self.assertIn('id="fiberloom.compat.specter.ex2d"', body)
        self.assertIn('id="fiberloom.plot"', body)

    def test_sections_of_numpydoc(self):
        text = """Does it.

        Parameters
        ----------
        wave : (float, float, float)
            First, last, step; `None` for all.

        Returns
        -------
        Frame
            The result.

        Examples
        --------
        >>> do(1)
        2
        """
        body = python_reference.docstring(text)
        self.assertIn("<h4>Parameters</h4>", body)
        self.assertIn("<dt><code>wave : (float, float, float)</code></dt>", body)
        self.assertIn("<code>None</code>", body)
        self.assertIn("&gt;&gt;&gt; do(1)\n2</code></pre>", body)


class CppReference(unittest.TestCase):
    def setUp(self):
        self.pages = cpp_reference.reference(SOURCE, {"psf": "spots"})

    def test_declarations_stand_with_their_comments(self):
        body = self.pages["cpp-extract.html"]
        self.assertIn('id="extract-ExtractOptions"', body)
        self.assertRegex(self.pages["cpp-ccd.html"],
                         r"Makes ivar 0 and image 0 wherever a pixel must not be used.*\n.*apply_mask\(")
        self.assertIn("struct Spectra", self.pages["cpp-spectrum.html"])
        self.assertNotIn("private:", body)

    def test_every_header_has_its_place_and_no_body_is_shown(self):
        for header in (SOURCE / "src/fiberloom/psf").glob("*.hpp"):
            if not header.name.endswith("_lane.hpp"):
                self.assertIn(f'href="cpp-psf.html#{header.stem}"', self.pages["reference-cpp.html"])
        codes = re.findall(r'signature"><code>(.*?)</code>', "".join(self.pages.values()), re.S)
        self.assertGreater(len(codes), 200)
        self.assertEqual([code for code in codes if re.search(r"^\s+(for|while) \(", code, re.M)], [])


class Search(unittest.TestCase):
    def test_headings_links_and_words(self):
        body = '<h1 id="x">A page</h1><p>One &lt;two&gt;</p><h2 id="part">Part</h2><pre>three</pre>' + \
            equations.block("N = A^T W A")
        text = search.index({"page.html": body}, {"page": "Page"})
        entries = json.loads(text[len("window.siteIndex = "):-2])
        self.assertEqual(entries[0], ["Page", "A page", "page.html", "One <two>"])
        self.assertEqual(entries[1], ["Page", "Part", "page.html#part", "three N = A^T W A"])


class ExitCodes(unittest.TestCase):
    def test_troubleshooting_has_every_code(self):
        generic = (SOURCE / "src/loom/base/error.hpp").read_text(encoding="utf-8")
        own = (SOURCE / "src/fiberloom/status.hpp").read_text(encoding="utf-8")
        codes = set(re.findall(r"^  k\w+ = (\d+),", generic, re.M)) | set(re.findall(r"Status k\w+\{(\d+)\}", own))
        self.assertGreater(len(codes), 20)
        for page, pattern in (("docs/fiberloom/troubleshooting.md", r"^### (\d+): "), ("docs/fiberloom/formats.md", r"^\| (\d+) \|")):
            shown = set(re.findall(pattern, (SOURCE / page).read_text(encoding="utf-8"), re.M))
            self.assertEqual(shown, codes, page)


if __name__ == "__main__":
    unittest.main()
