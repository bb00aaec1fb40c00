// Class by class: curves of further methods laid over the chosen one.
"use strict";

(() => {
  const DASHES = ["", "5 3", "1.5 2.5", "8 2 1.5 2"];
  const LOOKS = ["", "dashed", "dotted", "double"];
  const N_COLOURS = 6;

  for (const element of credence.widgets("explorer")) {
    const data = credence.data(element);
    // The chosen method has the first colour in the drawings already.
    const others = data.methods.map((name, number) => [name, number]).filter(([name]) => name !== data.chosen);
    const turnOf = (number) => others.findIndex(([, other]) => other === number) + 1;
    const lookOf = (number, looks) => looks[Math.floor(turnOf(number) / N_COLOURS) % looks.length];
    const colourOf = (number) => `s${(turnOf(number) % N_COLOURS) + 1}`;

    function curveOf(entry, number) {
      const curve = entry.curves[number];
      const svg = document.querySelector(`#figure-confidence-${entry.slug} svg`);
      if (!curve || !svg) return;
      const place = credence.figures.placesOf(svg);
      const seen = (curve.score || entry.score).map((score, at) => [score, curve.value[at]])
        .filter(([score, value]) => value !== null && score >= entry.least && score <= entry.greatest);
      const path = seen.map(([score, value], at) =>
        `${at ? "L" : "M"}${place.x(score).toFixed(2)} ${place.y(value / data.unit).toFixed(2)}`).join("");
      svg.append(credence.figures.svgElement("path", {
        class: `laid ${colourOf(number)}`,
        "data-method": number,
        "stroke-dasharray": lookOf(number, DASHES) || "none",
        d: path,
      }));
    }

    function lay(number, isOn) {
      if (isOn) for (const entry of data.classes) curveOf(entry, number);
      else for (const path of document.querySelectorAll(`path.laid[data-method="${number}"]`)) path.remove();
    }

    const controls = credence.element("div", { class: "controls" });
    if (data.classes.length > 1) {
      controls.append(credence.classChoice(), credence.element("a", { href: "#classes" }, "All classes"));
    }
    if (others.length) {
      const set = credence.element("fieldset", {}, credence.element("legend", {}, `Lay over ${data.chosen}`));
      for (const [name, number] of others) {
        const box = credence.element("input", { type: "checkbox" });
        box.addEventListener("change", () => lay(number, box.checked));
        const look = `swatch ${colourOf(number)} ${lookOf(number, LOOKS)}`.trim();
        const swatch = credence.element("span", { class: look, "aria-hidden": "true" });
        set.append(credence.element("label", {}, box, swatch, name));
      }
      controls.append(set);
    }
    element.append(controls);
  }
})();
