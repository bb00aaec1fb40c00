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

// What is shown is in the address: #NAME, #NAME&expert or #expert, where NAME is any part of the page;
// and #proteins&KEY=VALUE&…, see proteins.js.
{
  const root = document.documentElement;
  const panels = [...document.querySelectorAll("article.panel")];
  const selects = [];
  const read = () => {
    const parts = location.hash.slice(1).split("&");
    const pairs = parts.filter((part) => part.includes("="));
    const name = parts.find((part) => part !== "expert" && !part.includes("=")) || "";
    return { name, pairs, isExpert: parts.includes("expert") };
  };
  const written = (name, isExpert) => `#${[name, isExpert && "expert"].filter(Boolean).join("&")}`;
  let shown = null; // the address last followed

  // One class at a time; all are closed again from their overview.
  function choose(target, name) {
    const panel = target ? target.closest("article.panel") : null;
    if (panel || name === "" || name === "classes") {
      for (const other of panels) other.classList.toggle("chosen", other === panel || panels.length === 1);
      root.classList.toggle("one-class", panel !== null || panels.length === 1);
      for (const select of selects) select.value = panel ? panel.id : "";
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
    const { name, pairs, isExpert } = read();
    let target = name ? document.getElementById(name) : null;
    if (target && !isExpert && target.closest(".expert")) {
      location.replace(written(name, true)); // comes back here
      return;
    }
    root.classList.toggle("with-expert", isExpert);
    expert.checked = isExpert;
    choose(target, name);
    if (pairs.length && name === "proteins" && target && location.hash !== shown) {
      target = credence.asked(pairs) ?? target;
    }
    if (target && location.hash !== shown) {
      unfold(target);
      target.scrollIntoView();
      if (isExpert) { // the browser finds no such part by itself
        target.tabIndex = -1;
        target.focus({ preventScroll: true });
      }
    }
    shown = location.hash;
  }

  credence.go = (name) => {
    shown = null;
    const address = name.includes("=") ? `#${name}` : written(name, read().isExpert);
    if (address === location.hash) follow();
    else location.hash = address;
  };

  // A choice of one class.
  credence.classChoice = () => {
    const select = credence.element("select", { "aria-label": "Class shown" },
      credence.element("option", { value: "" }, "Choose a class"));
    for (const panel of panels) {
      select.append(credence.element("option", { value: panel.id }, panel.querySelector("h3").textContent));
    }
    select.addEventListener("change", () => credence.go(select.value || "classes"));
    selects.push(select);
    return select;
  };

  // The switches, beside the contents.
  const expert = credence.element("input", { type: "checkbox" });
  expert.addEventListener("change", () => {
    const { name } = read();
    const target = document.getElementById(name);
    const isLeft = !expert.checked && target && target.closest(".expert");
    history.pushState(null, "", written(isLeft ? "" : name, expert.checked));
    follow();
  });
  const everything = credence.element("button", { type: "button", "aria-pressed": "false" }, "Open everything");
  everything.addEventListener("click", () => {
    const isOpen = root.classList.toggle("everything");
    everything.setAttribute("aria-pressed", isOpen);
    for (const part of document.querySelectorAll("main details")) part.open = isOpen;
  });
  const menu = credence.element("button", { type: "button", class: "menu", "aria-expanded": "false", "aria-controls": "contents-list" }, "Contents");
  const contents = document.getElementById("contents");
  const open = (isOpen) => {
    contents.classList.toggle("open", isOpen);
    menu.setAttribute("aria-expanded", isOpen);
  };
  menu.addEventListener("click", () => open(!contents.classList.contains("open")));
  contents.addEventListener("click", (event) => { if (event.target.closest("a")) open(false); });
  const switches = credence.element("div", { class: "switches" }, everything);
  if (document.querySelector("main .expert")) {
    switches.prepend(credence.element("label", {}, expert, "Show expert parts"));
  }
  if (panels.length > 1) switches.prepend(credence.classChoice());
  contents.prepend(menu);
  contents.append(switches);

  // Links keep expert parts as they are.
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href^='#']");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    credence.go(link.hash.slice(1));
  });
  window.addEventListener("hashchange", follow);
  credence.follow = follow;
}

// A text to paste, copied by a button.
for (const passage of document.querySelectorAll(".passage")) {
  const button = credence.element("button", { type: "button" }, "Copy this text");
  button.addEventListener("click", async () => {
    const lines = [...passage.querySelectorAll("p")].map((line) => line.textContent);
    await navigator.clipboard.writeText(lines.join("\n\n"));
    button.textContent = "Copied";
  });
  passage.before(credence.element("div", { class: "tools" }, button));
}

// Once the other scripts have run, the page is as its address says.
addEventListener("DOMContentLoaded", credence.follow);
