// The span waterfall: of ten thousand spans only those in sight are in the page. A tree for the keyboard, too.

const ROW = 26;
const MARGIN = 12;
const LEAST = 4; // rows that the place holds, whatever is folded
const MOST = 16;
const FOLDED_ABOVE = 400; // larger traces open with everything below the second level folded

const [ID, NAME, KIND, DEPTH, OFFSET, TOOK, ERROR, ORPHAN, BELOW] = Array(9).keys();

export class Waterfall {
  constructor(place, choose, expected) {
    this.place = place;
    this.fit(expected > FOLDED_ABOVE ? MOST : expected);
    this.choose = choose;
    this.folded = new Set();
    this.chosen = null;
    this.space = document.createElement("div");
    this.space.className = "space";
    this.space.setAttribute("role", "presentation");
    place.addEventListener("scroll", () => this.paint(), { passive: true });
    place.addEventListener("click", (event) => this.click(event));
    place.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.paint()).observe(place);
  }

  show({ rows, totalUs }) {
    const first = !this.rows;
    this.rows = rows;
    this.total = Math.max(1, totalUs);
    if (first && rows.length > FOLDED_ABOVE) for (const row of rows) if (row[DEPTH] > 0 && row[BELOW]) this.folded.add(row[ID]);
    this.place.replaceChildren(this.space);
    this.place.setAttribute("aria-busy", "false");
    this.order();
    if (first && rows.length) this.pick(rows[0][ID]);
  }

  fit(rows) {
    this.place.style.height = `${Math.max(LEAST, Math.min(MOST, rows)) * ROW}px`;
  }

  foldAll(fold) {
    this.folded = new Set(fold ? this.rows.filter((row) => row[BELOW]).map((row) => row[ID]) : []);
    this.order();
  }

  order() {
    this.visible = [];
    for (let at = 0; at < this.rows.length; at += 1) {
      const row = this.rows[at];
      this.visible.push(row);
      if (this.folded.has(row[ID])) at += row[BELOW];
    }
    this.space.style.height = `${this.visible.length * ROW}px`;
    this.fit(this.visible.length);
    this.paint();
  }

  paint() {
    if (!this.visible) return;
    const top = Math.max(0, Math.floor(this.place.scrollTop / ROW) - MARGIN);
    const shown = this.visible.slice(top, top + Math.ceil(this.place.clientHeight / ROW) + 2 * MARGIN);
    this.space.replaceChildren(...shown.map((row, number) => this.bar(row, top + number)));
  }

  bar(row, number) {
    const line = part("div", `bar-row ${row[KIND]}${row[ERROR] ? " error" : ""}`);
    line.id = `span-${row[ID]}`;
    line.dataset.span = row[ID];
    line.style.top = `${number * ROW}px`;
    line.setAttribute("role", "treeitem");
    line.setAttribute("aria-level", row[DEPTH] + 1);
    line.setAttribute("aria-selected", String(this.chosen === row[ID]));
    if (row[BELOW]) line.setAttribute("aria-expanded", String(!this.folded.has(row[ID])));
    const name = part("div", "name");
    name.style.paddingLeft = `${6 + Math.min(row[DEPTH], 24) * 12}px`;
    const mark = part("span", "fold-mark", row[BELOW] ? (this.folded.has(row[ID]) ? "▸" : "▾") : "");
    mark.setAttribute("aria-hidden", "true");
    name.append(mark, part("span", "kind"));
    if (row[ORPHAN]) name.append(Object.assign(part("span", "orphan", "orphan"), { title: "its parent has not arrived" }));
    const folded = this.folded.has(row[ID]) ? ` +${row[BELOW].toLocaleString()}` : "";
    name.append(Object.assign(part("span", "", row[NAME] + folded), { title: row[NAME] }));
    const lane = part("div", "lane");
    const bar = part("i", "");
    bar.style.left = `${(100 * row[OFFSET]) / this.total}%`;
    bar.style.width = `${Math.max(0.2, (100 * row[TOOK]) / this.total)}%`;
    lane.append(bar);
    line.append(name, lane, part("span", "took", took(row[TOOK])));
    return line;
  }

  click(event) {
    const line = event.target.closest(".bar-row");
    if (!line) return;
    if (event.target.closest(".fold-mark")?.textContent) this.toggle(line.dataset.span);
    else this.pick(line.dataset.span);
  }

  toggle(id) {
    if (!this.folded.delete(id)) this.folded.add(id);
    this.order();
  }

  pick(id) {
    this.chosen = id;
    this.place.setAttribute("aria-activedescendant", `span-${id}`);
    this.paint();
    this.choose(id);
  }

  key(event) {
    if (!this.visible?.length) return;
    const at = this.visible.findIndex((row) => row[ID] === this.chosen);
    const row = this.visible[at];
    const moves = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: this.visible.length - 1 };
    if (event.key in moves) this.pickAt(Math.min(this.visible.length - 1, Math.max(0, moves[event.key])));
    else if (event.key === "ArrowRight" && row?.[BELOW] && this.folded.has(row[ID])) this.toggle(row[ID]);
    else if (event.key === "ArrowLeft" && row?.[BELOW] && !this.folded.has(row[ID])) this.toggle(row[ID]);
    else return;
    event.preventDefault();
  }

  pickAt(number) {
    const top = number * ROW;
    if (top < this.place.scrollTop) this.place.scrollTop = top;
    if (top + ROW > this.place.scrollTop + this.place.clientHeight) this.place.scrollTop = top + ROW - this.place.clientHeight;
    this.pick(this.visible[number][ID]);
  }
}

function part(tag, className, text = "") {
  const made = document.createElement(tag);
  made.className = className;
  if (text) made.textContent = text;
  return made;
}

function took(us) {
  if (us < 1000) return `${us} µs`;
  if (us < 1e6) return `${(us / 1000).toFixed(us < 1e4 ? 1 : 0)} ms`;
  return us < 6e7 ? `${(us / 1e6).toFixed(1)} s` : `${Math.floor(us / 6e7)} m ${Math.round((us % 6e7) / 1e6)} s`;
}
