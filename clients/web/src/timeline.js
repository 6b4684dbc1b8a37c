/**
 * The timeline: the past of the joined world, in the page's own subscription. Scrubbing and playing change nothing for others;
 * "Restart" and "Continue here" change the world, for roles that may command. Recordings of the world are shown in the same way.
 *
 * While the slider is moved, at most one SEEK is under way; the last position is sent when it is answered.
 */
const REFRESH_MS = 2000;
/** A mark nearer than this share of the bar to another one of its kind is left out. */
const MARK_APART = 0.004;

const element = (id) => document.getElementById(id);

export class Timeline {
  #link;
  #report;
  #direct;
  #outline = null;
  #at = 0;
  #busy = false;
  #wanted = null;
  #recordings = [];

  /** @param {object} parts {link, report(error), direct(on): the pictures show frames as they come} */
  constructor({ link, report, direct }) {
    this.#link = link;
    this.#report = report;
    this.#direct = direct;
    /** Where the subscription is: {epoch, tick, speed, first, last}; null: in the present. */
    this.where = null;
    this.open = false;
    /** The recording that is shown in place of the world's past; "": none. */
    this.source = "";
    element("source").onchange = ({ target }) => this.choose(target.value);
    element("past-epoch").onchange = ({ target }) => this.chooseEpoch(Number(target.value));
    element("moment").oninput = ({ target }) => this.seek(Number(target.value), 0);
    element("backward").onclick = () => this.play(-this.speed);
    element("forward").onclick = () => this.play(this.speed);
    element("earlier").onclick = () => this.seek(this.tick - 1, 0);
    element("later").onclick = () => this.seek(this.tick + 1, 0);
    element("halt").onclick = () => this.seek(this.tick, 0);
    element("live").onclick = () => this.seek(null, 0);
    element("restart").onclick = () => this.#change((world) => world.restart());
    element("resume-here").onclick = () => this.#change((world) => world.restore("", { tick: this.where.tick, epoch: this.where.epoch }));
  }

  /** World time per wall time, as chosen. */
  get speed() { return Number(element("past-speed").value); }

