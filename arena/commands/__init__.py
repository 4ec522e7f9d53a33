"""What commands do, for the command line and for programs. Nothing in this package prints or exits.
Functions here take a callback ``tell`` and pass it each sentence for the user, such as ``note:
...`` or ``warning: ...``.
"""
