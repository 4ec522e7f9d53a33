from arena.rules.pure import State as State