  /** The tick shown. */
  get tick() { return this.where === null ? this.#link.world?.tick ?? 0 : this.#link.mirror?.tick ?? this.where.tick; }

  toggle() {
    this.open = !this.open;
    element("timeline").hidden = !this.open;
    element("past").setAttribute("aria-expanded", this.open);
    this.#at = 0;
    if (!this.open && this.where !== null) this.seek(null, 0);
  }

  /** Another world was joined, or the session is new: the present is shown. */
  reset() {
    this.where = this.#wanted = this.#outline = null;
    this.source = "";
    this.#list([]);
    this.#busy = false;
    this.#at = 0;
    this.#direct(false);
  }

  /** Shows the beginning of a recording, or ("") the end of the past. */
  choose(source) {
    const back = this.#link.world?.tick ?? 0, first = this.#recordings.find(({ name }) => name === source)?.first;
    this.source = source;
    this.where = null;
    element("marks").replaceChildren();
    if (source === "") this.seek(back, 0);
    else this.seek(first?.tick ?? 0, 0, first?.epoch ?? 0);
  }

  /** Shows the beginning of an epoch; of a recording's, the server takes the nearest tick that it has. */
  chooseEpoch(epoch) {
    element("marks").replaceChildren();
    this.seek(this.source === "" ? this.#outline.epochs.find((each) => each.epoch === epoch).first : 0, 0, epoch);
  }

  /** The epochs of what is shown, ascending. */
  get epochs() {
    if (this.source === "") return (this.#outline?.epochs ?? []).map(({ epoch }) => epoch);
    const recording = this.#recordings.find(({ name }) => name === this.source);
    if (recording === undefined) return [];
    return Array.from({ length: recording.last.epoch - recording.first.epoch + 1 }, (_, i) => recording.first.epoch + i);
  }

  play(speed) {
    const { where } = this;
    // From an end, playing toward it begins at the other one.
    let from = this.tick;
    if (where !== null && speed > 0 && from >= where.last) from = where.first;
    if (where !== null && speed < 0 && from <= where.first) from = where.last;
    this.seek(from, speed);
  }

  /** Shows a tick, or plays from it; null: the present. Without an epoch it stays in the one that is shown. */
  seek(tick, speed, epoch = null) {
    this.#wanted = { tick: tick === null ? null : Math.max(Math.round(tick), 0), speed, epoch };
    if (!this.#busy) this.#send();
  }

  async #send() {
    const { world, subscription } = this.#link;
    const { tick, speed, epoch: wanted } = this.#wanted;
    this.#wanted = null;
    if (world === null || subscription === null) return;
    this.#busy = true;
    try {
      const epoch = tick === null ? 0 : wanted ?? this.where?.epoch ?? 0, recording = tick === null ? "" : this.source;
      this.take(await world.seek(subscription, tick, { speed, epoch, recording }));
    } catch (error) {
      this.#report(error);
    }
    this.#busy = false;
    if (this.#wanted !== null) this.#send();
  }

  /** SOUGHT: the subscription is at another place, or has stopped at an end. */
  take(where) {
    this.where = where.present ? null : where;
    if (where.present) this.source = element("source").value = "";
    this.#direct(this.where !== null);
    this.show();
  }

  /** Changes the world, then shows its present. */
  async #change(what) {
    try {
      await what(this.#link.world);
      this.seek(null, 0);
    } catch (error) {
      this.#report(error);
    }
  }

  /** Called for each picture. */
  refresh(now) {
    const { world } = this.#link;
    if (!this.open || world === null) return;
    this.show();
    if (now - this.#at < REFRESH_MS) return;
    this.#at = now;
    Promise.all([world.past(), world.recordings()]).then(([outline, recordings]) => {
      this.#outline = outline;
      element("timeline-why").textContent = "";
      this.#list(recordings.filter(({ running, bytes }) => !running && bytes > 0));
      this.#listEpochs();
      if (this.source === "") this.#drawMarks();
    }).catch((error) => { element("timeline-why").textContent = error.message; });
  }

  /** First and last tick of the bar. */
  get range() {
    const { world } = this.#link, newest = this.#outline?.epochs.at(-1);
    if (this.where !== null) return [this.where.first, Math.max(this.where.last, this.where.first + 1)];
    return [newest?.first ?? 0, Math.max(world?.tick ?? 0, (newest?.first ?? 0) + 1)];
  }

  show() {
    const [first, last] = this.range, { where, tick } = this, slider = element("moment");
    const rate = this.#link.world?.rate || 60, behind = (this.#link.world?.tick ?? tick) - tick;
    slider.min = first;
    slider.max = last;
    if (!(slider.matches(":active") && this.#busy)) slider.value = tick;
    if (where !== null) this.#listEpochs();
    element("where").textContent = where === null ? `live, tick ${tick}`
      : this.source !== "" ? `tick ${tick} of ${first} to ${last}` : `tick ${tick} of epoch ${where.epoch}, ${(Math.max(behind, 0) / rate).toFixed(1)} s ago`;
    element("timeline").dataset.state = where === null ? "live" : where.speed === 0 ? "still" : "plays";
    element("halt").disabled = where === null || where.speed === 0;
    element("live").disabled = where === null;
    element("resume-here").disabled = where === null || this.source !== "";
  }

  /** The recordings to choose from; what is chosen stays so. */
  #list(recordings) {
    const names = recordings.map(({ name }) => name), select = element("source");
    this.#recordings = recordings;
    if (this.source !== "" && !names.includes(this.source)) names.push(this.source);
    if ([...select.options].slice(1).map(({ value }) => value).join("/") !== names.join("/"))
      select.replaceChildren(select.options[0], ...names.map((name) => new Option(name, name)));
    select.value = this.source;
  }

  /** The epochs to choose from, where there are several: ticks of one are not those of another. */
  #listEpochs() {
    const epochs = this.epochs, select = element("past-epoch");
    select.parentElement.hidden = epochs.length < 2;
    if ([...select.options].map(({ value }) => value).join("/") !== epochs.join("/"))
      select.replaceChildren(...epochs.map((epoch) => new Option(epoch)));
    select.value = this.where?.epoch ?? epochs.at(-1) ?? "";
  }

  #drawMarks() {
    const [first, last] = this.range, epoch = this.where?.epoch ?? this.#outline.epochs.at(-1).epoch, seen = new Map();
    const marks = this.#outline.marks.filter((mark) => {
      const at = (mark.tick - first) / (last - first);
      if (mark.epoch !== epoch || !(at >= 0 && at <= 1)) return false;
      const near = (seen.get(mark.kind) ?? []).some((other) => Math.abs(other - at) < MARK_APART);
      if (!near) seen.set(mark.kind, [...(seen.get(mark.kind) ?? []), at]);
      return !near;
    });
    element("marks").replaceChildren(...marks.map((mark) => {
      const line = document.createElement("i");
      line.className = mark.kind;
      line.style.left = `${(100 * (mark.tick - first)) / (last - first)}%`;
      line.title = `${mark.kind} ${mark.text}, tick ${mark.tick}`;
      return line;
    }));
  }
}
