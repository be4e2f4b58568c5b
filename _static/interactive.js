// Figures to play with. When one comes near the view, the library is loaded, on no other page and
// at no other time, and the chart takes the place of the picture. Without scripts, and on paper,
// the picture stays.
{
  const library = new URL("vega.js", document.currentScript.src).href;
  let loaded;

  function load() {
    loaded ??= new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = library;
      script.onload = () => resolve(window.vegaEmbed);
      script.onerror = () => reject(new Error(`${library} was not loaded`));
      document.head.append(script);
    });
    return loaded;
  }

  function add(parent, name, className, attributes = {}) {
    const element = document.createElement(name);
    element.className = className;
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    parent.append(element);
    return element;
  }

  // The library writes the number of a slider beside it. Some numbers stand for others, and none
  // is part of the slider's name.
  function nameControls(box, controls) {
    for (const input of box.querySelectorAll("input[type=range]")) {
      const number = input.nextElementSibling;
      const { label, values } = controls[input.name] ?? {};
      number.setAttribute("aria-hidden", "true");
      if (!values) continue;
      input.previousElementSibling.textContent = label;
      number.hidden = true;
      const shown = add(input.parentElement, "span", "", { "aria-hidden": "true" });
      const write = () => {
        shown.textContent = values[input.value];
        input.setAttribute("aria-valuetext", values[input.value]);
      };
      input.addEventListener("input", write);
      write();
    }
  }

  async function bring(source) {
    const figure = source.closest("figure");
    const picture = figure.querySelector("img");
    const spec = JSON.parse(source.textContent);
    const embed = await load();
    const box = document.createElement("div");
    box.className = "interactive";
    source.after(box);
    const controls = add(box, "div", "interactive-controls", {
      role: "group",
      "aria-label": "Controls of the figure",
    });
    const chart = add(box, "div", "interactive-chart");
    const spoken = add(box, "p", "interactive-spoken", { role: "status" });
    delete spec.$schema; // the one that JupyterLab knows is not the newest
    spec.width = "container";
    spec.autosize = { type: "fit-x", contains: "padding", resize: true };
    spec.config.background = null;
    spec.description = picture.alt;
    const { view } = await embed(chart, spec, {
      mode: "vega-lite",
      renderer: "svg",
      bind: controls,
      actions: false,
      tooltip: false,
      defaultStyle: false,
    });
    nameControls(controls, spec.usermeta.controls);
    figure.classList.add("has-chart");
    // What the chart says in words is read out when the reader has stopped moving a control.
    let timer;
    controls.addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(async () => {
        await view.runAsync();
        const lines = chart.querySelectorAll(".words_marks tspan, .words_marks text:not(:has(tspan))");
        spoken.textContent = [...lines].map((line) => line.textContent).join(". ");
      }, 500);
    });
  }

  function watch() {
    const observer = new IntersectionObserver(
      (entries) => {
        for (const { isIntersecting, target } of entries) {
          if (!isIntersecting) continue;
          observer.unobserve(target);
          bring(target.querySelector("script.interactive")).catch(console.error);
        }
      },
      { rootMargin: "400px" },
    );
    for (const source of document.querySelectorAll("figure script.interactive")) {
      observer.observe(source.closest("figure"));
    }
  }

  window.addEventListener("DOMContentLoaded", watch);
}
