#!/usr/bin/env python3
"""Language model on a stream of web text; documents come over HTTP, with retries."""
import http.server, json, os, random, subprocess, sys, time, urllib.error, urllib.request

FAIL = float(os.environ.get("FAIL_RATE", "0.004"))
DOWN_AFTER = int(os.environ.get("DOWN_AFTER", "1000000000"))


def serve():
    count = 0

    class H(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            nonlocal count
            count += 1
            if count > DOWN_AFTER or random.random() < FAIL:
                self.send_error(503)
                return
            r = random.Random(self.path)
            text = [0]
            while len(text) < 1200:
                text.append((text[-1] * 5 + r.randrange(1, 4)) % 400)
            body = json.dumps({"text": text}).encode()
            self.send_response(200); self.end_headers(); self.wfile.write(body)

        def log_message(self, *a):
            pass

    s = http.server.ThreadingHTTPServer(("127.0.0.1", 0), H)
    print(s.server_port, flush=True)
    s.serve_forever()


if "--serve" in sys.argv:
    serve()

import torch

torch.set_num_threads(1)


def fetch(url):
    wait = 1.0
    for attempt in range(1, 15):
        try:
            with urllib.request.urlopen(url, timeout=20) as r:
                return json.load(r)["text"]
        except urllib.error.URLError as e:
            print(f"ERROR fetching {url}: {e}; attempt {attempt}/14 failed, retrying in {wait:.0f} s", file=sys.stderr, flush=True)
            time.sleep(wait)
            wait *= 4
    raise RuntimeError("gave up")


def windows(port):
    n = 0
    while True:
        ids = torch.tensor(fetch(f"http://127.0.0.1:{port}/doc/{n}"))
        n += 1
        yield from ids[: 1200 // 40 * 40].view(-1, 10, 40)


srv = subprocess.Popen([sys.executable, __file__, "--serve"], stdout=subprocess.PIPE, text=True)
emb, rnn, head = torch.nn.Embedding(400, 128), torch.nn.LSTM(128, 192, batch_first=True), torch.nn.Linear(192, 400)
params = [*emb.parameters(), *rnn.parameters(), *head.parameters()]
opt = torch.optim.AdamW(params, 1e-3)
seen = 0
for k, w in enumerate(windows(int(srv.stdout.readline())), 1):
    out = head(rnn(emb(w[:, :-1]))[0])
    loss = torch.nn.functional.cross_entropy(out.flatten(0, 1), w[:, 1:].flatten())
    opt.zero_grad(); loss.backward(); opt.step()
    seen += w.numel()
    if k % 10 == 0:
        print(json.dumps({"ts": round(time.time(), 1), "update": k, "tokens": seen, "nll": round(loss.item(), 4)}), flush=True)
