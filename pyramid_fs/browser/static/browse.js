// Small comforts; every page works without them: "/" goes to the search field, arrows go from block to block.
"use strict";

const isTyping = (element) => /^(input|select|textarea)$/i.test(element.tagName);

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
  if (event.key === "/") {
    const field = document.querySelector("input[type=search]");
    if (field) {
      event.preventDefault();
      field.focus();
    }
    return;
  }
  const block = event.target.closest(".pyramid a");
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!block || !step) return;
  const blocks = [...document.querySelectorAll(".pyramid a")];
  const next = blocks[blocks.indexOf(block) + step];
  if (next) {
    event.preventDefault();
    next.focus();
  }
});
