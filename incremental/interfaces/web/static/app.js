// Keys of the reading list, and what happens while a request is under way. Everything works without.
"use strict";

(function () {
  const list = () => Array.from(document.querySelectorAll(".item"));
  const reader = document.getElementById("reader");
  // By its id, so that it is known also while the row is being replaced.
  const shown = () => document.getElementById(document.body.dataset.shown || "");
  const current = () => document.activeElement && document.activeElement.closest(".item") || shown();
  const narrow = window.matchMedia("(max-width: 960px)");

  function move(step) {
    const items = list();
    if (!items.length) return;
    const at = items.indexOf(current());
    const next = items[at < 0 ? 0 : Math.min(Math.max(at + step, 0), items.length - 1)];
    if (shown() && next.id.startsWith("news-")) return read(next);
    next.focus();
    next.scrollIntoView({ block: "nearest" });
  }

  function press(name) {
    const item = current();
    const button = item && item.querySelector(`[data-key="${name}"]`);
    if (button) button.click();
  }

  // The pane has the marks of the row that it shows.
  function copyMarks() {
    const item = shown(), marks = reader && reader.querySelector(".marks");
    if (!item || !marks) return;
    marks.replaceChildren(...Array.from(item.querySelectorAll(".actions button"), (button) => {
      const copy = button.cloneNode(true);
      copy.type = "button";
      return copy;
    }));
  }

  // Who opens a page has read it.
  function markRead(item) {
    const form = item.classList.contains("unread") && item.querySelector(".actions form");
    if (!form) return;
    const topic = form.querySelector("[name=topic]");
    const values = { mark: "read", quiet: "true", topic: topic ? topic.value : "" };
    window.htmx.ajax("POST", form.action, { source: item, target: item, swap: "outerHTML", values });
  }

  function setCovered(covered) {
    for (const part of document.querySelectorAll(".top, .head, .filters, .saved, #list")) part.inert = covered;
  }

  function read(item) {
    const search = new URLSearchParams(window.location.search).get("q") || "";
    const before = shown();
    if (before) before.classList.remove("shown");
    else window.history.pushState({ reading: true }, "");
    item.classList.add("shown");
    document.body.dataset.shown = item.id;
    const address = `/pages/${item.id.slice(5)}?q=${encodeURIComponent(search)}`;
    window.htmx.ajax("GET", address, { source: reader, target: reader, swap: "innerHTML" }).then(() => {
      const now = shown();
      if (now !== item && (!now || now.id !== item.id)) return;
      reader.hidden = false;
      reader.scrollTop = 0;
      document.body.classList.add("reading");
      setCovered(narrow.matches);
      copyMarks();
      reader.focus({ preventScroll: true });
      now.scrollIntoView({ block: "nearest" });
      markRead(now);
    });
  }

  function close() {
    const item = shown();
    if (!item) return;
    item.classList.remove("shown");
    delete document.body.dataset.shown;
    document.body.classList.remove("reading");
    setCovered(false);
    reader.hidden = true;
    reader.replaceChildren();
    item.focus();
  }
  window.addEventListener("popstate", close);

  function open() {
    const item = current();
    if (!item) return;
    if (item.id.startsWith("news-") && reader) read(item);
    else item.querySelector("a.title").click();
  }

  function openOriginal() {
    const item = current();
    const link = item && item.querySelector("a.original");
    if (!link) return;
    link.click();
    markRead(item);
  }

  const keys = {
    j: () => move(1),
    k: () => move(-1),
    o: open,
    Enter: open,
    v: openOriginal,
    Escape: () => shown() && window.history.back(),
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
    if (event.key === "z") return window.htmx.ajax("POST", "/undo", { source: toast(), target: toast(), swap: "none" });
    if (event.key === "Enter" && !(event.target.matches(".item"))) return;
    const act = keys[event.key];
    if (!act || !document.querySelector(".item")) return;
    event.preventDefault();
    act();
  });

  // A menu closes when something else is clicked, or one of its links.
  document.addEventListener("click", (event) => {
    for (const menu of document.querySelectorAll("details.send[open]")) {
      if (!event.target.closest("summary") || !menu.contains(event.target)) menu.open = false;
    }
  });
  document.addEventListener("click", (event) => {
    const at = event.target.closest ? event.target : null;
    const item = at && at.closest(".item");
    const link = at && at.closest("a, button");
    if (link && link.matches("[data-close]")) return window.history.back();
    if (link && link.dataset.step) return move(Number(link.dataset.step));
    if (link && link.closest(".marks")) return press(link.dataset.key);
    if (!item || !at.closest("article") || (link && !link.matches("a.title"))) return;
    if (!reader || !item.id.startsWith("news-") || event.ctrlKey || event.metaKey || event.shiftKey) return;
    if (String(window.getSelection())) return;
    event.preventDefault();
    read(item);
  });

  function opened(event) {
    const link = event.target.closest && event.target.closest("a.original");
    const item = link && link.closest(".item");
    if (item && event.isTrusted && event.button < 2) markRead(item);
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

  const toast = () => document.getElementById("toast");
  let hiding = 0;
  function hideSoon() {
    window.clearTimeout(hiding);
    hiding = window.setTimeout(() => {
      if (toast().contains(document.activeElement)) return hideSoon();
      toast().hidden = true;
    }, 8000);
  }
  function say(text) {
    toast().textContent = text;
    toast().hidden = false;
    hideSoon();
  }
  hideSoon();

  // A phone shows some of the tabs only.
  const tab = document.querySelector(".tabs [aria-current]");
  if (tab) tab.scrollIntoView({ block: "nearest", inline: "center" });

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
  // What is replaced while the pane shows it stays what it shows.
  document.addEventListener("htmx:afterSettle", () => {
    const item = shown();
    if (item) item.classList.add("shown");
    copyMarks();
    if (!toast().hidden) hideSoon();
    // Rows that arrive bring the heading of their day, which may be there already.
    const days = new Set();
    for (const heading of document.querySelectorAll('.group[data-group^="day "]')) {
      if (days.has(heading.dataset.group)) heading.remove();
      days.add(heading.dataset.group);
    }
  });
  document.addEventListener("htmx:afterSettle", () => {
    const id = document.body.dataset.focus;
    if (!id) return;
    delete document.body.dataset.focus;
    const item = document.getElementById(id);
    if (item) item.focus();
  });
})();
