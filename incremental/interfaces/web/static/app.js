// Keys of the reading list, and what happens while a request is under way. Everything works without.
"use strict";

(function () {
  const list = () => Array.from(document.querySelectorAll(".item"));
  const current = () => document.activeElement && document.activeElement.closest(".item");

  function move(step) {
    const items = list();
    if (!items.length) return;
    const at = items.indexOf(current());
    const next = items[at < 0 ? 0 : Math.min(Math.max(at + step, 0), items.length - 1)];
    next.focus();
    next.scrollIntoView({ block: "nearest" });
  }

  function press(name) {
    const item = current();
    const button = item && item.querySelector(`[data-key="${name}"]`);
    if (button) button.click();
  }

  function open() {
    const item = current();
    const link = item && item.querySelector("a.title");
    if (link) link.click();
  }

  const keys = {
    j: () => move(1),
    k: () => move(-1),
    o: open,
    Enter: open,
    s: () => press("star"),
    r: () => press("read"),
    y: () => press("relevant"),
    n: () => press("irrelevant"),
    "/": () => {
      const box = document.querySelector("input[type=search]");
      if (box) box.focus();
    },
  };

  const help = () => {
    const keys = document.getElementById("keys");
    if (keys && !keys.open) keys.showModal();
    return keys;
  };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    const tag = event.target.tagName;
    if (event.key === "Escape" && tag === "INPUT") return event.target.blur();
    if (/^(INPUT|TEXTAREA|SELECT)$/.test(tag)) return;
    if (event.key === "?" && help()) return event.preventDefault();
    if (event.key === "Enter" && event.target !== current()) return;
    const act = keys[event.key];
    if (!act || !document.querySelector(".item")) return;
    event.preventDefault();
    act();
  });

  // Who opens a page has read it.
  function opened(event) {
    const link = event.target.closest && event.target.closest("a.title");
    const item = link && link.closest(".item.unread");
    const button = item && item.querySelector('[data-key="read"]');
    if (button && event.button < 2) window.setTimeout(() => button.click(), 0);
  }
  document.addEventListener("click", opened);
  document.addEventListener("auxclick", opened);

  document.addEventListener("click", (event) => {
    if (event.target.closest && event.target.closest("[data-open=keys]")) help();
  });

  // A file is read here, and sent as text.
  document.addEventListener("change", (event) => {
    const into = event.target.dataset && event.target.dataset.into;
    const file = into && event.target.files[0];
    if (file) file.text().then((text) => { document.getElementById(into).value = text; });
  });

  // A choice in a filter acts at once.
  document.addEventListener("change", (event) => {
    if (event.target.matches(".filters select")) event.target.form.requestSubmit();
  });

  // What cannot be undone asks first.
  document.addEventListener("submit", (event) => {
    const question = event.target.dataset.ask;
    if (question && !window.confirm(question)) {
      event.preventDefault();
      event.stopPropagation();
    }
  }, true);

  let hiding = 0;
  function say(text) {
    const toast = document.getElementById("toast");
    toast.textContent = text;
    toast.hidden = false;
    window.clearTimeout(hiding);
    hiding = window.setTimeout(() => { toast.hidden = true; }, 6000);
  }

  const chosen = (poll) => poll.hasAttribute("data-poll") && poll.querySelector("input:checked");
  document.addEventListener("htmx:beforeRequest", (event) => {
    const poll = event.target.hasAttribute("data-poll");
    // Nobody looks: what is new can wait until somebody does.
    if (poll && document.hidden) return event.preventDefault();
    // What somebody has chosen stays.
    if (chosen(event.target)) return event.preventDefault();
    if (!poll) document.body.classList.add("busy");
  });
  // Also what was chosen while the answer was on its way.
  document.addEventListener("htmx:beforeSwap", (event) => {
    if (chosen(event.detail.requestConfig.elt)) event.preventDefault();
  });
  document.addEventListener("htmx:afterRequest", () => document.body.classList.remove("busy"));
  document.addEventListener("htmx:responseError", (event) => {
    if (!event.target.hasAttribute("data-poll")) say(document.body.dataset.failed);
  });
  document.addEventListener("htmx:sendError", (event) => {
    if (!event.target.hasAttribute("data-poll")) say(document.body.dataset.offline);
  });

  // A row that is replaced keeps the focus of the keyboard.
  document.addEventListener("htmx:beforeSwap", (event) => {
    const item = event.target.closest && event.target.closest(".item");
    if (item && item.contains(document.activeElement)) document.body.dataset.focus = item.id;
  });
  document.addEventListener("htmx:afterSettle", () => {
    const id = document.body.dataset.focus;
    if (!id) return;
    delete document.body.dataset.focus;
    const item = document.getElementById(id);
    if (item) item.focus();
  });
})();
