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

  /* The data of an event, in a list, because they may be null; or null if they are not JSON. */
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

/* The longest wait for a reply of the server. */
const MAX_WAIT_MS = 60_000;

/**
 * Post `body` to an address of the server as JSON, and wait at most `MAX_WAIT_MS` for the reply.
 *
 * @param {string} address
 * @param {object} body
 * @param {string} unreachable the problem if the server does not answer
 * @returns {Promise<any>} what the reply says: an object, with the key `problem` if the server refuses
 */
const askServer = async (address, body, unreachable = "The server cannot be reached.") => {
  try {
    const reply = await fetch(address, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(MAX_WAIT_MS),
    });
    // The server's guard refuses in plain text.
    const isJson = reply.headers.get("content-type")?.startsWith("application/json");
    return isJson ? await reply.json() : { problem: (await reply.text()).trim() };
  } catch {
    return { problem: unreachable };
  }
};
