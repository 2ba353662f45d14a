// Arrow keys move between rows, one button opens or closes all of them, and an address with #row opens that row.
// Everything works without this: a row is a <details>, which Enter and Space open.
"use strict";

const rows = [...document.querySelectorAll(".row > summary")];

document.addEventListener("keydown", (event) => {
  const place = rows.indexOf(document.activeElement);
  if (place < 0 || event.altKey || event.ctrlKey || event.metaKey) return;
  const next = { ArrowDown: place + 1, ArrowUp: place - 1, Home: 0, End: rows.length - 1 }[event.key];
  if (next === undefined || !rows[next]) return;
  event.preventDefault();
  rows[next].focus();
});

const button = document.querySelector("#all");
const label = () => {
  button.textContent = rows.every((row) => row.parentElement.open) ? "Close all rows" : "Open all rows";
};
if (button && rows.length) {
  button.parentElement.hidden = false;
  button.addEventListener("click", () => {
    const open = !rows.every((row) => row.parentElement.open);
    rows.forEach((row) => { row.parentElement.open = open; });
    label();
  });
  rows.forEach((row) => row.parentElement.addEventListener("toggle", label));
}

const openNamed = () => {
  const named = document.getElementById(location.hash.slice(1));
  if (named && named.matches("details.row")) {
    named.open = true;
    named.querySelector("summary").focus();
  }
};
window.addEventListener("hashchange", openNamed);
openNamed();
