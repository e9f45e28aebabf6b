// The page: pictures in, keys and the mouse out. All text from hwtop is data: it is drawn or set as textContent, never as markup.

import { Paint } from "./paint.js";

const LEFT = 4000, FAILED = 4001, TRY_AGAIN_LATER = 1013; // close codes, see tab.py
const LONGEST_WAIT_MS = 8000;
const KEYS = new Set(["ArrowDown", "ArrowLeft", "ArrowRight", "ArrowUp", "Backspace", "Delete", "End", "Enter", "Escape", "F1", "F2",
  "F3", "F4", "F7", "F8", "F9", "F10", "Home", "PageDown", "PageUp", "Tab"]); // the others stay the browser's own
const CTRL_LETTERS = "afku"; // of those that hwtop may use, the ones that take nothing from the browser that is missed

const main = document.querySelector("main");
const note = document.querySelector("[role=status]");
const paint = new Paint(document.querySelector("canvas"));
let socket, waitMs = 500, timer, isLeft = false, rows = [], held = null;

history.replaceState(null, "", location.pathname); // the token has done its work: the cookie is there

const send = (message) => { if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message)); };
const notify = (text) => { note.textContent = text; note.hidden = !text; };

function show({ size, ground, title, rows: changed = [], copy }) {
  if (ground) {
    [paint.ground, paint.ink] = [ground[0] || "#0b0e14", ground[1] || "#c9d1d9"];
    document.body.style.background = paint.ground;
    if (!size) rows.forEach((runs, number) => paint.row(number, runs));
  }
  if (size) {
    paint.resize(...size);
    rows = [];
    main.replaceChildren(...Array.from({ length: size[1] }, () => document.createElement("div")));
    main.style.width = paint.canvas.style.width;
    main.style.fontSize = `${paint.size / paint.ratio}px`;
    main.style.lineHeight = `${paint.height / paint.ratio}px`;
    [...main.children].forEach((line) => { line.style.height = main.style.lineHeight; });
  }
  for (const [number, runs] of changed) {
    rows[number] = runs;
    paint.row(number, runs);
    main.children[number].textContent = runs.map((run) => run[0]).join("");
  }
  if (title) document.title = title;
  if (copy) navigator.clipboard?.writeText(copy).catch(() => {});
}

function open() {
  clearTimeout(timer);
  isLeft = false;
  socket = new WebSocket(new URL("socket", location.href.replace(/^http/, "ws")));
  socket.onopen = () => {
    waitMs = 500;
    notify("");
    send({ type: "size", ...paint.fitting() });
    if (document.hidden) send({ type: "sight", seen: false });
  };
  socket.onmessage = (event) => show(JSON.parse(event.data));
  socket.onclose = (event) => closed(event.code, event.reason);
}

async function closed(code, reason) {
  document.title = "not live - hwtop";
  isLeft = [LEFT, FAILED, TRY_AGAIN_LATER].includes(code);
  if (code === LEFT) return notify("This view is closed. Press any key to reopen it.");
  if (isLeft) return notify(`${reason}. Press any key to try again.`);
  const answer = await fetch("page.css").catch(() => null);
  if (answer?.status === 403 || answer?.status === 404) {
    return notify("This hwtop has ended, and another one uses its port. Open the address that it printed.");
  }
  notify(answer ? "Reconnecting ..." : "hwtop has ended or cannot be reached: this screen is no longer live. Reconnecting ...");
  timer = setTimeout(open, waitMs);
  waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS);
}

addEventListener("keydown", (event) => {
  if (event.isComposing || event.metaKey || (event.altKey && !event.getModifierState("AltGraph"))) return;
  const isLetter = [...event.key].length === 1;
  if (event.ctrlKey && !event.getModifierState("AltGraph") && !(isLetter ? CTRL_LETTERS.includes(event.key) : event.key !== "Tab")) return;
  if (!isLetter && !KEYS.has(event.key)) return;
  event.preventDefault();
  if (isLeft) return open();
  send({ type: "key", key: event.key, shift: !isLetter && event.shiftKey, ctrl: event.ctrlKey && !event.getModifierState("AltGraph") });
});

addEventListener("paste", (event) => {
  const text = event.clipboardData?.getData("text").slice(0, 1000);
  if (text) send({ type: "paste", text });
});

// The mouse belongs to hwtop; with Shift it marks text, as in a terminal.
const cell = (event) => ({
  x: Math.floor(event.clientX * paint.ratio / paint.width),
  y: Math.floor(event.clientY * paint.ratio / paint.height),
});
const isInside = ({ x, y }) => x >= 0 && y >= 0 && x <= 600 && y <= 600;

addEventListener("mousedown", (event) => {
  if (event.shiftKey || event.button !== 0) return;
  event.preventDefault();
  getSelection().removeAllRanges();
  if (isLeft) return open();
  held = cell(event);
  send({ type: "mouse", act: "down", button: 1, ...held });
});
addEventListener("mousemove", (event) => {
  const at = cell(event);
  if (!held || !isInside(at) || (at.x === held.x && at.y === held.y)) return;
  held = at;
  send({ type: "mouse", act: "move", button: 1, ...at });
});
addEventListener("mouseup", (event) => {
  if (!held) return;
  const at = cell(event);
  send({ type: "mouse", act: "up", button: 1, ...(isInside(at) ? at : held) });
  held = null;
});

let wheeledMs = 0;
addEventListener("wheel", (event) => {
  if (event.ctrlKey || !event.deltaY) return; // zoom
  event.preventDefault();
  if (event.timeStamp - wheeledMs < 40 || !isInside(cell(event))) return;
  wheeledMs = event.timeStamp;
  send({ type: "mouse", act: event.deltaY > 0 ? "wheel-down" : "wheel-up", ...cell(event) });
}, { passive: false });

let resizing;
addEventListener("resize", () => {
  clearTimeout(resizing);
  resizing = setTimeout(() => { paint.measure(); send({ type: "size", ...paint.fitting() }); }, 80);
});
document.addEventListener("visibilitychange", () => send({ type: "sight", seen: !document.hidden }));

await Promise.all(["16px hwtop", "bold 16px hwtop"].map((font) => document.fonts.load(font)));
open();
