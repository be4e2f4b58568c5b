// A box that scrolls sideways can be reached, and so scrolled, with the keyboard.
function markScrollable() {
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
