/* How ratings settled: a few bots stand out and are named at the end of their lines. A click, a key or the pointer chooses others. */
(() => {
  const SLOTS = 8, LINE = 17, NEAR = 24;
  const { html, svg } = draw;
  const pointsOf = (line) => line.getAttribute("d").slice(1).split("L").map((pair) => pair.split(" ").map(Number));
  /* The height of a line above a place, if it is there. */
  const heightAt = (points, x) => {
    const next = points.findIndex(([at]) => at >= x);
    if (next < 1) return next ? NaN : points[0][1];
    const [[x0, y0], [x1, y1]] = [points[next - 1], points[next]];
    return y0 + ((y1 - y0) * (x - x0)) / (x1 - x0 || 1);
  };
  /* Labels at the heights of their lines, moved apart where they would touch. */
  const spread = (labels, height) => {
    labels.sort((one, other) => one.y - other.y);
    let top = -Infinity;
    for (const label of labels) label.at = top = Math.max(label.y, top + LINE);
    let floor = height - 4;
    for (const label of labels.toReversed()) {
      label.at = Math.min(label.at, floor);
      floor = label.at - LINE;
    }
  };

  let kept = null; // the slots of those that were chosen, by name: a live page draws the chart anew
  const dress = () => {
    const place = document.getElementById("courses");
    if (!place || document.querySelector("#course-names button")) return; // no chart, or the same as before
    const plot = place.querySelector(".plot"), names = place.querySelector(".labels"), height = plot.viewBox.baseVal.height;
    const bots = [...document.querySelectorAll("#course-names li")].map((item, at) => {
      const group = plot.querySelector(`[data-at="${at}"]`);
      const name = item.querySelector("bdi").textContent, first = /\bk(\d)/.exec(item.className)?.[1];
      const slot = kept ? kept.get(name) : first && Number(first);
      return { item, group, name, points: pointsOf(group.querySelector(".line")), slot: slot ?? null };
    });
    const order = bots.filter((bot) => bot.slot !== null);
    let hot = null;

    const paint = () => {
      const shown = bots.filter((bot) => bot.slot !== null || bot === hot);
      for (const bot of bots) {
        const look = [bot.slot === null ? "" : `k${bot.slot}`, bot === hot ? "hot" : ""].join(" ").trim();
        bot.group.setAttribute("class", `course ${look}`.trim());
        bot.item.className = look;
        bot.button.setAttribute("aria-pressed", bot.slot !== null);
      }
      plot.append(...shown.map((bot) => bot.group));
      const labels = shown.map((bot) => ({ bot, y: bot.points.at(-1)[1] }));
      spread(labels, height);
      names.replaceChildren(
        ...labels.map(({ bot, y, at }) =>
          svg("g", { class: bot.item.className }, svg("path", { d: `M0 ${y}C8 ${y} 4 ${at} 12 ${at}` }), svg("text", { x: 16, y: at + 4 }, bot.name)),
        ),
      );
    };
    const heat = (bot) => {
      if (bot === hot) return;
      hot = bot;
      paint();
    };
    const toggle = (bot) => {
      if (bot.slot === null) {
        if (order.length === SLOTS) order.shift().slot = null;
        const taken = new Set(order.map((one) => one.slot));
        bot.slot = [...Array(SLOTS).keys()].find((slot) => !taken.has(slot));
        order.push(bot);
      } else {
        order.splice(order.indexOf(bot), 1);
        bot.slot = null;
      }
      kept = new Map(order.map((one) => [one.name, one.slot]));
      paint();
    };
    const nearest = (event) => {
      const box = plot.getBoundingClientRect();
      const x = ((event.clientX - box.x) / box.width) * plot.viewBox.baseVal.width;
      const apart = bots.map((bot) => [Math.abs(heightAt(bot.points, x) - (event.clientY - box.y)), bot]).filter(([distance]) => distance < NEAR);
      return apart.sort(([one], [other]) => one - other)[0]?.[1] ?? null;
    };

    for (const bot of bots) {
      bot.button = html("button", { type: "button" }, ...bot.item.childNodes);
      bot.item.append(bot.button);
      bot.button.addEventListener("click", () => toggle(bot));
      for (const name of ["pointerenter", "focus"]) bot.button.addEventListener(name, () => heat(bot));
      for (const name of ["pointerleave", "blur"]) bot.button.addEventListener(name, () => heat(null));
    }
    plot.onpointermove = (event) => heat(nearest(event));
    plot.onpointerleave = () => heat(null);
    plot.onclick = (event) => {
      const bot = nearest(event);
      if (bot) toggle(bot);
    };
    document.getElementById("courses-hint").append(" Choose whom to compare.");
    paint();
  };
  dress();
  document.addEventListener("parts", dress);
})();
