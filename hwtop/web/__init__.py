"""The screen in a browser: one sampler, one app per tab.

A tab has its own app (`ui/browser/tab.py`) in the server's process, fed with the frames of the one feed. What it draws is kept
as cells (`ui/browser/sheet.py`); the page gets the changed rows and paints them, so no terminal emulator is needed, and a slow
tab gets the newest rows as soon as it can take them.

On a two-core machine, at one frame a second and 160 x 47 cells, a tab costs 1.8 % of a core and 12 MB (20 MB more with the
first one), in addition to 1.1 % and 89 MB of the server without tabs; three cost 6.5 % in total.

The alternative, a child process per tab that reads frames from a pipe, was measured too. A frame with its history is 5.7 MB
of MessagePack: 9 ms to write and 47 ms to read, for every tab and second, before anything is drawn. A child also takes 47 MB
and 0.6 s of CPU to start, and has to be terminated when something fails.
"""
