"""What commands do, for the command line and for programs. Nothing in this package prints or exits.
A function that has something to say to the user takes a callback ``tell`` and passes it each
sentence, such as ``note: ...`` or ``warning: ...``.
"""
