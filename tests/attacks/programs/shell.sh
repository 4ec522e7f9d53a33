#!/bin/sh
# A bot need not be Python: the same reading in a shell.
case "$1" in
read) if read -r word <"$2"; then echo "open $word"; else echo blocked; fi ;;
write) if echo forged >>"$2"; then echo open; else echo blocked; fi ;;
signal) if kill -s "$3" "$2"; then echo open; else echo blocked; fi ;;
esac
