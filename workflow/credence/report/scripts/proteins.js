// The proteins of a query set: searched, filtered, sorted, copied, saved. Only the rows in sight are drawn.
"use strict";

(() => {
  const ROW = 32; // pixels, as the stylesheet has it
  const BEYOND = 6; // rows drawn above and below those in sight
  const DECISION_SIGNS = ["✓", "?", "–"];
  const tables = [];
  const element = credence.element;

  // As Python's wording.share: never as if it were 0 or 1.
  function share(value) {
    if (value === null) return "–";
    if (value > 0 && value < 0.0005) return "<0.001";
    if (value >= 0.9995 && value < 1) return ">0.999";
    return value.toFixed((value > 0 && value < 0.0095) || (value > 0.985 && value < 1) ? 3 : 2);
  }

  function build(host) {
    const data = credence.data(host);
    const n = data.id.length;
    const className = (row) => data.classes[data.class[row]] ?? "–";
    const searched = data.id.map((id, row) => `${id}\n${data.genome[row] ?? ""}\n${className(row)}\n${data.texts[data.note[row]]}`.toLowerCase());
    const state = { search: "", class: "", decision: "", sort: data.genome.length ? "genome" : "", down: false };
    const identity = (row) => (data.identity.length && data.identity[row] !== null ? `${Math.round(100 * data.identity[row])} %` : "");
    const columns = [
      { name: "id", title: "protein", key: (row) => data.id[row] },
      { name: "class", title: "class", key: (row) => className(row) },
      { name: "confidence", title: "confidence", key: (row) => data.confidence[row], isNumber: true },
      { name: "decision", title: "decision", key: (row) => data.decision[row], isNumber: true },
      { name: "note", title: "note", key: (row) => data.texts[data.note[row]] },
    ];
    if (data.nearest.length) columns.push({ name: "nearest", title: "nearest known", key: (row) => data.nearest[row] });
    if (data.genome.length) columns.push({ name: "genome", title: "genome", key: (row) => data.genome[row] });

    // What is above the table.
    const search = element("input", { type: "search", "aria-label": `Search ${data.set} by id, class or note` });
    search.placeholder = data.genome.length ? "Search id, genome, class or note" : "Search id, class or note";
    const choice = (name, all, entries) => {
      const select = element("select", { "aria-label": `${data.set}: ${name}` }, element("option", { value: "" }, all));
      for (const [value, text] of entries) select.append(element("option", { value }, text));
      return select;
    };
    const present = new Set(data.class);
    const classes = choice("class", "All classes", data.classes.map((name, at) => [at, name]).filter(([at]) => present.has(at)));
    const decisions = choice("decision", "All decisions", data.decisions.map((name, at) => [at, name]));
    const status = element("span", { role: "status" });
    const copy = element("button", { type: "button" }, "Copy");
    const save = element("button", { type: "button", "aria-label": `Download the proteins shown of ${data.set} as TSV` }, "Download TSV");
    const bar = element("div", { class: "tools" }, search, classes, decisions, status, copy, save);

    // The table, of which the rows in sight are made.
    const heads = columns.map((column) => {
      const button = element("button", { type: "button" }, column.title);
      const head = element("th", { scope: "col", class: `p-${column.name}` }, button);
      button.addEventListener("click", () => {
        state.down = state.sort === column.name ? !state.down : column.name === "confidence";
        state.sort = column.name;
        refresh();
      });
      return head;
    });
    const above = element("tr", { "aria-hidden": "true", class: "space" }, element("td"));
    const below = above.cloneNode(true);
    const body = element("tbody");
    const table = element("table", { class: "proteins", "aria-rowcount": n + 1 },
      element("caption", { class: "quiet" }, `Predictions of ${data.set}`),
      element("thead", {}, element("tr", {}, ...heads)), body);
    const frame = element("div", { class: "rows", tabindex: "0", role: "region", "aria-label": `Predictions of ${data.set}; arrow keys choose a protein, Enter links to it` }, table);
    const detail = element("div", { class: "detail", role: "status" });

    let items = []; // rows, and names of genomes before theirs
    let shown = []; // rows alone
    let current = -1; // place among the items

    function refresh() {
      const word = state.search.trim().toLowerCase();
      const wanted = state.class === "" ? -2 : Number(state.class);
      const decided = state.decision === "" ? -1 : Number(state.decision);
      shown = [];
      for (let row = 0; row < n; row++) {
        if (wanted !== -2 && data.class[row] !== wanted) continue;
        if (decided !== -1 && data.decision[row] !== decided) continue;
        if (word && !searched[row].includes(word)) continue;
        shown.push(row);
      }
      const column = columns.find(({ name }) => name === state.sort);
      if (column) {
        const keys = new Map(shown.map((row) => [row, column.key(row)]));
        const sign = state.down ? -1 : 1;
        shown.sort((one, other) => {
          const [a, b] = [keys.get(one), keys.get(other)];
          if (a === null || b === null) return (a === null) - (b === null) || one - other;
          return sign * (a < b ? -1 : a > b ? 1 : 0) || one - other;
        });
      }
      items = shown;
      if (state.sort === "genome") {
        const groups = new Map();
        for (const row of shown) groups.set(data.genome[row], [...(groups.get(data.genome[row]) ?? []), row]);
        items = [...groups].flatMap(([genome, rows]) => [{ genome, rows }, ...rows]);
      }
      current = -1;
      detail.replaceChildren();
      heads.forEach((head, at) => {
        head.removeAttribute("aria-sort");
        if (columns[at].name === state.sort) head.setAttribute("aria-sort", state.down ? "descending" : "ascending");
      });
      status.textContent = shown.length === n ? `${n.toLocaleString("en")} predictions` : `${shown.length.toLocaleString("en")} of ${n.toLocaleString("en")} predictions`;
      frame.scrollTop = 0;
      draw();
    }

    // The interval as a line, the confidence as a dot on it.
    function interval(row) {
      const [value, low, high] = [data.confidence[row], data.lower[row], data.upper[row]];
      const svg = credence.svgElement("svg", { class: "interval-bar", viewBox: "0 0 100 12", preserveAspectRatio: "none", "aria-hidden": "true" });
      svg.append(credence.svgElement("path", { class: "whole", d: "M0 6H100" }));
      if (value === null) return svg;
      if (low !== null) svg.append(credence.svgElement("path", { class: "between", d: `M${100 * low} 6H${100 * high}` }));
      svg.append(credence.svgElement("path", { class: "point", d: `M${100 * value} 1V11` }));
      return svg;
    }

    // Ends of an interval that are nearly 0 or 1 are shown as 0 and 1: it is then wider, not narrower.
    const end = (value) => share(Math.min(value, 1 - value) < 0.0005 ? Math.round(value) : value);
    const stated = (row) => (data.lower[row] === null ? share(data.confidence[row]) : `${share(data.confidence[row])} (${end(data.lower[row])}–${end(data.upper[row])})`);

    const cells = {
      id: (row) => element("a", { href: addressOf(row), tabindex: "-1" }, data.id[row]),
      class: (row) => className(row),
      confidence: (row) => element("span", { class: "drawn" }, interval(row), element("span", {}, stated(row))),
      decision: (row) => element("span", { class: `decided d-${data.decision[row]}` }, `${DECISION_SIGNS[data.decision[row]]} `, element("span", { class: "word" }, data.decisions[data.decision[row]])),
      note: (row) => data.texts[data.note[row]],
      nearest: (row) => `${data.nearest[row]} ${identity(row)}`,
      genome: (row) => data.genome[row],
    };

    // Narrow screens have fewer columns; a cell that spans more would make room for those hidden.
    const span = () => heads.filter((head) => head.getClientRects().length).length || 1;

    function lineOf(item, at) {
      const line = element("tr", { "aria-rowindex": at + 2, "data-at": at });
      if (typeof item === "object") {
        const n_accepted = item.rows.filter((row) => data.decision[row] === 0).length;
        line.className = "genome";
        line.append(element("th", { colspan: span(), scope: "rowgroup" },
          `${item.genome || "no genome"}: ${item.rows.length} prediction${item.rows.length === 1 ? "" : "s"}, ${n_accepted} accepted`));
        return line;
      }
      for (const column of columns) {
        const cell = element(column.name === "id" ? "th" : "td", { class: `p-${column.name}`, scope: column.name === "id" ? "row" : null });
        cell.append(cells[column.name](item));
        if (column.name !== "confidence") cell.title = cell.textContent;
        line.append(cell);
      }
      if (at === current) line.setAttribute("aria-current", "true");
      return line;
    }

    function draw() {
      const first = Math.max(0, Math.floor(frame.scrollTop / ROW) - BEYOND);
      const last = Math.min(items.length, Math.ceil((frame.scrollTop + frame.clientHeight) / ROW) + BEYOND);
      above.firstChild.style.height = `${first * ROW}px`;
      below.firstChild.style.height = `${(items.length - last) * ROW}px`;
      const lines = items.slice(first, last).map((item, at) => lineOf(item, first + at));
      if (!items.length) lines.push(element("tr", {}, element("td", { colspan: span() }, "No protein is so. Clear the search or a filter.")));
      body.replaceChildren(above, ...lines, below);
    }

    function addressOf(row) {
      return `#proteins&set=${encodeURIComponent(data.set)}&id=${encodeURIComponent(data.id[row])}`;
    }

    // All that the table knows of one protein, in words.
    function choose(place) {
      current = Math.max(0, Math.min(items.length - 1, place));
      const row = items[current];
      const top = current * ROW;
      if (top < frame.scrollTop) frame.scrollTop = top;
      else if (top + 2 * ROW > frame.scrollTop + frame.clientHeight) frame.scrollTop = top + 2 * ROW - frame.clientHeight;
      draw();
      detail.replaceChildren();
      if (row === undefined || typeof row === "object") return;
      const parts = [`${data.id[row]}: predicted ${className(row)}, confidence ${stated(row)}. Decision: ${data.decisions[data.decision[row]]}`];
      if (data.texts[data.note[row]]) parts.push(`Note: ${data.texts[data.note[row]]}`);
      if (data.nearest.length && data.nearest[row]) parts.push(`Nearest known protein: ${data.nearest[row]}${identity(row) && `, ${identity(row)} identity`}`);
      if (data.genome.length && data.genome[row]) parts.push(`Genome: ${data.genome[row]}`);
      detail.append(`${parts.join(". ")}. `, element("a", { href: addressOf(row) }, "Link to this protein"));
    }

    const HEADER = ["id", "predicted_class", "confidence", "lower", "upper", "decision", "note",
      ...(data.nearest.length ? ["nearest_known", "identity"] : []), ...(data.genome.length ? ["genome"] : [])];
    function text() {
      const number = (value) => (value === null || value === undefined ? "" : String(value));
      const lines = shown.map((row) => [data.id[row], className(row), number(data.confidence[row]), number(data.lower[row]), number(data.upper[row]),
        data.decisions[data.decision[row]], data.texts[data.note[row]],
        ...(data.nearest.length ? [data.nearest[row], number(data.identity[row])] : []), ...(data.genome.length ? [data.genome[row]] : [])]);
      return credence.tsv([HEADER, ...lines]);
    }

    search.addEventListener("input", () => { state.search = search.value; refresh(); });
    classes.addEventListener("change", () => { state.class = classes.value; refresh(); });
    decisions.addEventListener("change", () => { state.decision = decisions.value; refresh(); });
    save.addEventListener("click", () => credence.download(`${data.set} proteins`, "tsv", text()));
    copy.addEventListener("click", async () => {
      await navigator.clipboard.writeText(text());
      copy.textContent = "Copied";
      setTimeout(() => { copy.textContent = "Copy"; }, 2000);
    });
    frame.addEventListener("scroll", draw, { passive: true });
    frame.addEventListener("click", (event) => {
      const line = event.target.closest("tr[data-at]");
      if (line && !event.target.closest("a")) choose(Number(line.dataset.at));
    });
    const STEPS = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -Infinity, End: Infinity };
    frame.addEventListener("keydown", (event) => {
      if (event.target !== frame) return;
      if (event.key in STEPS) {
        event.preventDefault();
        choose(STEPS[event.key] === Infinity ? items.length - 1 : current + STEPS[event.key]);
      } else if (event.key === "Enter" && typeof items[current] === "number") {
        location.hash = addressOf(items[current]);
      }
    });
    host.append(bar, frame, detail);
    new ResizeObserver(draw).observe(frame);
    refresh();

    // What an address asks for: filters by their names, and one protein.
    function follow(asked) {
      const placeOf = (names, name) => String(names.indexOf(name) < 0 ? "" : names.indexOf(name));
      Object.assign(state, { search: "", class: placeOf(data.classes, asked.class), decision: placeOf(data.decisions, asked.decision) });
      [search.value, classes.value, decisions.value] = ["", state.class, state.decision];
      refresh();
      const row = asked.id === undefined ? -1 : data.id.indexOf(asked.id);
      if (row >= 0) choose(items.indexOf(row));
      else if (asked.id !== undefined) detail.textContent = `${data.set} has no protein ${asked.id} in this table.`;
    }
    tables.push({ data, host, follow });
  }

  credence.widgets("proteins").forEach(build);

  // #proteins&set=NAME&class=NAME&decision=NAME&id=NAME, each but the first as wanted.
  credence.asked = (pairs) => {
    const asked = Object.fromEntries(pairs.map((pair) => pair.split("=").map(credence.decoded)));
    const wanted = tables.filter(({ data }) => asked.set === undefined || data.set === asked.set);
    for (const table of wanted) table.follow(asked);
    return asked.set === undefined ? null : wanted[0]?.host;
  };
})();
