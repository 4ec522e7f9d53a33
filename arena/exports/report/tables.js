/* Tables: a heading sorts its column, and arrow keys lead through the head-to-head table. A live
   page calls `dress` again for what came new. */
const tables = (() => {
  const kept = new Map(); // what a new copy of a table is sorted by
  const nameOf = (table) => `${table.closest("section")?.id} ${table.caption.textContent}`;

  const textOf = (row, column) => {
    const cell = row.cells[column];
    return cell.dataset.v ?? cell.textContent.trim();
  };
  /* The first figure in the text, with a real minus and separators. */
  const figureOf = (text) => {
    const found = /-?\d[\d,]*(\.\d+)?/.exec(text.replaceAll("\u2212", "-"));
    return found ? Number(found[0].replaceAll(",", "")) : NaN;
  };

  const sort = (table, column, direction) => {
    const heads = table.tHead.rows[0].cells;
    const body = table.tBodies[0];
    const isFigure = heads[column].classList.contains("figure");
    const valued = [...body.rows].map((row) => [
      isFigure ? figureOf(textOf(row, column)) : textOf(row, column),
      row,
    ]);
    const way = direction === "descending" ? -1 : 1;
    valued.sort(([one], [other]) => {
      if (!isFigure) return way * one.localeCompare(other, "en", { numeric: true });
      if (Number.isNaN(one) || Number.isNaN(other)) {
        // what has no figure comes last
        return Number(Number.isNaN(one)) - Number(Number.isNaN(other));
      }
      return way * (one - other);
    });
    body.append(...valued.map(([, row]) => row));
    for (const head of heads) head.removeAttribute("aria-sort");
    heads[column].setAttribute("aria-sort", direction);
    kept.set(nameOf(table), [column, direction]);
  };

  const button = (table, head, column) => {
    const node = draw.html("button", { type: "button", class: "sort" }, ...head.childNodes);
    node.addEventListener("click", () => {
      const first =
        head.classList.contains("figure") && !head.dataset.up ? "descending" : "ascending";
      const other = first === "descending" ? "ascending" : "descending";
      sort(table, column, head.getAttribute("aria-sort") === first ? other : first);
    });
    head.append(node);
  };

  /* One stop of the tab key for the whole table; the arrows go from cell to cell. */
  const grid = (table) => {
    const links = () => [...table.querySelectorAll("tbody td > a")];
    const stay = (link) => {
      for (const one of links()) one.tabIndex = one === link ? 0 : -1;
    };
    const next = (cell, across, down) => {
      for (
        let row = cell.parentNode.rowIndex + down, column = cell.cellIndex + across;
        ;
        row += down, column += across
      ) {
        const found = table.rows[row]?.cells[column];
        if (!found || column < 1 || row < 1) return null;
        if (found.firstElementChild?.matches("a")) return found.firstElementChild;
      }
    };
    const ways = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] };
    stay(links()[0]);
    table.addEventListener("keydown", (event) => {
      const cell = event.target.closest("td");
      if (!cell || !ways[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      event.stopPropagation();
      const link = next(cell, ...ways[event.key]);
      if (!link) return;
      stay(link);
      link.focus();
    });
  };

  const dress = (root) => {
    for (const table of root.querySelectorAll("table.sortable")) {
      [...table.tHead.rows[0].cells].forEach((head, column) => {
        if (!head.classList.contains("picture")) button(table, head, column);
      });
      const before = kept.get(nameOf(table));
      if (before) sort(table, ...before);
    }
    root.querySelectorAll("table.heat").forEach(grid);
  };
  return Object.freeze({ dress });
})();
tables.dress(document);
