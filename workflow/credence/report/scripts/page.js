// What the page's scripts share. Everything on the page is there without them.
"use strict";

const credence = {
  // The data of a widget: an element's data-data names the block that holds it.
  data(element) {
    return JSON.parse(document.getElementById(element.dataset.data).textContent);
  },

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
};
