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

  // A text, saved as a file.
  download(name, text) {
    const address = URL.createObjectURL(new Blob([text], { type: "text/tab-separated-values" }));
    const link = credence.element("a", { href: address, download: name });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
  },
};

// A folded part that a link leads into is opened.
credence.unfold = () => {
  const target = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
  for (let part = target && target.closest("details"); part; part = part.parentElement.closest("details")) part.open = true;
};
window.addEventListener("hashchange", credence.unfold);
credence.unfold();

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
