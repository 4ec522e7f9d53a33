"""The parts that a board is drawn from: written once into a file that uses them, and drawn by
reference.
"""

SEATS = ("#17181c", "#fbf8ef", "#7d3bb0", "#12897b")
"""The colours of the seats; the second of each pair below stands out from it."""
CASINGS = ("#f3ead6", "#2b241c", "#f3ead6", "#f3ead6")
DOORS = ("#8b8b8b", "#9c917c", "#d9c4ec", "#bfe3dc")

STYLE = (
    ".f{fill:#4a3425}.l{fill:none;stroke:#7a5a3c;stroke-width:2}"
    ".c{font:600 11px system-ui,sans-serif;fill:#e6d6b5;text-anchor:middle}"
    ".w{fill:#86b4c6;stroke:#4f8299;stroke-width:1.5}"
    ".a{fill:none;stroke:#dcedf2;stroke-width:1.6;stroke-linecap:round}"
    ".v{fill:#ead9b6;stroke:#ad9263;stroke-width:1.2}.k,.o{fill:none}.k{stroke-width:4.6}"
    ".o{stroke-width:2.6}.r{fill:none;stroke:#ffab00;stroke-width:4}"
    ".x{fill:none;stroke:#d0021b;stroke-width:4;stroke-linecap:round}.b{stroke-dasharray:9 5}"
    ".d{fill:none;stroke:#fff;stroke-width:1.6;opacity:.9}.p{fill:#8d7f68}"
)

PAGODA = (
    "M8 34v-3h3v-5H7.5l-4-1.5q6-1 8-5h2.5v-3.5h-3l-3-1.3q5-1 6.7-4.7h4l.6-4h1.4l.6 4h4"
    "q1.7 3.7 6.7 4.7l-3 1.3h-3v3.5h2.5q2 4 8 5l-4 1.5H29v5h3v3z"
)
MAJOR = (
    "M8 35v-3h3v-4.5H7.5l-4-1.5q6-1 8-4.5h2v-3h-3l-4-1.4q5.5-1"
    " 7.5-4.6h1.2v-2.8h-2.5l-2.5-1.2q4.2-.8 5.8-4.2h3.7l.6-4h1.4l.6 4h3.7q1.6 3.4 5.8 4.2l-2.5"
    " 1.2h-2.5v2.8h1.2q2 3.6 7.5 4.6l-4 1.4h-3v3h2q2 3.5 8 4.5l-4 1.5H29v4.5h3v3z"
)
ROOFS = "M9 24.8h22M13 15.5h14"
MAJOR_ROOFS = "M9 26.3h22M12 17.3h16M14 8.8h12"

PARTS = {
    "R": (
        '<pattern id="R" width="20" height="20" patternUnits="userSpaceOnUse"><path fill="#bb3d2c"'
        ' d="M0 0h20v20H0z"/><path fill="none" stroke="#dc7a64" stroke-width="1.1" d="M10 2.5l7.5'
        ' 7.5-7.5 7.5L2.5 10zM10 7l3 3-3 3-3-3z"/></pattern>'
    ),
    "Y": (
        '<pattern id="Y" width="20" height="8" patternUnits="userSpaceOnUse"><path fill="#e6b443"'
        ' d="M0 0h20v8H0z"/><path fill="none" stroke="#b98518" stroke-width="1.1" d="M0 4q5-4.5 10'
        ' 0t10 0"/></pattern>'
    ),
    "B": (
        '<pattern id="B" width="20" height="20" patternUnits="userSpaceOnUse"><path fill="#396da9"'
        ' d="M0 0h20v20H0z"/><path fill="none" stroke="#86abd6" stroke-width="1" d="M0 10a10 10 0 0'
        " 1 20 0M5 10a5 5 0 0 1 10 0M-10 20a10 10 0 0 1 20 0a10 10 0 0 1 20 0M-5 20a5 5 0 0 1 10"
        ' 0M15 20a5 5 0 0 1 10 0"/></pattern>'
    ),
    "g": (
        '<pattern id="g" width="40" height="40" patternUnits="userSpaceOnUse"><path fill="#c2ca91"'
        ' d="M0 0h40v40H0z"/><path fill="none" stroke="#a5ae72" d="M40 0v40H0"/></pattern>'
    ),
    "t": (
        '<path id="t" fill="none" stroke="#8f9c5c" stroke-width="1.2" d="M16 25q0-4-3-6M18 25v-8M20'
        ' 25q0-4 3-6"/>'
    ),
    "u": '<path id="u" class="a" d="M9 17q4-4 8 0t8 0M16 28q4-4 8 0t8 0"/>',
    "v": (
        '<path id="v" fill="#9a7440" stroke="#6d4f26" stroke-width=".8" '
        'd="M6 14l5-5 5 5h-1.5v4h-7v-4zM24 16l5-5 5 5h-1.5v4h-7v-4zM14 30l5-5 5 5h-1.5v4'
        'h-7v-4z"/>'
    ),
    "q": '<path id="q" d="M2 8q0-6 6-6h24q6 0 6 6v24q0 6-6 6H8q-6 0-6-6z"/>',
    "e": '<path id="e" d="M40.3 2H8Q2 2 2 8v24q0 6 6 6h32.3z"/>',
    "w": '<path id="w" d="M0 2h32q6 0 6 6v24q0 6-6 6H0z"/>',
    "s": '<path id="s" d="M2 40.3V8q0-6 6-6h24q6 0 6 6v32.3z"/>',
    "n": '<path id="n" d="M2 0v32q0 6 6 6h24q6 0 6-6V0z"/>',
    "h": '<rect id="h" x="1" y="2" width="79" height="38" rx="7"/>',
    "j": '<rect id="j" x="1" y="2" width="39" height="78" rx="7"/>',
    "i": '<rect id="i" x="1" y="2" width="39" height="38" rx="7"/>',
    "H": (
        '<g id="H"><path stroke="#0005" stroke-dasharray="3 2" d="M40 3v34"/><path stroke="#fff8"'
        ' d="M3 31V9q0-6 6-6h63"/><path stroke="#0006" d="M77 9v22q0 6-6 6H9"/></g>'
    ),
    "J": (
        '<g id="J"><path stroke="#0005" stroke-dasharray="3 2" d="M3 40h34"/><path stroke="#fff8"'
        ' d="M3 71V9q0-6 6-6h23"/><path stroke="#0006" d="M37 9v62q0 6-6 6H9"/></g>'
    ),
    "I": (
        '<g id="I"><path stroke="#fff8" d="M3 31V9q0-6 6-6h23"/><path stroke="#0006" d="M37 9v22q0'
        ' 6-6 6H9"/></g>'
    ),
    "z": (
        '<g id="z" class="d"><circle cx="20" cy="20" r="10"/><circle cx="20" cy="20" r="6.5"/></g>'
    ),
    "1": (
        '<g id="p1"><ellipse cx="20" cy="34.5" rx="14" ry="2.5" fill="#0005" stroke="none"/><path'
        f' d="{PAGODA}"/><path stroke-opacity=".5" d="{ROOFS}"/></g><path id="d1" d="M18'
        ' 34v-3.5q2-2.5 4 0V34z"/>'
    ),
    "2": (
        '<g id="p2"><ellipse cx="20" cy="35.5" rx="14" ry="2.5" fill="#0005" stroke="none"/><path'
        f' d="{MAJOR}"/><path stroke-opacity=".5" d="{MAJOR_ROOFS}"/></g><path id="d2" d="M18'
        ' 35v-3.5q2-2.5 4 0V35z"/>'
    ),
}
