"""What commands do, for the command line and for programs: nothing here prints or exits. What a
user should hear goes to a function ``tell``, one sentence at a time, as ``note: ...`` or ``warning:
...``.
"""
