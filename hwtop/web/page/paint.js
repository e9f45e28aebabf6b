// Paint: rows of runs on a canvas. Frames, bars and braille are drawn as shapes, cell by cell and to the pixel, so they join in
// every size; letters come from the font.

const ADVANCE = 1233 / 2048; // of DejaVu Sans Mono, in em
const ASPECT = 2.1; // height of a cell in its widths
const UP = 1, RIGHT = 2, DOWN = 4, LEFT = 8;
const ARMS = {
  "─": LEFT | RIGHT, "│": UP | DOWN, "└": UP | RIGHT, "┘": UP | LEFT, "┌": DOWN | RIGHT, "┐": DOWN | LEFT,
  "├": UP | DOWN | RIGHT, "┤": UP | DOWN | LEFT, "┬": LEFT | RIGHT | DOWN, "┴": LEFT | RIGHT | UP,
  "┼": UP | DOWN | LEFT | RIGHT, "╵": UP, "╷": DOWN, "╴": LEFT, "╶": RIGHT,
  "━": LEFT | RIGHT, "┃": UP | DOWN, "╸": LEFT, "╺": RIGHT,
};
const HEAVY = "━┃╸╺";
const CORNERS = { "╭": [1, 1], "╮": [-1, 1], "╰": [1, -1], "╯": [-1, -1] };
const DASHES = { "╌": [2, false], "┈": [4, false], "┅": [3, true] };
const DOTS = [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2], [0, 3], [1, 3]]; // of braille, by bit

export class Paint {
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d", { alpha: false });
    this.ground = "#0b0e14";
    this.ink = "#c9d1d9";
    this.measure();
  }

  // Cells are whole pixels of the device, whatever the zoom.
  measure() {
    this.ratio = window.devicePixelRatio || 1;
    this.width = Math.max(4, Math.round(8 * this.ratio));
    this.height = Math.round(this.width * ASPECT);
    this.size = this.width / ADVANCE;
    this.line = Math.max(1, Math.round(this.width / 8));
  }

  // How many cells fit into the window.
  fitting() {
    const across = Math.floor(window.innerWidth * this.ratio / this.width);
    const down = Math.floor(window.innerHeight * this.ratio / this.height);
    return { width: Math.min(600, Math.max(1, across)), height: Math.min(250, Math.max(1, down)) };
  }

  resize(columns, rows) {
    this.canvas.width = columns * this.width;
    this.canvas.height = rows * this.height;
    this.canvas.style.width = `${this.canvas.width / this.ratio}px`;
    this.canvas.style.height = `${this.canvas.height / this.ratio}px`;
    this.context.fillStyle = this.ground;
    this.context.fillRect(0, 0, this.canvas.width, this.canvas.height);
  }

  row(number, runs) {
    const y = number * this.height;
    this.context.fillStyle = this.ground;
    this.context.fillRect(0, y, this.canvas.width, this.height);
    let x = 0;
    for (const [text, cells, ink, ground, letters] of runs) {
      if (ground) {
        this.context.fillStyle = ground;
        this.context.fillRect(x, y, cells * this.width, this.height);
      }
      this.run(text, cells, x, y, ink || this.ink, letters);
      x += cells * this.width;
    }
  }

  run(text, cells, x, y, ink, letters) {
    const context = this.context;
    context.fillStyle = context.strokeStyle = ink;
    context.globalAlpha = letters.includes("d") ? 0.65 : 1;
    context.font = `${letters.includes("i") ? "italic " : ""}${letters.includes("b") ? "bold " : ""}${this.size}px hwtop, monospace`;
    const characters = [...text];
    const width = characters.length === cells ? this.width : cells * this.width; // else one character of its own width
    (characters.length === cells ? characters : [text]).forEach((character, index) => {
      if (character !== " " && !this.shape(character, x + index * width, y)) {
        context.fillText(character, x + index * width, y + this.height * 0.73, width * 1.25);
      }
    });
    for (const [letter, share] of [["u", 0.9], ["s", 0.5]]) {
      if (letters.includes(letter)) context.fillRect(x, y + Math.round(this.height * share), cells * this.width, this.line);
    }
    context.globalAlpha = 1;
  }

  // Draws a character that has to join its neighbours; false if it is an ordinary one.
  shape(character, x, y) {
    const code = character.codePointAt(0);
    if (character in ARMS) this.arms(ARMS[character], HEAVY.includes(character), x, y);
    else if (character in CORNERS) this.corner(...CORNERS[character], x, y);
    else if (character in DASHES) this.dashes(...DASHES[character], x, y);
    else if (character === "═") for (const up of [-2, 1]) this.fill(x, y + (this.height >> 1) + up * this.line, this.width, this.line);
    else if (code >= 0x2581 && code <= 0x2588) this.block(0, 1 - (code - 0x2580) / 8, 1, 1, x, y);
    else if (code >= 0x2589 && code <= 0x258f) this.block(0, 0, (0x2590 - code) / 8, 1, x, y);
    else if (character === "▀") this.block(0, 0, 1, 0.5, x, y);
    else if (character === "▐") this.block(0.5, 0, 1, 1, x, y);
    else if (code >= 0x2800 && code <= 0x28ff) this.dots(code - 0x2800, x, y);
    else return false;
    return true;
  }

  fill(x, y, width, height) {
    this.context.fillRect(Math.round(x), Math.round(y), Math.max(1, Math.round(width)), Math.max(1, Math.round(height)));
  }

  block(left, top, right, bottom, x, y) {
    const from = Math.round(left * this.width), above = Math.round(top * this.height);
    this.fill(x + from, y + above, Math.round(right * this.width) - from, Math.round(bottom * this.height) - above);
  }

  // The pixels of a line through the middle: where it starts, and how thick it is.
  middle(length, isHeavy) {
    const thick = isHeavy ? Math.max(2, Math.round(this.height / 5)) : this.line;
    return [Math.floor((length - thick) / 2), thick];
  }

  arms(arms, isHeavy, x, y) {
    const [left, thick] = this.middle(this.width, isHeavy), [top] = this.middle(this.height, isHeavy);
    if (arms & UP) this.fill(x + left, y, thick, top + thick);
    if (arms & DOWN) this.fill(x + left, y + top, thick, this.height - top);
    if (arms & LEFT) this.fill(x, y + top, left + thick, thick);
    if (arms & RIGHT) this.fill(x + left, y + top, this.width - left, thick);
  }

  corner(right, down, x, y) {
    const [left, thick] = this.middle(this.width, false), [top] = this.middle(this.height, false);
    const cx = x + left + thick / 2, cy = y + top + thick / 2;
    const context = this.context;
    context.lineWidth = thick;
    context.beginPath();
    context.moveTo(right > 0 ? x + this.width : x, cy);
    context.arcTo(cx, cy, cx, down > 0 ? y + this.height : y, this.width / 2);
    context.lineTo(cx, down > 0 ? y + this.height : y);
    context.stroke();
  }

  dashes(count, isHeavy, x, y) {
    const [top, thick] = this.middle(this.height, isHeavy), step = this.width / count;
    for (let n = 0; n < count; n++) this.fill(x + n * step, y + top, step * 0.6, thick);
  }

  dots(bits, x, y) {
    const wide = this.width * 0.32, high = this.height * 0.17;
    DOTS.forEach(([column, row], bit) => {
      if (bits & (1 << bit)) this.fill(x + (0.12 + 0.5 * column) * this.width, y + (0.04 + 0.25 * row) * this.height, wide, high);
    });
  }
}
