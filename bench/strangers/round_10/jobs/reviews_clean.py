"""stdin: raw reviews; stdout: label TAB hashed n-grams"""
import json
import re
import sys
import unicodedata
import zlib

URL = re.compile(r"https?://\S+")
TAG = re.compile(r"<[^>]+>")
SUFFIX = [re.compile(s + "$") for s in ("ational", "tional", "fulness", "iveness", "ing", "edly", "ed", "ly", "ness", "s")]


SLANG = {w: re.compile(r"\b%s\b" % w) for w in (
    "u ur r thx pls plz gr8 b4 omg imo imho btw tho cuz bc dunno gonna wanna gotta kinda sorta lemme gimme ain't y'all "
    "yum yummy luv lol lmao rofl idk tbh smh fyi asap rn nvm jk brb ttyl bday resto apps mains bev tix vegg veggie"
).split()}


def stem(w):
    for s in SUFFIX:
        w = s.sub("", w)
    return w


for line in sys.stdin:
    r = json.loads(line)
    t = TAG.sub(" ", URL.sub(" ", r["text"]))
    t = "".join(c for c in unicodedata.normalize("NFKD", t.lower()) if not unicodedata.combining(c))
    for w, pat in SLANG.items():
        t = pat.sub(" slang_" + w.replace("'", ""), t)
    toks = [stem(w) for w in re.findall(r"\w+", t)]
    grams = toks + [f"{a}_{b}" for a, b in zip(toks, toks[1:])]
    ids = [zlib.crc32(g.encode()) % 8000 for g in grams]
    sys.stdout.write(f"{int(r['stars'] > 3)}\t{' '.join(map(str, ids))}\n")
