"""Numbers of the system calls in which a thread may be blocked (arch/x86/entry/syscalls/syscall_64.tbl, include/uapi/asm-generic/unistd.h)."""

from __future__ import annotations

import os


def _numbers(text: str) -> dict[int, str]:
    words = text.split()
    return {int(number): name for number, name in zip(words[::2], words[1::2], strict=True)}


_X86_64 = """
    0 read 1 write 2 open 7 poll 17 pread64 18 pwrite64 19 readv 20 writev 23 select 35 nanosleep 40 sendfile 42 connect 43 accept
    44 sendto 45 recvfrom 46 sendmsg 47 recvmsg 61 wait4 65 semop 70 msgrcv 72 fcntl 73 flock 74 fsync 75 fdatasync
    128 rt_sigtimedwait 202 futex 220 semtimedop 230 clock_nanosleep 232 epoll_wait 247 waitid 257 openat 270 pselect6 271 ppoll
    281 epoll_pwait 288 accept4
"""
_GENERIC = """
    22 epoll_pwait 25 fcntl 32 flock 56 openat 63 read 64 write 65 readv 66 writev 67 pread64 68 pwrite64 71 sendfile 72 pselect6
    73 ppoll 82 fsync 83 fdatasync 95 waitid 98 futex 101 nanosleep 115 clock_nanosleep 137 rt_sigtimedwait 188 msgrcv
    192 semtimedop 193 semop 202 accept 203 connect 206 sendto 207 recvfrom 211 sendmsg 212 recvmsg 242 accept4 260 wait4
"""
NAMES = _numbers({"x86_64": _X86_64, "aarch64": _GENERIC, "riscv64": _GENERIC}.get(os.uname().machine, ""))
"""Of this machine; empty where the numbers are not known."""
_OF_DESCRIPTOR = """
    read write pread64 pwrite64 readv writev connect accept accept4 sendto recvfrom sendmsg recvmsg fcntl flock fsync fdatasync
    epoll_wait epoll_pwait
"""
OF_DESCRIPTOR = frozenset(_OF_DESCRIPTOR.split())
"""Their first argument is a file descriptor."""
