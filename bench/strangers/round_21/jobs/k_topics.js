'use strict';
// News desk: topic of an article from hashed words and some numbers from its header. Plain JavaScript.
const DIM = 4096, TOPICS = ['politics', 'sports', 'economy', 'culture', 'science'], EXTRA = 2;

let seed = 12345;
function random() { seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0; return seed / 4294967296; }
function hash(word) { let h = 2166136261; for (const c of word) { h ^= c.charCodeAt(0); h = Math.imul(h, 16777619); } return (h >>> 0) % DIM; }

function article(i) {
  const topic = Math.floor(random() * TOPICS.length), words = [];
  const n = 80 + Math.floor(random() * 300);
  for (let k = 0; k < n; k++) {
    const own = random() < 0.12;
    words.push(own ? `${TOPICS[topic]}-${Math.floor(random() * 400)}` : `w${Math.floor(Math.pow(random(), 2) * 9000)}`);
  }
  const header = { length: `${n} words`, images: String(Math.floor(random() * 6)) };
  if (i % 4177 === 4176) header.length = 'n/a';
  return { topic, words, header };
}

function features(a) {
  const x = new Map();
  for (const w of a.words) { const h = hash(w); x.set(h, (x.get(h) || 0) + 1 / Math.sqrt(a.words.length)); }
  x.set(DIM, parseInt(a.header.length, 10) / 400);
  x.set(DIM + 1, parseInt(a.header.images, 10) / 6);
  return x;
}

const HIDDEN = 48;
const W = Array.from({ length: HIDDEN }, () => Float64Array.from({ length: DIM + EXTRA }, () => (random() - 0.5) * 0.1));
const V = TOPICS.map(() => Float64Array.from({ length: HIDDEN }, () => (random() - 0.5) * 0.3));

function train(x, topic, rate) {
  const h = W.map(row => { let s = 0; for (const [i, v] of x) s += row[i] * v; return Math.tanh(s); });
  const logits = V.map(row => row.reduce((s, v, i) => s + v * h[i], 0));
  const top = Math.max(...logits), e = logits.map(z => Math.exp(z - top)), sum = e.reduce((a, b) => a + b);
  const dh = new Float64Array(HIDDEN);
  e.forEach((v, k) => {
    const g = v / sum - (k === topic ? 1 : 0);
    for (let j = 0; j < HIDDEN; j++) { dh[j] += g * V[k][j]; V[k][j] -= rate * g * h[j]; }
  });
  for (let j = 0; j < HIDDEN; j++) {
    const g = dh[j] * (1 - h[j] * h[j]) * rate;
    for (const [i, v] of x) W[j][i] -= g * v;
  }
  return { loss: -Math.log(e[topic] / sum), right: logits.indexOf(top) === topic };
}

let loss = 0, right = 0;
for (let i = 0; i < 4000000; i++) {
  const a = article(i), r = train(features(a), a.topic, 0.01);
  loss += r.loss; right += r.right;
  if (i % 500 === 499) {
    console.log(`articles ${String(i + 1).padStart(8)}  cross-entropy ${(loss / 500).toFixed(4)}  accuracy ${(right / 5).toFixed(1)} %`);
    loss = 0; right = 0;
  }
}
