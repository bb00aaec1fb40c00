// What the page's scripts share. Everything on the page is there without them.
"use strict";

const credence = {
  // The data of a widget: an element's data-data names the block that holds it.
  data(element) {
    const name = element.dataset.data;
    this.read[name] ??= JSON.parse(document.getElementById(name).textContent);
    return this.read[name];
  },
  read: {},

  // Every widget of one kind, shown now that there is something to run it.
  widgets(kind) {
    const found = [...document.querySelectorAll(`[data-widget="${kind}"]`)];
    for (const element of found) element.hidden = false;
    return found;
  },

  // A part of an address as it was written; a broken one stays as it is.
  decoded(text) {
    try {
      return decodeURIComponent(text);
    } catch {
      return text;
    }
  },

  svgElement(tag, attributes) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    return made;
  },

  // A new element. Texts are set as text, never as markup.
  element(tag, attributes = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (value === true) made.setAttribute(name, "");
      else if (value !== false && value !== null) made.setAttribute(name, value);
    }
    made.append(...children);
    return made;
  },

  // What a spreadsheet would take for a formula is marked as text; numbers are left.
  safe(text) {
    const cell = text.replace(/[\t\r\n]+/g, " ");
    return /^[=+\-@]/.test(cell) && !/^[+-]?\d+(\.\d+)?$/.test(cell) ? `'${cell}` : cell;
  },

  // Rows of cells as the text of a file.
  tsv(rows) {
    return rows.map((row) => `${row.map(this.safe).join("\t")}\n`).join("");
  },

  // A text or a picture, saved as a file whose name begins with the run's.
  download(words, ending, content, type = "text/tab-separated-values") {
    const run = document.getElementById("content").dataset.run;
    const plain = `${run} ${words}`.toLowerCase().replace(/[^a-z0-9]+/g, "-");
    const name = `${plain.slice(0, 60).replace(/^-|-$/g, "")}.${ending}`;
    const address = URL.createObjectURL(new Blob([content], { type }));
    const link = credence.element("a", { href: address, download: name });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
  },
};

// What is shown is in the address: #NAME, where NAME is any part of the page; and
// #proteins&KEY=VALUE&…, see proteins.js.
{
  const root = document.documentElement;
  const panels = [...document.querySelectorAll("article.panel")];
  let shown = null; // the address last followed

  // One class at a time; all are closed again from their overview.
  function choose(target, name) {
    const panel = target ? target.closest("article.panel") : null;
    if (panel || name === "" || name === "classes") {
      for (const other of panels) other.classList.toggle("chosen", other === panel || panels.length === 1);
      select.value = panel ? panel.id : "";
    }
  }

  // What holds a part is opened, and what is folded right below a heading.
  function unfold(target) {
    for (let part = target.closest("details"); part; part = part.parentElement.closest("details")) part.open = true;
    if (!target.matches("h3")) return;
    let next = target.nextElementSibling;
    while (next && !next.matches("h3, details")) next = next.nextElementSibling;
    if (next && next.matches("details")) next.open = true;
  }

  function follow() {
    const parts = location.hash.slice(1).split("&");
    const pairs = parts.filter((part) => part.includes("="));
    const name = parts.find((part) => !part.includes("=")) || "";
    let target = name ? document.getElementById(name) : null;
    choose(target, name);
    if (target && location.hash !== shown) {
      if (pairs.length && name === "proteins") target = credence.asked(pairs) ?? target;
      unfold(target);
      target.scrollIntoView();
    }
    shown = location.hash;
  }

  credence.go = (name) => {
    shown = null;
    if (`#${name}` === location.hash) follow();
    else location.hash = name;
  };

  // The switches, beside the contents.
  const select = credence.element("select", { "aria-label": "Class shown" },
    credence.element("option", { value: "" }, "Choose a class"));
  for (const panel of panels) {
    select.append(credence.element("option", { value: panel.id }, panel.querySelector("h3").textContent));
  }
  select.addEventListener("change", () => credence.go(select.value || "classes"));
  const everything = credence.element("button", { type: "button", "aria-pressed": "false" }, "Open everything");
  everything.addEventListener("click", () => {
    const isOpen = root.classList.toggle("everything");
    everything.setAttribute("aria-pressed", isOpen);
    for (const part of document.querySelectorAll("main details")) part.open = isOpen;
  });
  everything.title = "Opens all parts, also for printing: otherwise a summary is printed";
  const menu = credence.element("button", { type: "button", class: "menu", "aria-expanded": "false", "aria-controls": "contents-list" }, "Contents");
  const contents = document.getElementById("contents");
  const open = (isOpen) => {
    contents.classList.toggle("open", isOpen);
    menu.setAttribute("aria-expanded", isOpen);
  };
  menu.addEventListener("click", () => open(!contents.classList.contains("open")));
  contents.addEventListener("click", (event) => { if (event.target.closest("a")) open(false); });
  const switches = credence.element("div", { class: "switches" }, everything);
  if (panels.length > 1) switches.prepend(select);
  contents.prepend(menu);
  contents.append(switches);

  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href^='#']");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    credence.go(link.hash.slice(1));
  });
  window.addEventListener("hashchange", follow);
  credence.follow = follow;
}

// Of figures that show the same in two ways, one at a time.
for (const choice of document.querySelectorAll(".choice")) {
  const parts = [...choice.children];
  const set = credence.element("fieldset", { class: "tools" }, credence.element("legend", {}, choice.dataset.label));
  parts.forEach((part, at) => {
    const radio = credence.element("input", { type: "radio", name: choice.id, checked: at === 0 });
    radio.addEventListener("change", () => parts.forEach((other) => { other.hidden = other !== part; }));
    part.hidden = at !== 0;
    set.append(credence.element("label", {}, radio, " ", part.dataset.title));
  });
  choice.prepend(set);
}

// Once the other scripts have run, the page is as its address says.
addEventListener("DOMContentLoaded", credence.follow);
