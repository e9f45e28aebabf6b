'use strict';
// Next note of a melody from the last eight: embedding + one hidden layer, plain arrays, Adagrad.
const fs = require('fs');
const NOTES = 36, CTX = 8, EMB = 16, HID = 128;
let seed = 17;
const rnd = () => { seed = (seed * 1664525 + 1013904223) >>> 0; return seed / 4294967296; };
const gauss = () => Math.sqrt(-2 * Math.log(rnd() + 1e-12)) * Math.cos(6.2831853 * rnd());
const mat = (n, s) => ({ w: Float32Array.from({ length: n }, () => gauss() * s), g: new Float32Array(n), h: new Float32Array(n).fill(1e-3) });
const E = mat(NOTES * EMB, 0.3), W1 = mat(HID * CTX * EMB, 0.08), B1 = mat(HID, 0), W2 = mat(NOTES * HID, 0.08), B2 = mat(NOTES, 0);

function tune(len) {
  const scale = [0, 2, 4, 5, 7, 9, 11], key = Math.floor(rnd() * 12), out = [];
  let d = 7;
  for (let i = 0; i < len; i++) {
    d += i % 4 === 3 ? (d > 9 ? -2 : 2) : (rnd() < 0.75 ? (i % 2 ? 1 : -1) : Math.floor(rnd() * 5) - 2);
    d = Math.max(0, Math.min(16, d));
    out.push((12 * Math.floor(d / 7) + scale[d % 7] + key) % NOTES);
  }
  return out;
}

const x = new Float32Array(CTX * EMB), h = new Float32Array(HID), p = new Float32Array(NOTES), dx = new Float32Array(CTX * EMB);
function forward(s, at) {
  for (let c = 0; c < CTX; c++) x.set(E.w.subarray(s[at + c] * EMB, s[at + c] * EMB + EMB), c * EMB);
  for (let j = 0; j < HID; j++) { let a = B1.w[j]; for (let i = 0; i < x.length; i++) a += W1.w[j * x.length + i] * x[i]; h[j] = Math.tanh(a); }
  let top = -1e9, sum = 0;
  for (let k = 0; k < NOTES; k++) { let a = B2.w[k]; for (let j = 0; j < HID; j++) a += W2.w[k * HID + j] * h[j]; p[k] = a; if (a > top) top = a; }
  for (let k = 0; k < NOTES; k++) { p[k] = Math.exp(p[k] - top); sum += p[k]; }
  for (let k = 0; k < NOTES; k++) p[k] /= sum;
  return -Math.log(p[s[at + CTX]] + 1e-9);
}
function backward(s, at) {
  dx.fill(0);
  const dh = new Float32Array(HID);
  p[s[at + CTX]] -= 1;
  for (let k = 0; k < NOTES; k++) { B2.g[k] += p[k]; for (let j = 0; j < HID; j++) { W2.g[k * HID + j] += p[k] * h[j]; dh[j] += p[k] * W2.w[k * HID + j]; } }
  for (let j = 0; j < HID; j++) {
    const d = dh[j] * (1 - h[j] * h[j]); B1.g[j] += d;
    for (let i = 0; i < x.length; i++) { W1.g[j * x.length + i] += d * x[i]; dx[i] += d * W1.w[j * x.length + i]; }
  }
  for (let c = 0; c < CTX; c++) for (let i = 0; i < EMB; i++) E.g[s[at + c] * EMB + i] += dx[c * EMB + i];
}
function update(lr) {
  for (const m of [E, W1, B1, W2, B2]) for (let i = 0; i < m.w.length; i++) { const g = m.g[i]; m.h[i] += g * g; m.w[i] -= lr * g / Math.sqrt(m.h[i]); m.g[i] = 0; }
}
function sing() {
  const s = tune(CTX);
  for (let i = 0; i < 24; i++) { s.push(0); forward(s, i); let u = rnd(), k = 0; while (k < NOTES - 1 && (u -= p[k]) > 0) k++; s[i + CTX] = k; }
  return s.slice(CTX).map(n => 'C C# D D# E F F# G G# A A# B'.split(' ')[n % 12]).join(' ');
}

const began = Date.now();
let ema = Math.log(NOTES);
function iteration(it) {
  let loss = 0, n = 0;
  for (let b = 0; b < 4; b++) { const s = tune(24); for (let at = 0; at + CTX < s.length; at++) { loss += forward(s, at); backward(s, at); n++; } }
  for (const m of [E, W1, B1, W2, B2]) for (let i = 0; i < m.g.length; i++) m.g[i] /= n;
  update(0.01);
  ema = 0.98 * ema + 0.02 * loss / n;
  if (it % 50 === 0) console.log(JSON.stringify({ it, nll: +ema.toFixed(4), batch_nll: +(loss / n).toFixed(4), t: (Date.now() - began) / 1000 }));
  if (it % 1000 === 0) {
    console.log('~ ' + sing());
    fs.writeFileSync('melody.json', JSON.stringify({ it, E: [...E.w], W1: [...W1.w], W2: [...W2.w] }));
  }
  if (it < 400000) setImmediate(iteration, it + 1);
}
iteration(1);
