// SPDX-License-Identifier: BSD-3-Clause
// Search over the index that scripts/docs-site made, in the page itself; contents that are folded on a phone.
(function () {
  "use strict";
  const most = 20, around = 60;
  const form = document.getElementById("search"), field = document.getElementById("words");
  const found = document.getElementById("found");

  // How well a section answers: every word must be there; a word of the heading counts most, a reference less than a page.
  function score(entry, words) {
    const [page, heading, link, text] = entry.map((part) => part.toLowerCase());
    let sum = 0;
    for (const word of words) {
      const inHeading = heading.includes(word);
      if (!inHeading && !page.includes(word) && !text.includes(word)) return 0;
      sum += inHeading ? (heading === word ? 20 : 10) : page.includes(word) ? 3 : 1;
    }
    return /^(cpp|reference)-/.test(link) ? sum / 3 : sum;
  }

  function snippet(text, word) {
    const at = text.toLowerCase().indexOf(word);
    if (at < 0) return text.slice(0, 2 * around);
    const start = Math.max(0, at - around);
    return (start ? "…" : "") + text.slice(start, at + word.length + around) + "…";
  }

  function show() {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    found.replaceChildren();
    if (!words.length) return;
    const hits = window.siteIndex.map((entry) => [score(entry, words), entry]).filter((hit) => hit[0] > 0);
    hits.sort((a, b) => b[0] - a[0]);
    const count = document.createElement("p");
    count.textContent = hits.length > most ? `${most} of ${hits.length} places` :
      hits.length === 1 ? "1 place" : `${hits.length} places`;
    found.append(count);
    for (const [, [page, heading, link, text]] of hits.slice(0, most)) {
      const item = document.createElement("a");
      item.href = link;
      const title = document.createElement("b");
      title.textContent = page === heading ? page : `${page}: ${heading}`;
      const about = document.createElement("small");
      about.textContent = snippet(text, words[0]);
      item.append(title, about);
      found.append(item);
    }
  }

  if (window.siteIndex) {
    form.hidden = false;
    field.addEventListener("input", show);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const first = found.querySelector("a");
      if (first) location.href = first.href;
    });
    document.addEventListener("keydown", (event) => {
      if (event.key === "/" && !/^(INPUT|TEXTAREA)$/.test(document.activeElement.tagName)) {
        event.preventDefault();
        field.focus();
      } else if (event.key === "Escape" && document.activeElement === field) {
        field.value = "";
        show();
      }
    });
  }
  const contents = document.querySelector("details.contents");
  if (contents && matchMedia("(max-width: 86rem)").matches) contents.open = false;
})();
