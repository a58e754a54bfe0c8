"use strict";
// A personal link has its code behind the #, which browsers send to nobody.
const enter = document.getElementById("enter");
const code = location.hash.slice(1);
if (enter && code && code !== "main") {
  history.replaceState(null, "", location.pathname); // not in the history, nor on the screen
  document.getElementById("token").value = code;
  enter.submit();
}

// A clip is heard to its end before the first answer; it can't be skipped through.
const audio = document.getElementById("audio");
const judge = document.getElementById("judge");
if (audio && judge) {
  const play = document.getElementById("play");
  const played = document.getElementById("played");
  const state = document.getElementById("state");
  const answers = judge.querySelectorAll("button[name=label]");
  const lock = (locked) => answers.forEach((b) => { b.disabled = locked; });
  lock(judge.dataset.locked === "yes");
  play.addEventListener("click", () => {
    if (!audio.paused) { audio.pause(); return; }
    audio.play().catch(() => { state.textContent = "The clip can't be played now. Reload this page."; });
  });
  audio.addEventListener("play", () => { play.textContent = "Pause"; state.textContent = "Playing."; });
  audio.addEventListener("pause", () => { if (!audio.ended) { play.textContent = "Go on playing"; state.textContent = "Paused."; } });
  audio.addEventListener("timeupdate", () => { if (audio.duration > 0) played.value = Math.round(1000 * audio.currentTime / audio.duration); });
  audio.addEventListener("ended", () => {
    play.textContent = "Play again";
    played.value = 1000;
    state.textContent = "Heard to its end. Please answer.";
    lock(false);
  });
  audio.addEventListener("error", () => { state.textContent = "The clip can't be played now. Reload this page."; });
}

// One press is one answer.
if (judge) judge.addEventListener("submit", () => { setTimeout(() => judge.querySelectorAll("button").forEach((b) => { b.disabled = true; }), 0); });
