// Looking up one class and one score: how sure, how sure of that, and what would make it surer.
"use strict";

(() => {
  const WIDE = 0.1;
  const TARGETS = [0.95, 0.9, 0.8, 0.5];

  // As on the rest of the page: what is not 0 or 1 is never written as if it were.
  function share(value) {
    if (value > 0 && value < 0.0005) return "<0.001";
    if (value >= 0.9995 && value < 1) return ">0.999";
    if ((value > 0 && value < 0.0095) || (value > 0.985 && value < 1)) return value.toFixed(3);
    return value.toFixed(2);
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

  for (const element of credence.widgets("lookup")) {
    const data = credence.data(element);
    const ofChosen = data.methods.indexOf(data.chosen);
    const known = data.classes.filter((entry) => entry.curves[ofChosen]?.isFunction);
    if (!known.length) {
      element.hidden = true;
      continue;
    }
    const choice = credence.element("select", {}, ...known.map((entry, at) => credence.element("option", { value: at }, entry.name)));
    const step = data.scale / 100;
    const limits = { min: 0, max: data.end };
    const number = credence.element("input", { type: "number", ...limits, step: "any" });
    const slider = credence.element("input", { type: "range", ...limits, step, "aria-label": "score" });
    const answer = credence.element("div", { role: "status" });
    number.value = slider.value = data.start;

    function say() {
      const entry = known[Number(choice.value)];
      const score = Number(number.value);
      const curve = entry.curves[ofChosen];
      const at = (values) => between(entry, values, score);
      const [value, lower, upper] = [curve.value, curve.lower, curve.upper].map((values) => {
        const found = at(values);
        return found === null ? null : found / data.unit;
      });
      answer.replaceChildren();
      if (value === null) {
        answer.append(credence.element("p", { class: "answer" }, "No confidence can be given."));
        return;
      }
      const isSeen = score >= entry.least && score <= entry.greatest;
      const bracket = lower === null ? "" : ` (${share(lower)}–${share(upper)})`;
      answer.append(credence.element("p", { class: "answer" },
        `A prediction of ${entry.name} with score ${+score.toPrecision(6)} is right with probability `,
        credence.element("strong", {}, share(value)), `${bracket}.`));
      if (lower !== null) {
        const range = credence.element("span", { class: "range" });
        const point = credence.element("span", { class: "point" });
        range.style.left = `${100 * lower}%`;
        range.style.width = `${100 * (upper - lower)}%`;
        point.style.left = `${100 * value}%`;
        answer.append(
          credence.element("div", { class: "bar", "aria-hidden": "true" }, range, point),
          credence.element("p", { class: "ends", "aria-hidden": "true" }, credence.element("span", {}, "0: always wrong"), credence.element("span", {}, "1: always right")));
      }
      const support = at(curve.support);
      const near = support === null ? null : Math.round(support);
      const parts = [];
      if (!isSeen) {
        parts.push(`Calibration saw scores of ${entry.name} from ${entry.least} to ${entry.greatest} only: this is the value at the end of what it saw, or less.`);
      }
      if (lower !== null) {
        const sure = `How sure is that? The ${data.level} % interval reaches from ${share(lower)} to ${share(upper)}`;
        parts.push(near === null ? `${sure}.` : `${sure}; the evidence near this score is that of about ${proteins(near)}.`);
        if (near !== null && upper - lower > WIDE) {
          parts.push(`What would make it surer? About ${proteins(moreNeeded(lower, upper, support, data.quantile))} more, of known class and new families, predicted ${entry.name} with such a score, would halve the interval; more relatives of those at hand would not.`);
        }
      }
      const target = TARGETS.find((level) => typeof entry.needed[level] === "number");
      parts.push(target === undefined
        ? `At no score is the lower end of the interval above 0.50 for ${entry.name}.`
        : score >= entry.needed[target]
          ? `From score ${entry.needed[target]} on it is at least ${share(target)}, even at the lower end.`
          : `For at least ${share(target)}, even at the lower end, ask for a score of ${entry.needed[target]} or more.`);
      answer.append(credence.element("p", {}, parts.join(" ")));
    }

    number.addEventListener("input", () => {
      if (number.value === "" || !number.validity.valid) return;
      slider.value = number.value;
      say();
    });
    slider.addEventListener("input", () => {
      number.value = slider.value;
      say();
    });
    choice.addEventListener("change", () => {
      if (number.value === "" || !number.validity.valid) number.value = slider.value;
      say();
    });
    element.append(
      credence.element("div", { class: "controls" },
        credence.element("label", {}, "Predicted class", choice),
        credence.element("label", {}, "score", number), slider),
      answer);
    say();
  }
})();
