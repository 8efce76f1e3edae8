// The one wire between the views. Events: `line` {line: number | null, from} lights up what belongs to a line of the
// user's source everywhere; `show` {tab} brings a tab to the front.

export function makeBus() {
  const handlers = new Map();
  return {
    on(name, fn) {
      handlers.set(name, [...(handlers.get(name) ?? []), fn]);
    },
    emit(name, payload) {
      for (const fn of handlers.get(name) ?? []) fn(payload);
    },
  };
}
