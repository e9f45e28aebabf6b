"""Bundles: what a colleague needs to see of a job, in one zip file that only the user can read.

    manifest.json      what is in it, what was not collected and why, and which kinds of secrets were masked where
    report.md, .json   what `hwtop diagnose` reports
    environment.json   versions, and the variables of the job that matter
    hardware.json      what hwtop has read of the machine
    started.json       how the job was started: command lines, folder, git commit
    config/            files of settings that a command line names
    logs/              beginning and end of the logs, and the lines that matched a pattern with those around them
    stacks.txt, .json  the stacks of now, and the newest of each process that the watch has seen
    flight/            Flight Recorder dumps
    kernel.txt         records of the kernel's log
    recording.hwtop    the watch, for `hwtop replay`
    overview.png, .txt the overview page

An incident is a bundle that hwtop saves by itself when a job hangs or crashes, without a recording and pictures. All texts in
a bundle pass through `mask.Mask`.
"""
