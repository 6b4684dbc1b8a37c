/**
 * Plots over the last minute: energy and momentum of the world, speed of the chosen body, deepest overlap, residual and time of a
 * step, bandwidth; with an export.
 */
import { Side } from "./side.js";
import { save } from "./save.js";

/** Period of samples, ms, the number kept, and how many at least fill a plot from side to side. */
const SAMPLE_MS = 250, KEPT = 240, FILLING = 40;
/** Period of the questions for the overlap and for the counters of the step, ms, and contact points that are looked at. */
const SLOW_MS = 1000, POINTS_MAX = 1024;
/** The plots: title, unit, and the columns they show. */
const PLOTS = [
  { title: "Energy", unit: "J", columns: ["kinetic", "potential"] },
  { title: "Momentum", unit: "kg m/s", columns: ["momentum"] },
  { title: "Speed of the chosen body", unit: "m/s", columns: ["speed"] },
  { title: "Deepest overlap", unit: "mm", columns: ["penetration"] },
  { title: "Residual of the solver", unit: "", columns: ["residual"], commands: true },
  { title: "Time of a step", unit: "µs", columns: ["step_us"], commands: true },
  { title: "Bandwidth", unit: "kbit/s", columns: ["bandwidth"] },
];
const COLUMNS = ["tick", ...PLOTS.flatMap(({ columns }) => columns)];
const SLOW = { penetration: NaN, residual: NaN, step_us: NaN };
const WIDTH = 360, HEIGHT = 84;
const COLOURS = ["#2f86c2", "#d98a1f"];

/** A number in at most seven characters. */
const brief = (value) => (value !== 0 && (Math.abs(value) >= 1e5 || Math.abs(value) < 1e-2) ? value.toExponential(1)
  : String(Number(value.toPrecision(4))));

/** Draws the columns of samples into a canvas, with the numbers at its top and bottom; gaps (NaN) are left out. */
function draw(canvas, samples, columns) {
  const context = canvas.getContext("2d"), values = samples.flatMap((sample) => columns.map((column) => sample[column])).filter(Number.isFinite);
  context.clearRect(0, 0, WIDTH, HEIGHT);
  if (values.length === 0) return;
  const low = Math.min(...values, 0), high = Math.max(...values, low + 1e-9), span = Math.max(samples.length, FILLING) - 1;
  columns.forEach((column, k) => {
    context.strokeStyle = COLOURS[k];
    context.lineWidth = 1.5;
    context.beginPath();
    let pen = false;
    samples.forEach((sample, i) => {
      const y = HEIGHT - 3 - ((sample[column] - low) / (high - low)) * (HEIGHT - 6);
      if (!Number.isFinite(y)) pen = false;
      else context[pen ? "lineTo" : "moveTo"]((i / span) * WIDTH, y);
      if (Number.isFinite(y)) pen = true;
    });
    context.stroke();
  });
  Object.assign(context, { fillStyle: "#7d8790", font: "10px sans-serif", textAlign: "right" });
  context.fillText(brief(high), WIDTH - 3, 10);
  context.fillText(brief(low), WIDTH - 3, HEIGHT - 4);
}

export class Plots extends Side {
  #at = -Infinity;
  #waiting = false;
  #slowAt = -Infinity;
  #slow = SLOW;
  /** Counters of the step when they were asked for last. */
  #counters = null;

  constructor(root, button) {
    super(root, button);
    /** Samples, oldest first: {tick, and the columns of PLOTS}; NaN: not known. */
    this.samples = [];
    this.plots = PLOTS.map((plot) => {
      const figure = document.createElement("figure"), canvas = document.createElement("canvas"), text = document.createElement("figcaption");
      Object.assign(canvas, { width: WIDTH, height: HEIGHT });
      canvas.setAttribute("role", "img");
      text.textContent = `${plot.title}: no sample yet, they come with the world's ticks`;
      canvas.setAttribute("aria-label", text.textContent);
      figure.append(text, canvas);
      if (plot.commands) figure.className = "commands";
      root.querySelector("#figures").append(figure);
      return { ...plot, canvas, text };
    });
    root.querySelector("#export").onclick = () => save("cairn.csv", new Blob([this.csv()], { type: "text/csv" }));
  }

  clear() {
    this.samples = [];
    this.#slow = SLOW;
    this.#slowAt = -Infinity;
    this.#counters = null;
  }

  /** All samples as comma-separated values, the columns named in the first line. */
  csv() {
    return [COLUMNS, ...this.samples.map((sample) => COLUMNS.map((column) => (Number.isFinite(sample[column]) ? sample[column] : "")))]
      .map((row) => `${row.join(",")}\n`).join("");
  }

  /** The deepest overlap, mm, of the first contact points. */
  async #penetration(world) {
    const contacts = await world.contacts(0, POINTS_MAX);
    return contacts.reduce((most, { separation }) => Math.max(most, -separation * 1000), 0);
  }

  /** Residual, and mean time of the steps since the last question; the server tells roles that may command. */
  async #solver(world, mayCommand) {
    if (!mayCommand) return { residual: NaN, step_us: NaN };
    const { worlds } = await world.client.info("worlds"), facts = worlds.find(({ name }) => name === world.name);
    const counters = { ticks: facts.profiled_ticks, ns: Object.values(facts.stage_ns).reduce((sum, ns) => sum + ns, 0) };
    const before = this.#counters, ticks = counters.ticks - (before?.ticks ?? Infinity);
    this.#counters = counters;
    return { residual: facts.residual, step_us: ticks > 0 ? (counters.ns - before.ns) / 1000 / ticks : this.#slow.step_us };
  }

  async #refreshSlow(world, mayCommand, now) {
    if (now - this.#slowAt < SLOW_MS) return;
    this.#slowAt = now;
    const [penetration, solver] = await Promise.all([this.#penetration(world), this.#solver(world, mayCommand)]);
    this.#slow = { penetration, ...solver };
  }

  /** Called once per picture: takes a sample if one is due. */
  refresh(world, mirror, chosen, statistics, mayCommand, now) {
    if (!this.open || this.#waiting || now - this.#at < SAMPLE_MS) return;
    if (mirror.tick === this.samples.at(-1)?.tick) return;
    this.#at = now;
    this.#waiting = true;
    const { tick } = mirror, body = chosen === 0 ? null : mirror.body(chosen);
    const slow = this.#refreshSlow(world, mayCommand, now).catch(() => { this.#slow = SLOW; });
    Promise.all([world.totals(), slow]).then(([{ kinetic, potential, linear }]) => {
      // A restart begins the plots anew.
      if (tick < this.samples.at(-1)?.tick) this.clear();
      this.samples.push({ tick, kinetic, potential, momentum: Math.hypot(...linear),
        speed: body === null ? NaN : Math.hypot(...body.velocity), ...this.#slow, bandwidth: statistics.values.kilobits ?? NaN });
      if (this.samples.length > KEPT) this.samples.shift();
      this.#show();
    }, () => {}).finally(() => { this.#waiting = false; });
  }

  #show() {
    const last = this.samples.at(-1);
    for (const { title, unit, columns, canvas, text } of this.plots) {
      draw(canvas, this.samples, columns);
      text.textContent = `${title}: ${columns.map((column) => (Number.isFinite(last[column])
        ? `${columns.length > 1 ? `${column} ` : ""}${brief(last[column])} ${unit}` : "none")).join(", ")}`;
      canvas.setAttribute("aria-label", text.textContent);
    }
  }
}
