"""What commands do, for the command line and for programs. Nothing in this package prints or exits.
Sentences for the user, such as ``note: ...`` or ``warning: ...``, are passed one at a time to a
callback called ``tell``.
"""
