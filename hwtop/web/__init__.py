"""The screen in a browser: one sampler, a tab for each who looks.

A tab is an app of its own (`ui/tab.py`) in the server's process, fed with the frames of the one feed. What it draws is kept as
cells (`ui/sheet.py`); the page gets the rows that have changed and paints them, so no terminal emulator is needed, and a slow
tab is sent the newest rows when it can take them.

On a two-core machine, at one frame a second and 160 x 47 cells, a tab costs 1.8 % of a core and 12 MB (20 MB more with the
first one), beside 1.1 % and 89 MB of the server without tabs; three cost 6.5 % in all.

The other way, a child process a tab that reads frames from a pipe, was measured against it. A frame with its history is 5.7 MB
of MessagePack: 9 ms to write and 47 ms to read, for every tab and second, before anything is drawn. A child also takes 47 MB
and 0.6 s of CPU to start, and has to be ended when things go wrong.
"""
