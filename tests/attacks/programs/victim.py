"""Somebody to attack: keeps the word that it reads from its input in memory, and says where."""

import ctypes
import signal
import sys
import time

signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGURG])  # it stays pending, for whoever looks
word = sys.stdin.readline().strip()
kept = ctypes.create_string_buffer(word.encode())
print(ctypes.addressof(kept), flush=True)
time.sleep(600)
