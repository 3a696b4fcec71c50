// Keys, short addresses, copying and the way back; the page does everything else without it.
(() => {
  "use strict";
  const query = document.getElementById("q");
  const form = document.getElementById("search");
  const back = document.getElementById("back");
  const hits = Array.from(document.querySelectorAll("a.hit"));
  const typing = (element) => element.matches("input:not([type=radio]):not([type=checkbox]), select, textarea");
  const OPENED = "strata-opened";
  const ANSWERS = "strata-answers";

  /** The browser may refuse to keep anything; then nothing is focused. */
  const kept = (act) => {
    try {
      return act(window.sessionStorage);
    } catch {
      return null;
    }
  };

  const show = (hit) => {
    hit.focus({ preventScroll: true });
    hit.closest("li").scrollIntoView({ block: "nearest" });
  };

  const step = (from, by) => {
    const next = hits[hits.indexOf(from) + by];
    if (next) show(next);
    else if (by < 0 && query) query.focus();
  };

  const here = () => (window.navigation && window.navigation.currentEntry) || { index: 0, key: "" };

  /** Go back to the answers where they are in the history; else put them in this page's place. */
  const leave = () => {
    const [address, key] = JSON.parse(kept((store) => store.getItem(ANSWERS)) || "[]");
    const before = here().index > 0 ? window.navigation.entries().slice(0, here().index) : [];
    if (address === back.href && before.some((entry) => entry.key === key)) window.navigation.traverseTo(key);
    else window.location.replace(back.href);
  };

  // --- copying ---

  const copied = async (text) => {
    if (navigator.clipboard) {
      await navigator.clipboard.writeText(text);
      return true;
    }
    const box = document.body.appendChild(document.createElement("textarea")); // an address that is not trusted
    const at = document.activeElement;
    box.className = "visually-hidden";
    box.value = text;
    box.select();
    const done = document.execCommand("copy");
    box.remove();
    if (at) at.focus({ preventScroll: true });
    return done;
  };

  const copy = async (button) => {
    const done = await copied(button.dataset.copy).catch(() => false);
    button.textContent = done ? "Copied" : "Not copied";
    window.setTimeout(() => { button.textContent = "Copy path"; }, 1500);
  };

  for (const button of document.querySelectorAll("button.copy")) {
    button.hidden = false;
    button.setAttribute("aria-live", "polite");
    button.addEventListener("click", () => copy(button));
  }

  // --- keys ---

  const escape = (at) => {
    const sheet = document.querySelector("details.status[open]");
    if (sheet) sheet.open = false;
    else if (back) leave();
    else if (at !== document.body) at.blur();
  };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const at = document.activeElement || document.body;
    const item = at.closest(".hits > li, .chunk");
    if (event.key === "/" && !typing(at)) {
      event.preventDefault();
      if (query) {
        query.focus();
        query.select();
      } else if (back) {
        leave();
      }
    } else if (event.key === "Escape") {
      escape(at);
    } else if (event.key === "c" && !typing(at)) {
      const button = (item || (back && document) || at).querySelector("button.copy");
      if (button) copy(button);
    } else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && hits.length) {
      const current = item && item.querySelector("a.hit");
      if (at !== query && !current && (typing(at) || at.closest("fieldset, details"))) return;
      if (!current && event.key === "ArrowUp") return;
      event.preventDefault();
      step(current, event.key === "ArrowDown" ? 1 : -1);
    }
  });

  document.addEventListener("click", (event) => {
    for (const sheet of document.querySelectorAll("details.status[open]")) {
      if (!sheet.contains(event.target)) sheet.open = false;
    }
    const link = event.target.closest("a");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    if (link.matches("a.hit")) {
      kept((store) => store.setItem(OPENED, link.href));
    } else if (link === back) {
      event.preventDefault();
      leave();
    }
  });

  // Whoever comes back goes on from the hit that was opened.
  window.addEventListener("pageshow", () => {
    if (form) {
      const address = new URL(form.dataset.address, window.location.href).href;
      kept((store) => store.setItem(ANSWERS, JSON.stringify([address, here().key])));
    }
    const opened = hits.length && kept((store) => store.getItem(OPENED));
    const hit = opened && hits.find((item) => item.href === opened);
    if (!hit) return;
    kept((store) => store.removeItem(OPENED));
    show(hit);
  });

  // --- what does not fit ---

  const clips = Array.from(document.querySelectorAll(".clip"));
  const look = (clip) => {
    const inner = clip.firstElementChild;
    clip.classList.toggle("is-cut", inner.scrollWidth - inner.clientWidth - inner.scrollLeft > 1);
    clip.classList.toggle("is-cut-below", inner.scrollHeight - inner.clientHeight - inner.scrollTop > 1);
  };
  for (const clip of clips) {
    look(clip);
    clip.firstElementChild.addEventListener("scroll", () => look(clip), { passive: true });
  }
  window.addEventListener("resize", () => clips.forEach(look), { passive: true });

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
})();
