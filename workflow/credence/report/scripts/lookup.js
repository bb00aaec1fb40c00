// Looking up one class and one score: how many of a hundred are right, and what would make it surer.
"use strict";

(() => {
  const WIDE = 0.1;

  // What is not always or never right is never said to be.
  function ofHundred(value) {
    const many = (value > 0 && value < 0.015) || (value > 0.985 && value < 1) ? 1000 : 100;
    const inside = value > 0 && value < 1;
    const found = Math.round(many * value);
    return [inside ? Math.min(Math.max(found, 1), many - 1) : found, many];
  }

  function between(entry, values, score) {
    const at = entry.score.findIndex((value) => value >= score);
    if (at < 0) return values.at(-1);
    if (at === 0 || entry.score[at] === score) return values[at];
    const low = entry.score[at - 1];
    const part = (score - low) / (entry.score[at] - low);
    return values[at - 1] === null || values[at] === null
      ? null
      : values[at - 1] + part * (values[at] - values[at - 1]);
  }

  // As in Python: lookup.more_needed.
  function moreNeeded(lower, upper, support, quantile) {
    const width = (upper - lower) / 2;
    const middle = (upper + lower) / 2;
    const binomial = (2 * quantile / width) ** 2 * middle * (1 - middle);
    const more = Math.max(4 * support, binomial) - support;
    const unit = 10 ** Math.max(0, String(Math.trunc(more)).length - 2);
    return Math.max(1, Math.round(more / unit) * unit);
  }

  function proteins(count) {
    return `${count.toLocaleString("en")} independent protein${count === 1 ? "" : "s"}`;
  }

  const drawing = credence.figures.svgElement;

  // Of a hundred such predictions: how many are right, and how many may be.
  function hundred(value, lower, upper) {
    const bar = drawing("svg", { class: "hundred", "aria-hidden": "true" });
    bar.append(drawing("rect", { class: "all", width: "100%", height: 6, y: 5 }));
    if (lower !== null) {
      bar.append(drawing("rect", { class: "range", x: `${100 * lower}%`, width: `${100 * (upper - lower)}%`, height: 6, y: 5 }));
    }
    bar.append(drawing("line", { class: "mid", x1: `${100 * value}%`, x2: `${100 * value}%`, y1: 0, y2: 16 }));
    return bar;
  }

  for (const element of credence.widgets("lookup")) {
    const data = credence.data(element);
    const ofChosen = data.methods.indexOf(data.chosen);
    const known = data.classes.filter((entry) => entry.curves[ofChosen]?.isFunction);
    if (!known.length) {
      element.hidden = true;
      continue;
    }
    const pictures = new Map([...document.querySelectorAll(".strips [data-class]")].map((picture) => [picture.dataset.class, picture]));
    const choice = credence.element("select", {}, ...known.map((entry, at) => credence.element("option", { value: at }, entry.name)));
    const number = credence.element("input", { type: "number", min: 0, max: data.end, step: "any" });
    const answer = credence.element("div", { role: "status" });
    number.value = data.start;

    function say() {
      const entry = known[Number(choice.value)];
      const score = Number(number.value);
      const shown = entry.shown ?? entry.curves[ofChosen];
      const curve = { score: entry.score, ...shown };
      const at = (values) => between(curve, values, score);
      const [value, lower, upper] = [curve.value, curve.lower, curve.upper].map((values) => {
        const found = at(values);
        return found === null ? null : found / data.unit;
      });
      answer.replaceChildren();
      document.querySelector(".strips .here")?.remove();
      const picture = pictures.get(entry.name);
      if (picture && data.axis) {
        const x = `${(100 * (score - data.axis[0])) / (data.axis[1] - data.axis[0])}%`;
        picture.append(drawing("line", { class: "here", x1: x, x2: x, y1: -3, y2: 22 }));
      }
      if (value === null) {
        answer.append(credence.element("p", { class: "answer" }, "No confidence can be given."));
        return;
      }
      const [right, many] = ofHundred(value);
      const parts = [`${entry.name}, score ${+score.toPrecision(6)}`];
      if (lower !== null) {
        const low = Math.floor(many * lower + 1e-9);
        const high = Math.ceil(many * upper - 1e-9);
        parts[0] += `: the evidence allows ${low} to ${high} of ${many}`;
      }
      if (score < entry.least || score > entry.greatest) {
        parts.push(`Calibration saw scores of ${entry.least} to ${entry.greatest} only: this is the value at the end of what it saw, or less`);
      }
      const support = at(curve.support);
      if (lower !== null && support !== null && upper - lower > WIDE) {
        parts.push(`About ${proteins(moreNeeded(lower, upper, support, data.quantile))} more${data.ofNew} with such a score would halve that range`);
      }
      answer.append(
        credence.element("p", { class: "answer" }, `Of ${many === 100 ? "100" : "1,000"} such predictions about ${right} are right`),
        credence.element("p", { class: "detail" }, `${parts.join(". ")}.`),
        hundred(value, lower, upper),
      );
    }

    number.addEventListener("input", () => {
      if (number.value === "") return;
      if (number.validity.valid) {
        say();
        return;
      }
      document.querySelector(".strips .here")?.remove();
      const words = `No score of this classifier is below 0 or above ${data.end}: give one from 0 to ${data.end}.`;
      answer.replaceChildren(credence.element("p", { class: "answer" }, words));
    });
    choice.addEventListener("change", () => {
      if (number.value === "" || !number.validity.valid) number.value = data.start;
      say();
    });
    element.append(
      credence.element("div", { class: "controls" },
        credence.element("label", {}, "Predicted as", choice),
        credence.element("label", {}, "with score", number)),
      answer);
    say();
  }
})();
