// Sliders for the composition: every class's curve at once, from densities by
// predicted and true class. The formula is that of credence.shift.what_if.
"use strict";

{
  const WIDE = 320;
  const TALL = 190;
  const LEFT = 34;
  const RIGHT = 8;
  const TOP = 8;
  const BOTTOM = 28;
  const STEP = 0.1; // per cent

  const drawn = (tag, attributes, text = "") => {
    const made = credence.figures.svgElement(tag, attributes);
    made.textContent = text;
    return made;
  };

  // Confidence of every class over the grid, and the effective number of families behind it.
  const curvesAt = (data, share) => {
    const total = share.reduce((sum, value) => sum + value, 0);
    const weight = share.map((value, one) =>
      data.share[one] > 0 ? value / total / data.share[one] : 0);
    const found = data.classes.map(() => ({
      right: 0, all: 0, squares: 0, families: 0, value: null,
      top: new Float64Array(data.score.length), bottom: new Float64Array(data.score.length),
    }));
    for (const [predicted, truth, mass, squares, families, density] of data.parts) {
      const own = found[predicted];
      const w = weight[truth];
      own.all += w * mass;
      own.squares += w * w * squares;
      own.families += w * w * families;
      for (let at = 0; at < density.length; at += 1) own.bottom[at] += w * density[at];
      if (predicted !== truth) continue;
      own.right += w * mass;
      for (let at = 0; at < density.length; at += 1) own.top[at] += w * density[at];
    }
    for (const own of found) {
      if (!(own.all > 0)) continue;
      own.families = own.all * own.all / own.families;
      own.isScarce = own.all * own.all < data.least * own.squares || own.right === 0 || own.right === own.all;
      if (own.isScarce) {
        own.value = data.score.map(() => (own.right + 0.5) / (own.all + 1));
        continue;
      }
      const overall = own.right / own.all;
      own.value = data.score.map((_, at) => {
        const bottom = own.bottom[at] + data.prior;
        return bottom > 0 ? (own.top[at] + data.prior * overall) / bottom : overall;
      });
    }
    return found;
  };

  const perCent = (value) => `${(100 * value).toFixed(1)} %`;

  const asConfidence = (value) => {
    if (value > 0.9995 && value < 1) return ">0.999";
    if (value > 0 && value < 0.0005) return "<0.001";
    return value.toFixed(value > 0.985 && value < 1 ? 3 : 2);
  };

  const at = (score, value, where) => {
    let above = score.findIndex((one) => one >= where);
    if (above <= 0) above = above === 0 ? 1 : score.length - 1;
    const part = (where - score[above - 1]) / (score[above] - score[above - 1]);
    return value[above - 1] + Math.min(part, 1) * (value[above] - value[above - 1]);
  };

  // A figure of one class: its curve as calibrated, dashed, and the moved one.
  const panelOf = (data, one) => {
    const end = data.score[data.score.length - 1];
    const x = (score) => LEFT + score / end * (WIDE - LEFT - RIGHT);
    const y = (value) => TOP + (1 - value) * (TALL - TOP - BOTTOM);
    const [low, median, high] = data.ranges[one];
    const pathOf = (value) => {
      // Beyond the scores that calibration saw nothing is drawn.
      const points = [];
      data.score.forEach((score, place) => {
        if (score > low && score < high) points.push([score, value[place]]);
      });
      points.unshift([low, at(data.score, value, low)]);
      points.push([high, at(data.score, value, high)]);
      return points.map(([score, height], place) =>
        `${place ? "L" : "M"}${x(score).toFixed(2)} ${y(height).toFixed(2)}`).join("");
    };
    const svg = drawn("svg", { viewBox: `0 0 ${WIDE} ${TALL}`, "aria-hidden": "true", focusable: "false" });
    for (const value of [0, 0.25, 0.5, 0.75, 1]) {
      svg.append(drawn("path", { class: "what-if-grid", d: `M${LEFT} ${y(value)}H${WIDE - RIGHT}` }));
      if (value % 0.5 === 0) {
        svg.append(drawn("text", { x: LEFT - 5, y: y(value) + 3, "text-anchor": "end" }, value.toFixed(1)));
      }
    }
    for (const part of [0, 0.25, 0.5, 0.75, 1]) {
      const text = String(Number((part * end).toPrecision(3)));
      const anchor = part === 1 ? "end" : "middle";
      svg.append(drawn("text", { x: x(part * end), y: TALL - 14, "text-anchor": anchor }, text));
    }
    svg.append(drawn("text", { x: (LEFT + WIDE - RIGHT) / 2, y: TALL - 2, "text-anchor": "middle" }, "score"));
    const before = drawn("path", { class: "what-if-before" });
    const now = drawn("path", { class: "what-if-now" });
    svg.append(before, now);
    const words = credence.element("p", { class: "what-if-words" });
    const box = credence.element("div", { class: "what-if-panel" },
      credence.element("h4", {}, data.classes[one]), svg, words,
      credence.figures.saving(`what-if-${one + 1}`, `${data.classes[one]} at the mix chosen`, () => svg));
    return { box, before, now, words, pathOf, median };
  };

  const start = (element) => {
    const data = credence.data(element);
    const sliders = [];
    let share = data.share.slice();
    const original = curvesAt(data, share);
    const panels = data.classes.map((_, one) => original[one].value ? panelOf(data, one) : null);
    panels.forEach((panel, one) => {
      if (panel) panel.before.setAttribute("d", panel.pathOf(original[one].value));
    });
    const status = credence.element("p", { class: "what-if-status", role: "status" });

    const draw = () => {
      const found = curvesAt(data, share);
      sliders.forEach(({ input, output }, one) => {
        input.value = String(100 * share[one]);
        input.setAttribute("aria-valuetext", perCent(share[one]));
        output.textContent = perCent(share[one]);
      });
      panels.forEach((panel, one) => {
        if (!panel) return;
        const { value, families, isScarce } = found[one];
        panel.box.classList.toggle("what-if-scarce", Boolean(isScarce) || !value);
        if (!value) {
          panel.now.removeAttribute("d");
          panel.words.textContent = "No such predictions are left.";
          return;
        }
        panel.now.setAttribute("d", panel.pathOf(value));
        const number = Math.round(families);
        const behind = `from about ${number.toLocaleString("en")} independent `
          + (number === 1 ? "protein" : "proteins");
        const before = at(data.score, original[one].value, panel.median);
        panel.words.textContent = `At score ${Number(panel.median.toPrecision(3))}: `
          + `${asConfidence(at(data.score, value, panel.median))}, as calibrated `
          + `${asConfidence(before)}; ${behind}`
          + (isScarce ? ": too few, or all alike, for a curve." : ".");
      });
      element.dispatchEvent(new CustomEvent("what-if", {
        detail: { share: share.slice(), curves: found.map(({ value }) => value) },
      }));
    };

    // One class is set; the others share the rest in their proportions, or, where nothing
    // is left of them, in those of the calibration set.
    const move = (one, value) => {
      const besides = (shares) => shares.reduce((sum, entry, other) => other === one ? sum : sum + entry, 0);
      const kept = besides(share) > 0 ? share : data.share;
      const rest = besides(kept);
      if (rest === 0) value = 1; // no other class is known
      share = kept.map((entry, other) => other === one ? value : (rest > 0 ? entry / rest * (1 - value) : 0));
      draw();
    };

    const set = (name, values) => {
      const known = values.map((value, one) => data.share[one] > 0 ? value : 0);
      const total = known.reduce((sum, value) => sum + value, 0);
      share = known.map((value) => value / total);
      draw();
      status.textContent = `Drawn for ${name}.`;
    };

    const buttons = credence.element("div", { class: "what-if-presets" });
    const n_known = data.share.filter((value) => value > 0).length;
    const presets = [
      { name: "the calibration set", share: data.share },
      ...data.presets,
      { name: "all classes alike", share: data.share.map(() => 1 / n_known) },
    ];
    presets.forEach((preset, place) => {
      const button = credence.element("button", { type: "button" },
        place === 0 ? "Reset: the calibration set" : preset.name);
      button.addEventListener("click", () => set(preset.name, preset.share));
      buttons.append(button);
    });

    const controls = credence.element("div", { class: "what-if-controls" });
    data.classes.forEach((name, one) => {
      const isKnown = data.share[one] > 0;
      const id = `${element.id}-${one}`;
      const input = credence.element("input", {
        type: "range", id, min: 0, max: 100, step: STEP, disabled: !isKnown,
      });
      const output = credence.element("output", { for: id });
      input.addEventListener("input", () => {
        move(one, Number(input.value) / 100);
        status.textContent = "";
      });
      const label = credence.element("label", { for: id }, name);
      controls.append(credence.element("div", { class: "what-if-slider" }, label, input, output));
      sliders.push({ input, output });
    });
    const key = credence.element("p", { class: "what-if-key" },
      "Dashed: as calibrated. Line: at the mix of the sliders. Drawn where calibration saw scores.");
    const figures = credence.element("div", { class: "what-if-panels" });
    for (const panel of panels) if (panel) figures.append(panel.box);
    element.append(buttons, controls, status, key, figures);
    draw();
  };

  for (const element of credence.widgets("what-if")) start(element);
}
