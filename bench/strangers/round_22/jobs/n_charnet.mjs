// Next-character network on generated addresses; no dependencies.
import { writeFileSync, renameSync } from "node:fs";

let seed = 7;
const rnd = () => ((seed = (seed * 1664525 + 1013904223) >>> 0) / 4294967296);
const pick = (a) => a[Math.floor(rnd() * a.length)];
const alphabet = " abcdefghijklmnopqrstuvwxyz0123456789,\n";
const V = alphabet.length, C = 6, E = 12, H = 96;
const address = () => `${Math.floor(rnd() * 200)} ${pick(["high", "mill", "oak", "church", "station"])} ${pick(["street", "lane", "road"])}, ${pick(["leeds", "york", "bath", "derby"])}\n`;
const text = (n) => Array.from({ length: n }, address).join("");
const encode = (s) => Uint8Array.from(s, (c) => alphabet.indexOf(c));
const train = encode(text(8000)), held = encode(text(300));
const mat = (n, s) => Float32Array.from({ length: n }, () => (rnd() * 2 - 1) * s);
const emb = mat(V * E, 0.3), w1 = mat(C * E * H, 0.15), b1 = new Float32Array(H), w2 = mat(H * V, 0.15), b2 = new Float32Array(V);
const x = new Float32Array(C * E), h = new Float32Array(H), p = new Float32Array(V), dh = new Float32Array(H), dx = new Float32Array(C * E);

function forward(d, i) {
  for (let c = 0; c < C; c++) for (let e = 0; e < E; e++) x[c * E + e] = emb[d[i + c] * E + e];
  for (let j = 0; j < H; j++) { let s = b1[j]; for (let k = 0; k < C * E; k++) s += x[k] * w1[k * H + j]; h[j] = Math.tanh(s); }
  let top = -1e9, z = 0;
  for (let v = 0; v < V; v++) { let s = b2[v]; for (let j = 0; j < H; j++) s += h[j] * w2[j * V + v]; p[v] = s; if (s > top) top = s; }
  for (let v = 0; v < V; v++) z += p[v] = Math.exp(p[v] - top);
  for (let v = 0; v < V; v++) p[v] /= z;
  return -Math.log(p[d[i + C]] + 1e-9);
}

function backward(d, i, lr) {
  p[d[i + C]] -= 1;
  for (let j = 0; j < H; j++) { let s = 0; for (let v = 0; v < V; v++) { s += p[v] * w2[j * V + v]; w2[j * V + v] -= lr * h[j] * p[v]; } dh[j] = s * (1 - h[j] * h[j]); }
  for (let v = 0; v < V; v++) b2[v] -= lr * p[v];
  for (let k = 0; k < C * E; k++) { let s = 0; for (let j = 0; j < H; j++) { s += dh[j] * w1[k * H + j]; w1[k * H + j] -= lr * dh[j] * x[k]; } dx[k] = s; }
  for (let j = 0; j < H; j++) b1[j] -= lr * dh[j];
  for (let c = 0; c < C; c++) for (let e = 0; e < E; e++) emb[d[i + c] * E + e] -= lr * dx[c * E + e];
}

const start = Date.now();
let run = 0, n = 0;
for (let it = 1; it <= 40000000; it++) {
  const i = Math.floor(rnd() * (train.length - C - 1));
  run += forward(train, i); n++;
  backward(train, i, 0.00015);
  if (it % 10000 === 0) {
    console.log(`[${new Date().toISOString()}] samples=${it} nats/char=${(run / n).toFixed(4)} rate=${Math.round(it / ((Date.now() - start) / 1000))}/s`);
    run = n = 0;
  }
  if (it % 200000 === 0) {
    let s = 0;
    for (let k = 0; k + C < held.length; k++) s += forward(held, k);
    console.log(`[${new Date().toISOString()}] held-out nats/char=${(s / (held.length - C)).toFixed(4)}`);
    writeFileSync("weights.json.part", JSON.stringify({ emb: [...emb], w1: [...w1], w2: [...w2] }));
    renameSync("weights.json.part", "weights.json");
  }
}
