// Figures: what a point stands for, shown where one points or presses arrow keys; saving.
"use strict";

(() => {
  function numbers(text) {
    return text.split(" ").map(Number);
  }

  // From numbers of the axes to the drawing's own units.
  function placesOf(svg) {
    const [left, top, right, bottom] = numbers(svg.dataset.box);
    const [x0, x1, y0, y1] = numbers(svg.dataset.ends);
    return {
      x: (value) => left + ((value - x0) / (x1 - x0)) * (right - left),
      y: (value) => bottom - ((value - y0) / (y1 - y0)) * (bottom - top),
    };
  }

  const svgElement = credence.svgElement;

  // What a file of its own needs, which has no stylesheet.
  const STYLES = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray",
    "stroke-linecap", "stroke-linejoin", "font-family", "font-size", "font-weight", "text-anchor"];
  const DOTS = 4; // of a picture, for each point of the drawing

  // The text of a drawing as a file, in the colours of paper whatever the screen's are.
  function fileOf(svg, title) {
    svg.classList.add("on-paper");
    const copy = svg.cloneNode(true);
    const parts = [svg, ...svg.querySelectorAll("*")];
    [copy, ...copy.querySelectorAll("*")].forEach((part, at) => {
      const style = getComputedStyle(parts[at]);
      const around = at ? getComputedStyle(parts[at].parentNode) : {};
      for (const name of STYLES) if (style[name] !== around[name]) part.setAttribute(name, style[name]);
      if (style.opacity !== "1") part.setAttribute("opacity", style.opacity);
      part.removeAttribute("class");
    });
    svg.classList.remove("on-paper");
    for (const mark of copy.querySelectorAll("circle[visibility]")) mark.remove();
    const { width, height } = svg.viewBox.baseVal;
    copy.setAttribute("width", width);
    copy.setAttribute("height", height);
    copy.removeAttribute("aria-hidden");
    const words = svgElement("title", {});
    words.textContent = title;
    copy.prepend(words);
    return new XMLSerializer().serializeToString(copy);
  }

  function savePicture(svg, title, name) {
    const image = new Image();
    image.addEventListener("load", () => {
      const canvas = credence.element("canvas", { width: DOTS * image.width, height: DOTS * image.height });
      const brush = canvas.getContext("2d");
      brush.fillStyle = "white";
      brush.fillRect(0, 0, canvas.width, canvas.height);
      brush.drawImage(image, 0, 0, canvas.width, canvas.height);
      canvas.toBlob((blob) => credence.download(name, "png", blob, "image/png"));
    });
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(fileOf(svg, title))}`;
  }

  // Buttons that save a drawing and its data; each is made, in the page, when one is pressed.
  function saving(name, title, drawn, data) {
    const button = (kind, save) => {
      const made = credence.element("button", { type: "button", "aria-label": `Save as ${kind}: ${name}` }, kind);
      made.addEventListener("click", save);
      return made;
    };
    return credence.element("span", { class: "saving" },
      button("SVG", () => credence.download(name, "svg", fileOf(drawn(), title), "image/svg+xml")), " ",
      button("PNG", () => savePicture(drawn(), title, name)), " ",
      button("TSV", () => credence.download(name, "tsv", credence.tsv(data()))));
  }

  // What is drawn, by the names of its axes; the words have each number with its interval and n.
  function pointsOf(figure) {
    const points = JSON.parse(figure.querySelector("script.points").textContent);
    const { axis, upright } = figure.querySelector("svg").dataset;
    return [[axis || "x", upright || "y", "in words"], ...points.map(([x, y, text]) => [String(x), String(y), text])];
  }

  // The picture of all classes is a table, to be read as one; to be saved it is drawn anew.
  const NAMES = 170, STRIP = 480, COLUMN = 95, ROW = 28, TOP = 76; // widths and heights
  function drawingOf(table) {
    const rows = [...table.tBodies[0].rows], [, , ...columns] = table.tHead.rows[0].cells;
    const width = NAMES + STRIP + COLUMN * columns.length + 10, height = TOP + ROW * rows.length + 10;
    document.querySelector("svg.strips")?.remove();
    const svg = svgElement("svg", { class: "strips quiet", viewBox: `0 0 ${width} ${height}`, width, height });
    const write = (x, y, text, anchor) => {
      const made = svgElement("text", { x, y, "text-anchor": anchor });
      made.textContent = text.trim();
      svg.append(made);
      return made.getComputedTextLength();
    };
    const draw = (strip, y) => {
      const copy = strip.cloneNode(true);
      for (const [name, value] of Object.entries({ x: NAMES, y, width: STRIP, height: 20 })) copy.setAttribute(name, value);
      svg.append(copy);
    };
    table.after(svg); // text can be measured from here on
    let x = 0;
    for (const swatch of document.querySelectorAll("#classes .legend li svg")) {
      const copy = swatch.cloneNode(true);
      copy.setAttribute("x", x);
      copy.setAttribute("y", 2);
      svg.append(copy);
      x += 20;
      x += write(x, 14, swatch.parentNode.textContent, "start") + 26;
    }
    const ticks = table.tHead.querySelector(".ticks");
    if (ticks) draw(ticks, TOP - 20);
    columns.forEach((cell, at) => {
      const words = cell.textContent.trim().split(" "), half = Math.ceil(words.length / 2);
      const x = NAMES + STRIP + COLUMN * (at + 1);
      write(x, TOP - 24, words.slice(0, half).join(" "), "end");
      write(x, TOP - 10, words.slice(half).join(" "), "end");
    });
    rows.forEach((row, number) => {
      const y = TOP + ROW * number, [name, strip, ...cells] = row.cells;
      write(0, y + 15, name.textContent, "start");
      draw(strip.querySelector("svg"), y);
      cells.forEach((cell, at) => write(NAMES + STRIP + COLUMN * (at + 1), y + 15, cell.textContent, "end"));
    });
    for (const part of svg.querySelectorAll("svg")) part.setAttribute("overflow", "visible");
    return svg;
  }

  // A page may have hundreds of figures: each is made ready when somebody comes to it.
  function prepare(figure) {
    const drawing = figure.querySelector(".drawing");
    const begin = () => {
      drawing.removeEventListener("pointerenter", begin);
      drawing.removeEventListener("focus", begin);
      listen(figure, drawing);
    };
    drawing.tabIndex = 0;
    drawing.addEventListener("pointerenter", begin);
    drawing.addEventListener("focus", begin);
  }

  function listen(figure, drawing) {
    const svg = drawing.querySelector("svg");
    const place = placesOf(svg);
    const points = JSON.parse(figure.querySelector("script.points").textContent)
      .map(([x, y, text]) => ({ x: place.x(x), y: place.y(y), text }));
    if (!points.length) return;
    const mark = svgElement("circle", { class: "pointed", r: 4, visibility: "hidden" });
    const readout = credence.element("div", { class: "readout", hidden: true });
    const spoken = credence.element("div", { class: "skip", role: "status" });
    let current = -1;
    svg.append(mark);
    drawing.after(spoken);
    drawing.append(readout);

    function show(number) {
      const { x, y, text } = points[number];
      const scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
      current = number;
      mark.setAttribute("cx", x);
      mark.setAttribute("cy", y);
      mark.setAttribute("visibility", "visible");
      readout.textContent = text;
      readout.hidden = false;
      const free = drawing.clientWidth - readout.offsetWidth;
      readout.style.left = `${Math.max(0, Math.min(free, x * scale - readout.offsetWidth / 2))}px`;
      const above = y * scale - readout.offsetHeight - 10;
      readout.style.top = `${above >= 0 ? above : y * scale + 12}px`;
    }

    function hide() {
      mark.setAttribute("visibility", "hidden");
      readout.hidden = true;
    }

    // Along a curve the score decides; otherwise what lies nearest.
    const isCurve = figure.id.startsWith("figure-confidence-");

    function nearest(event) {
      const box = svg.getBoundingClientRect();
      const scale = box.width / svg.viewBox.baseVal.width;
      const x = (event.clientX - box.left) / scale;
      const y = (event.clientY - box.top) / scale;
      const distances = points.map((point) => Math.hypot(point.x - x, isCurve ? 0 : point.y - y));
      return distances.indexOf(Math.min(...distances));
    }

    svg.addEventListener("pointermove", (event) => show(nearest(event)));
    svg.addEventListener("pointerdown", (event) => show(nearest(event)));
    svg.addEventListener("pointerleave", hide);
    drawing.addEventListener("blur", hide);
    drawing.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      event.preventDefault();
      show((current + step + points.length) % points.length);
      spoken.textContent = points[current].text;
    });
  }

  for (const figure of document.querySelectorAll("main figure")) {
    prepare(figure);
    const [svg, drawing] = [figure.querySelector("svg"), figure.querySelector(".drawing")];
    const name = figure.id.replace("figure-", "");
    figure.querySelector("figcaption").append(" ", saving(name, drawing.getAttribute("aria-label"), () => svg, () => pointsOf(figure)));
  }
  const strips = document.querySelector("#classes table.strips");
  if (strips) {
    const basis = document.querySelector("#classes .basis"), title = `${strips.caption.textContent}. ${basis.textContent.trim()}`;
    // A row for each class: its numbers, then each stretch of its picture.
    const data = () => [...strips.rows].map((row, at) => {
      const [name, strip, ...cells] = row.cells;
      const bands = [...strip.querySelectorAll("rect title")].map((band) => band.textContent).join("; ");
      return [name, ...cells].map((cell) => cell.textContent.trim()).concat(at ? bands : "confidence over the score");
    });
    basis.append(" ", saving("classes", title, () => drawingOf(strips), data));
  }
})();
