// The table of ops: only the rows in view are elements, so that programs of any size scroll, sort and filter at once.
"use strict";
(async () => {
  const HEIGHT = 28, MARGIN = 12; // of a row in pixels; rows that are kept above and below the view
  const [NUMBER, ERROR, VERDICT, TEXT, ULPS, OFF, PLACE, SOURCE, EXCESS] = [0, 1, 2, 3, 4, 5, 6, 7, 8];
  const $ = (id) => document.getElementById(id);
  const packed = Uint8Array.from(atob($("rows").textContent), (character) => character.charCodeAt(0));
  const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const rows = await new Response(unpacked).json(), labels = JSON.parse($("labels").textContent);
  const view = $("program"), table = view.querySelector("table"), body = table.tBodies[0];
  const order = ["wrong", "permitted", "not_judged", "legal", "same", ""];
  const lower = rows.map((row) => (row[TEXT] + "\n" + row[SOURCE] + "\n" + row[PLACE]).toLowerCase());
  const byNumber = new Map(rows.map((row, index) => [row[NUMBER], index]));
  let shown = []; // indices of rows that pass the filters, sorted, those that were not compared last
  let chosen = 0, key = NUMBER, descending = false, first = -1, last = -1;

  const numeric = (value) => (value === null ? -1 : value === "inf" ? Infinity : Number(value));
  const digits = (value) => {
    if (value === null) return "";
    const number = numeric(value);
    if (!Number.isFinite(number)) return "∞";
    return number === 0 ? "0" : number >= 0.01 && number < 1e5 ? String(Number(number.toPrecision(3))) : number.toExponential(1);
  };
  const line = (place) => place.split(":").reduce((total, part) => total * 1e4 + Number(part), 0);
  const rank = {
    [NUMBER]: (_, index) => index,
    [ERROR]: (row) => (row[VERDICT] === "wrong" ? Math.max(numeric(row[ERROR]), 1) : numeric(row[ERROR])),
    [VERDICT]: (row) => order.indexOf(row[VERDICT]),
    [ULPS]: (row) => numeric(row[ULPS]),
    [OFF]: (row) => numeric(row[OFF]),
    [PLACE]: (row) => line(row[PLACE]),
  };
  // How strong the colour of an error is: none at 0, a third at the bound, full at a thousand times the bound.
  const heat = (row) => {
    const error = rank[ERROR](row);
    if (error <= 0) return 0;
    if (error <= 1) return 0.05 + 0.2 * error;
    return Math.min(0.6, 0.35 + 0.09 * Math.log10(error));
  };

  function cell(tag, text, className) {
    const made = document.createElement(tag);
    made.textContent = text;
    if (className) made.className = className;
    return made;
  }

  function element(at) {
    const row = rows[shown[at]], made = document.createElement("tr");
    made.dataset.at = at;
    made.id = "op-" + row[NUMBER];
    made.tabIndex = at === chosen ? 0 : -1;
    made.setAttribute("aria-rowindex", at + 2);
    made.setAttribute("aria-selected", at === chosen);
    const number = cell("th", row[NUMBER]);
    number.scope = "row";
    const error = cell("td", digits(row[ERROR]), "heat");
    error.style.setProperty("--h", heat(row));
    made.append(number, error, cell("td", labels[row[VERDICT]], "v-" + row[VERDICT]), cell("td", row[TEXT].split("\n")[0]),
      cell("td", digits(row[ULPS])), cell("td", row[OFF] === null ? "" : row[OFF]), cell("td", row[PLACE]), cell("td", row[SOURCE]));
    return made;
  }

  function spacer(count) {
    const made = document.createElement("tr"), inside = document.createElement("td");
    made.className = "spacer";
    made.setAttribute("aria-hidden", "true");
    inside.colSpan = 8;
    inside.style.height = count * HEIGHT + "px";
    made.append(inside);
    return made;
  }

  function draw(force) {
    const top = Math.max(0, Math.floor(view.scrollTop / HEIGHT) - MARGIN);
    const end = Math.min(shown.length, Math.ceil((view.scrollTop + innerHeight) / HEIGHT) + MARGIN); // the view grows with its rows
    if (!force && top === first && end === last) return;
    const hadFocus = body.contains(document.activeElement);
    [first, last] = [top, end];
    const made = [];
    if (top > 0) made.push(spacer(top));
    for (let at = top; at < end; at++) made.push(element(at));
    if (end < shown.length) made.push(spacer(shown.length - end));
    body.replaceChildren(...made);
    if (hadFocus) (body.querySelector(`[data-at="${chosen}"]`) || view).focus({ preventScroll: true });
  }

  function arrange() {
    const words = $("filter-text").value.toLowerCase().split(/\s+/).filter(Boolean);
    const verdict = $("filter-verdict").value, least = Number($("filter-error").value) || 0;
    const kept = shown[chosen];
    shown = [];
    rows.forEach((row, index) => {
      if (verdict !== "*" && row[VERDICT] !== verdict) return;
      if (least > 0 && !(rank[ERROR](row) >= least)) return;
      if (words.every((word) => lower[index].includes(word))) shown.push(index);
    });
    const ranks = rows.map((row, index) => (rank[key] ? rank[key](row, index) : row[key]));
    const sign = descending ? -1 : 1;
    if (key !== NUMBER || descending)
      shown.sort((a, b) => (ranks[a] < ranks[b] ? -sign : ranks[a] > ranks[b] ? sign : a - b));
    const compared = (index) => rows[index][VERDICT] !== "";
    shown = [...shown.filter(compared), ...shown.filter((index) => !compared(index))]; // constants tell nothing
    chosen = Math.max(0, shown.indexOf(kept));
    table.setAttribute("aria-rowcount", shown.length + 1);
    const s = rows.length === 1 ? "" : "s";
    $("shown").textContent = shown.length === rows.length ? `${rows.length} op${s}` : `${shown.length} of ${rows.length} op${s}`;
    view.scrollTop = 0;
    draw(true);
  }

  function describe() {
    const row = rows[shown[chosen]], panel = $("details");
    if (!row) return panel.replaceChildren();
    const parts = [`${labels[row[VERDICT]]}, op ${row[NUMBER]} at ${row[PLACE]}`];
    if (row[SOURCE]) parts.push(row[SOURCE]);
    if (row[ERROR] !== null) parts.push(`error ${digits(row[ERROR])} of the bound`);
    if (row[ULPS] !== null) parts.push(`${digits(row[ULPS])} ULPs`);
    panel.replaceChildren(cell("strong", parts.join("; ")), cell("pre", row[TEXT]));
    if (row[EXCESS]) panel.append(cell("p", row[EXCESS]));
  }

  function choose(at, focus) {
    if (!shown.length) return;
    chosen = Math.max(0, Math.min(shown.length - 1, at));
    const head = table.tHead.offsetHeight, top = chosen * HEIGHT;
    if (top < view.scrollTop) view.scrollTop = top;
    else if (top + HEIGHT + head > view.scrollTop + view.clientHeight) view.scrollTop = top + HEIGHT + head - view.clientHeight;
    draw(true);
    describe();
    if (focus) body.querySelector(`[data-at="${chosen}"]`)?.focus({ preventScroll: true });
  }

  function sortBy(header) {
    const wanted = Number(header.dataset.key);
    const larger = [ERROR, ULPS, OFF].includes(wanted); // the largest first
    descending = wanted === key ? !descending : larger;
    key = wanted;
    for (const other of table.tHead.querySelectorAll("th")) other.removeAttribute("aria-sort");
    header.setAttribute("aria-sort", descending ? "descending" : "ascending");
    arrange();
  }

  function show(number) {
    if (!byNumber.has(number)) return false;
    $("filters").reset();
    arrange();
    view.scrollIntoView({ block: "center" });
    choose(shown.indexOf(byNumber.get(number)), true);
    return true;
  }

  const counts = new Map();
  for (const row of rows) counts.set(row[VERDICT], (counts.get(row[VERDICT]) || 0) + 1);
  for (const verdict of order.filter((name) => counts.has(name)))
    $("filter-verdict").append(new Option(`${labels[verdict]} (${counts.get(verdict)})`, verdict));
  for (const header of table.tHead.querySelectorAll("th")) header.firstChild.addEventListener("click", () => sortBy(header));
  $("filters").addEventListener("input", arrange);
  $("filters").addEventListener("reset", () => setTimeout(arrange));
  $("filters").addEventListener("submit", (event) => event.preventDefault());
  view.addEventListener("scroll", () => requestAnimationFrame(() => draw(false)), { passive: true });
  addEventListener("resize", () => draw(false));
  body.addEventListener("click", (event) => {
    const row = event.target.closest("[data-at]");
    if (row) choose(Number(row.dataset.at), true);
  });
  body.addEventListener("keydown", (event) => {
    const page = Math.floor(view.clientHeight / HEIGHT) - 2;
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -rows.length, End: rows.length };
    if (event.key in steps) choose(chosen + steps[event.key], true);
    else if (event.key === "Enter" || event.key === " ") describe();
    else return;
    event.preventDefault();
  });
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-op]");
    if (link && show(link.dataset.op)) event.preventDefault();
  });
  arrange();
  performance.mark("interactive");
})();
