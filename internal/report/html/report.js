// Filters and sorts the dialogues, and follows a playing clip on its timeline. Without it the page
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

  const svg = (name, attributes) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    return made;
  };

  // A dialogue is made ready when it is first opened: thousands at once take long.
  function prepare(details) {
    const audio = details.querySelector("audio");
    if (!audio || details.dataset.ready) return;
    details.dataset.ready = "yes";
    audio.addEventListener("error", () => {
      const sorry = document.createElement("p");
      sorry.setAttribute("role", "alert");
      sorry.textContent = "The clip can't be played: it is not there, or its link has ended.";
      audio.after(sorry);
    }, { once: true });
    const turns = Array.from(details.querySelectorAll("li[data-from]"), element => ({ element, from: Number(element.dataset.from), to: Number(element.dataset.to) }));
    if (turns.length) follow(audio, turns);
  }

  // The timeline has a lane for each speaker; the list beside it says the same to
  // those who don't see it.
  function follow(audio, turns) {
    const length = Math.max(...turns.map(turn => turn.to));
    const speakers = [...new Set(turns.map(turn => turn.element.querySelector("b").textContent))];
    const high = 12 * speakers.length;
    const line = svg("svg", { class: "timeline", viewBox: `0 0 1000 ${high}`, preserveAspectRatio: "none", "aria-hidden": "true" });
    const at = seconds => 1000 * seconds / length;
    const play = turn => {
      audio.currentTime = turn.from;
      audio.play().catch(() => {}); // the player says what is wrong
    };
    turns.forEach((turn, number) => {
      const lane = speakers.indexOf(turn.element.querySelector("b").textContent);
      turn.bar = svg("rect", { x: at(turn.from), width: at(turn.to - turn.from), y: 12 * lane + 1, height: 10 });
      if (turn.element.classList.contains("evidence")) turn.bar.classList.add("evidence");
      turn.bar.addEventListener("click", () => play(turn));
      line.append(turn.bar);
      const button = document.createElement("button");
      button.type = "button";
      button.className = "play";
      button.textContent = turn.from.toFixed(1) + " s";
      button.setAttribute("aria-label", `${button.textContent}, play from turn ${number + 1}`);
      button.addEventListener("click", () => play(turn));
      turn.element.append(" ", button);
    });
    const head = svg("line", { class: "head", x1: 0, x2: 0, y1: 0, y2: high });
    line.append(head);
    audio.after(line);
    let frame = 0;
    const show = () => {
      cancelAnimationFrame(frame);
      const now = audio.currentTime;
      head.setAttribute("x1", at(now));
      head.setAttribute("x2", at(now));
      for (const turn of turns) {
        const heard = !audio.paused && now >= turn.from && now < turn.to;
        turn.element.classList.toggle("speaking", heard);
        turn.bar.classList.toggle("speaking", heard);
      }
      if (!audio.paused && !audio.ended) frame = requestAnimationFrame(show);
    };
    for (const event of ["play", "pause", "seeked", "timeupdate", "ended"]) audio.addEventListener(event, show);
  }

  document.addEventListener("toggle", event => {
    if (event.target.open && event.target.matches(".turns")) prepare(event.target);
  }, true);

  // On paper nothing can be opened.
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = Array.from(document.querySelectorAll("details:not(.turns):not([open])"));
    for (const details of opened) details.open = true;
  });
  addEventListener("afterprint", () => {
    for (const details of opened) details.open = false;
  });
})();
