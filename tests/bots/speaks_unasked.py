"""Says more than its answer."""

import json

from polite import play


def misbehave(message):
    answer = json.dumps({"type": "move", "id": message["id"], "move": message["legal"][0]})
    print(f'{answer}\n{{"type":"info","depth":7}}', flush=True)


play(misbehave)
