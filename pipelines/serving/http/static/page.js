// Keys and short addresses; the page does everything without it.
(() => {
  "use strict";
  const query = document.getElementById("q");
  const form = document.getElementById("search");
  const hits = Array.from(document.querySelectorAll("a.hit"));
  const typing = (element) => element.matches("input:not([type=radio]):not([type=checkbox]), select, textarea");

  const step = (from, by) => {
    const next = hits[hits.indexOf(from) + by];
    if (next) {
      next.focus();
      next.closest("tr").scrollIntoView({ block: "nearest" });
    } else if (by < 0 && query) {
      query.focus();
    }
  };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const at = document.activeElement || document.body;
    if (event.key === "/" && !typing(at)) {
      event.preventDefault();
      if (query) {
        query.focus();
        query.select();
      } else {
        const back = document.getElementById("back");
        if (back) back.click();
      }
    } else if (event.key === "Escape" && at !== document.body) {
      at.blur();
    } else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && hits.length) {
      const current = hits.includes(at) ? at : at.closest("tr") && at.closest("tr").querySelector("a.hit");
      if (at !== query && !current && (typing(at) || at.closest("fieldset, details"))) return;
      if (!current && event.key === "ArrowUp") return;
      event.preventDefault();
      step(current, event.key === "ArrowDown" ? 1 : -1);
    } else if (event.key === "Escape" && document.getElementById("back")) {
      document.getElementById("back").click();
    }
  });

  if (form) {
    // What is as it is by itself needs no place in an address that is shared.
    form.addEventListener("formdata", (event) => {
      for (const control of form.querySelectorAll("[data-default]")) {
        const values = event.formData.getAll(control.name);
        if (values.every((value) => value === control.dataset.default)) event.formData.delete(control.name);
      }
    });
    form.addEventListener("change", (event) => {
      if (event.target !== query && event.target.name && query.value.trim()) form.requestSubmit();
    });
  }

  document.addEventListener("click", (event) => {
    for (const sheet of document.querySelectorAll("details.status[open]")) {
      if (!sheet.contains(event.target)) sheet.open = false;
    }
  });
})();
