// Every table: sorted by its headings, filtered by a word, downloaded as TSV.
"use strict";

(() => {
  const FILTERED_FROM = 8; // rows; a shorter table is seen at a glance
  const SHOWN = 24; // rows of a long table, until a reader asks for all; as the stylesheet has it
  const NOTHING = "–";
  const INTERVAL = /^(\S+) \((\S+?)(?:–| to )(\S+)\)$/;

  // The first number of a cell, for sorting; what has none comes last.
  function numberOf(text) {
    const found = text.replaceAll(",", "").replace("−", "-").match(/-?\d+(\.\d+)?/);
    return found ? Number(found[0]) : NaN;
  }

  function sortBy(table, column, descending) {
    const body = table.tBodies[0];
    const isNumber = table.tHead.rows[0].cells[column].classList.contains("number");
    const keyed = [...body.rows].map((row, at) => {
      const text = row.cells[column].textContent;
      return { row, at, text, value: isNumber ? numberOf(text) : text };
    });
    const sign = descending ? -1 : 1;
    keyed.sort((one, other) => {
      if (isNumber) {
        if (isNaN(one.value) || isNaN(other.value)) {
          return isNaN(one.value) - isNaN(other.value) || one.at - other.at;
        }
        return sign * (one.value - other.value) || one.at - other.at;
      }
      return sign * one.text.localeCompare(other.text, "en", { numeric: true }) || one.at - other.at;
    });
    body.append(...keyed.map((entry) => entry.row));
  }

  function makeSortable(table) {
    const headings = [...table.tHead.rows[0].cells];
    headings.forEach((heading, column) => {
      const button = credence.element("button", { type: "button" });
      button.append(...heading.childNodes);
      heading.append(button);
      button.addEventListener("click", () => {
        const before = heading.getAttribute("aria-sort");
        const now = before === "ascending" ? "descending" : "ascending";
        for (const other of headings) other.removeAttribute("aria-sort");
        heading.setAttribute("aria-sort", now);
        sortBy(table, column, now === "descending");
      });
    });
  }

  function filterBox(table) {
    const input = credence.element("input", { type: "search", "aria-label": `Filter: ${captionOf(table)}` });
    input.placeholder = "Filter rows";
    input.addEventListener("input", () => {
      const word = input.value.trim().toLowerCase();
      showAll(table);
      for (const row of table.tBodies[0].rows) {
        row.hidden = !row.textContent.toLowerCase().includes(word);
      }
    });
    return input;
  }

  // A long table shows its first rows; all are in the file that is saved.
  function shorten(table) {
    const n = table.tBodies[0].rows.length;
    if (n <= SHOWN) return;
    table.classList.add("short");
    const button = credence.element("button", { type: "button", class: "more-rows" }, `Show all ${n} rows`);
    button.addEventListener("click", () => showAll(table));
    (table.closest(".scroll") || table).after(button);
  }

  function showAll(table) {
    if (!table.classList.contains("short")) return;
    table.classList.remove("short");
    (table.closest(".scroll") || table).nextElementSibling.remove();
  }

  function captionOf(table) {
    return table.caption.textContent.trim();
  }

  function cellText(cell) {
    const text = cell.textContent.trim().replace(/\s+/g, " ").replaceAll("−", "-");
    return text === NOTHING ? "" : text;
  }

  // Rows as they stand; a number with its interval becomes three columns.
  function tsvOf(table) {
    const headings = [...table.tHead.rows[0].cells].map(cellText);
    const numbers = [...table.tHead.rows[0].cells].map((cell) => cell.classList.contains("number"));
    const rows = [...table.tBodies[0].rows]
      .filter((row) => !row.hidden)
      .map((row) => [...row.cells].map(cellText));
    const plain = (text) => text.replace(/(\d),(?=\d{3})/g, "$1");
    const wide = headings.map((_, at) => numbers[at] && rows.some((row) => INTERVAL.test(row[at])));
    const lines = [headings.flatMap((text, at) => (wide[at] ? [text, `${text} lower`, `${text} upper`] : [text]))];
    for (const row of rows) {
      lines.push(row.flatMap((text, at) => {
        const cell = numbers[at] ? plain(text) : text;
        if (!wide[at]) return [cell];
        const found = cell.match(INTERVAL);
        return found ? found.slice(1) : [cell, "", ""];
      }));
    }
    return credence.tsv(lines);
  }

  function downloadButton(table) {
    const button = credence.element("button", { type: "button", "aria-label": `Download as TSV: ${captionOf(table)}` }, "Download TSV");
    button.addEventListener("click", () => credence.download(captionOf(table), "tsv", tsvOf(table)));
    return button;
  }

  // Says that a table goes on to the right, as long as it does.
  function cueOf(frame) {
    const cue = credence.element("span", { class: "cue", "aria-hidden": "true", hidden: true }, "more columns \u2192");
    const look = () => { cue.hidden = frame.scrollLeft + frame.clientWidth >= frame.scrollWidth - 1; };
    frame.addEventListener("scroll", look, { passive: true });
    new ResizeObserver(look).observe(frame);
    return cue;
  }

  for (const table of document.querySelectorAll("main table")) shorten(table);
  for (const table of document.querySelectorAll("main .scroll > table")) {
    if (table.tBodies[0].rows.length > 1) makeSortable(table);
    const tools = credence.element("div", { class: "tools of-table" });
    if (table.tBodies[0].rows.length >= FILTERED_FROM) tools.append(filterBox(table));
    tools.append(downloadButton(table));
    const frame = table.closest(".scroll");
    tools.prepend(cueOf(frame));
    frame.before(tools);
  }
})();
