/* Tables: a heading sorts its column, and arrow keys lead through the head-to-head table. A live
   page calls `dress` again for every new part. */
const tables = (() => {
  /* By the name of a table, the column and the direction that it is sorted by. A live page sorts
     the table's next copy in the same way. */
  const sortings = new Map();
  const nameOf = (table) => `${table.closest("section")?.id} ${table.caption.textContent}`;

  /* The text by which a row is sorted; empty where the row has no such cell, as under a problem that
     reaches over several columns. */
  const textOf = (row, column) => {
    const cell = row.cells[column];
    return cell?.dataset.v ?? cell?.textContent.trim() ?? "";
  };
  /* The first figure in a text, which may have a minus sign and separators of thousands. */
  const figureOf = (text) => {
    const figure = /-?\d[\d,]*(\.\d+)?/.exec(text.replaceAll("\u2212", "-"));
    return figure ? Number(figure[0].replaceAll(",", "")) : NaN;
  };

  /* Sort the rows of a table by a column, counted from 0; `direction` is a value of `aria-sort`. */
  const sort = (table, column, direction) => {
    const heads = table.tHead.rows[0].cells;
    const body = table.tBodies[0];
    const isFigure = heads[column].classList.contains("figure");
    const sign = direction === "descending" ? -1 : 1;
    const compareTexts = (row, other) => {
      const text = textOf(row, column);
      return sign * text.localeCompare(textOf(other, column), "en", { numeric: true });
    };
    const compareFigures = (row, other) => {
      const figure = figureOf(textOf(row, column));
      const otherFigure = figureOf(textOf(other, column));
      const lacksFigure = Number.isNaN(figure);
      const otherLacksFigure = Number.isNaN(otherFigure);
      // Rows without a figure come last in both directions.
      if (lacksFigure || otherLacksFigure) return Number(lacksFigure) - Number(otherLacksFigure);
      return sign * (figure - otherFigure);
    };
    const rows = [...body.rows].sort(isFigure ? compareFigures : compareTexts);
    body.append(...rows);
    for (const head of heads) head.removeAttribute("aria-sort");
    heads[column].setAttribute("aria-sort", direction);
    sortings.set(nameOf(table), [column, direction]);
  };

  const makeButton = (head) => {
    head.append(draw.html("button", { type: "button", class: "sort" }, ...head.childNodes));
  };
  /* A live page puts headings of a new copy of a table into the table that is there, so a click
     looks up the table of its heading. */
  document.addEventListener("click", (event) => {
    const target = /** @type {Element} */ (event.target);
    const head = target.closest("button.sort")?.closest("th");
    if (!head) return;
    const isFirstDown = head.classList.contains("figure") && !head.dataset.up;
    const first = isFirstDown ? "descending" : "ascending";
    const other = isFirstDown ? "ascending" : "descending";
    const isSorted = head.getAttribute("aria-sort") === first;
    sort(head.closest("table"), head.cellIndex, isSorted ? other : first);
  });

  /* Make the whole table one stop of the tab key, and let arrow keys go from cell to cell. */
  const grid = (table) => {
    const links = () => [...table.querySelectorAll("tbody td > a")];
    const keepInTabOrder = (link) => {
      for (const each of links()) each.tabIndex = each === link ? 0 : -1;
    };
    /* The next link in a direction from a cell, over cells that have none; null at the edge. */
    const nextLink = (cell, across, down) => {
      let row = cell.parentNode.rowIndex + down;
      let column = cell.cellIndex + across;
      while (row >= 1 && column >= 1 && table.rows[row]?.cells[column]) {
        const link = table.rows[row].cells[column].firstElementChild;
        if (link?.matches("a")) return link;
        row += down;
        column += across;
      }
      return null;
    };
    const directions = {
      ArrowRight: [1, 0],
      ArrowLeft: [-1, 0],
      ArrowDown: [0, 1],
      ArrowUp: [0, -1],
    };
    keepInTabOrder(links()[0]);
    table.addEventListener("keydown", (event) => {
      const cell = event.target.closest("td");
      if (!cell || !directions[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      event.stopPropagation();
      const link = nextLink(cell, ...directions[event.key]);
      if (!link) return;
      keepInTabOrder(link);
      link.focus();
    });
  };

  /* Make the tables in `root` sortable, sort them as the reader has sorted earlier copies of them, and
     let arrow keys lead through head-to-head tables. */
  const dress = (root) => {
    for (const table of root.querySelectorAll("table.sortable")) {
      for (const head of table.tHead.rows[0].cells) {
        if (!head.classList.contains("picture")) makeButton(head);
      }
      const before = sortings.get(nameOf(table));
      if (before) sort(table, ...before);
    }
    root.querySelectorAll("table.heat").forEach(grid);
  };
  return Object.freeze({ dress });
})();
tables.dress(document);
