// A formula in a sentence that is wider than the page scrolls like one on its own line.
function markWideFormulas() {
  for (const formula of document.querySelectorAll(".bd-article mjx-container:not([display])")) {
    formula.classList.remove("wide-formula");
    const room = formula.closest("p, li, td, dd, figcaption, div").clientWidth;
    const wide = room > 0 && formula.getBoundingClientRect().width > room;
    formula.classList.toggle("wide-formula", wide);
  }
}

// A box that scrolls sideways can be reached, and so scrolled, with the keyboard.
function markScrollable() {
  markWideFormulas();
  const boxes = document.querySelectorAll(
    ".bd-article :is(.pst-scrollable-table-container, .output, .output pre, .highlight pre, div.math, mjx-container)",
  );
  for (const box of boxes) {
    if (box.scrollWidth > box.clientWidth || box.scrollHeight > box.clientHeight) {
      box.tabIndex = 0;
    }
  }
}

window.addEventListener("load", async () => {
  await window.MathJax?.startup?.promise;
  markScrollable();
});
window.addEventListener("resize", markScrollable);
document.addEventListener("toggle", markScrollable, true);
