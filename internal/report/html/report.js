// Filters and sorts the dialogues, and follows a playing clip. Without it the page
// is a plain table.
"use strict";
(() => {
  const list = document.getElementById("list");
  const body = list.tBodies[0];
  const rows = Array.from(body.rows);
  const [form, state, tactic, search, count] = ["filters", "state", "tactic", "search", "count"].map(id => document.getElementById(id));
  const texts = new Map(); // of rows, made when first searched

  function text(row) {
    if (!texts.has(row)) texts.set(row, row.textContent.toLowerCase());
    return texts.get(row);
  }

  function filter() {
    const wanted = search.value.trim().toLowerCase();
    let shown = 0;
    for (const row of rows) {
      const fits = (!state.value || (row.dataset.s || "").split(" ").includes(state.value)) &&
        (!tactic.value || row.dataset.t === tactic.value) &&
        (!wanted || text(row).includes(wanted));
      row.hidden = !fits;
      if (fits) shown++;
    }
    count.textContent = `${shown} of ${rows.length} shown`;
  }

  // Cells that hold no number stay last, whichever way is sorted.
  function sort(heading, column) {
    const down = heading.getAttribute("aria-sort") === "ascending";
    for (const other of heading.parentNode.cells) other.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", down ? "descending" : "ascending");
    const numeric = heading.classList.contains("number");
    const keyed = rows.map((row, at) => {
      const value = row.cells[column].textContent;
      return { row, at, key: numeric ? parseFloat(value) : value };
    });
    const way = down ? -1 : 1;
    const words = new Intl.Collator("en", { numeric: true });
    keyed.sort((a, b) => {
      if (!numeric) return way * words.compare(a.key, b.key) || a.at - b.at;
      const lacking = Number.isFinite(b.key) - Number.isFinite(a.key);
      return lacking || way * (a.key - b.key) || a.at - b.at;
    });
    body.append(...keyed.map(k => k.row));
  }

  Array.from(list.tHead.rows[0].cells).forEach((heading, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...heading.childNodes);
    heading.append(button);
    button.addEventListener("click", () => sort(heading, column));
  });
  form.addEventListener("submit", event => event.preventDefault());
  form.addEventListener("input", filter);
  form.hidden = false;
  filter();

  for (const audio of document.querySelectorAll("audio")) {
    const turns = audio.parentNode.querySelectorAll("li[data-from]");
    const follow = () => {
      for (const turn of turns) {
        turn.classList.toggle("speaking", !audio.paused && audio.currentTime >= turn.dataset.from && audio.currentTime < turn.dataset.to);
      }
    };
    for (const event of ["timeupdate", "pause", "seeked", "play"]) audio.addEventListener(event, follow);
  }
})();
