/**
 * A stream of events from the server, with data in JSON, that is open while the page is in view.
 *
 * A browser opens only a few connections to one server, and each stream keeps one. So a page that
 * is not in view gives its connection back, and takes a new one when it is looked at again; the
 * first event then has all that the page shows.
 *
 * @param {string} address
 * @param {Record<string, (data: any) => void>} listeners by the name of the event
 * @param {(state: "open" | "lost" | "gone" | "unreadable") => void} onState is called when the
 *   stream opens, and with what is wrong with it
 */
const streamInView = (address, listeners, onState) => {
  /** @type {EventSource | null} */
  let source = null;
  let isOver = false;

  const read = (text) => {
    try {
      return [JSON.parse(text)];
    } catch {
      return null;
    }
  };
  /* Whether a listener can make something of the data. */
  const hears = (listener, data) => {
    try {
      listener(data);
      return true;
    } catch {
      return false;
    }
  };
  const open = () => {
    const opened = new EventSource(address);
    source = opened;
    for (const [name, listener] of Object.entries(listeners)) {
      opened.addEventListener(name, (event) => {
        const data = read(event.data);
        if (!data || !hears(listener, data[0])) onState("unreadable");
      });
    }
    opened.addEventListener("open", () => onState("open"));
    opened.addEventListener("error", () => {
      onState(opened.readyState === EventSource.CLOSED ? "gone" : "lost");
    });
  };
  const close = () => {
    isOver = true;
    source?.close();
  };
  document.addEventListener("visibilitychange", () => {
    source?.close();
    if (!document.hidden && !isOver) open();
  });
  if (!document.hidden) open();
  return Object.freeze({ close });
};

/* What a reply of the server says; the server's guard refuses in plain text. */
const replyOf = async (/** @type {Response} */ reply) => {
  const isJson = reply.headers.get("content-type")?.startsWith("application/json");
  return isJson ? reply.json() : { problem: (await reply.text()).trim() };
};
