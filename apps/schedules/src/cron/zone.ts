/** Names of the IANA database: `Europe/Berlin`, `UTC`, `Etc/GMT+3`; not `+02:00`, `EST5EDT-1` or a number. */
const ZONE_NAME = /^[A-Za-z][A-Za-z0-9_+-]*(?:\/[A-Za-z0-9_+-]+)*$/;

/** A time zone. Local times are written as milliseconds of the same date and time in UTC. */
export class Zone {
  static readonly #known = new Map<string, Zone | undefined>();
  readonly #format: Intl.DateTimeFormat;

  private constructor(readonly name: string) {
    this.#format = new Intl.DateTimeFormat('en-US', {
      timeZone: name,
      calendar: 'iso8601',
      numberingSystem: 'latn',
      hourCycle: 'h23',
      era: 'short',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
  }

  /** Returns undefined unless `name` is the name of an IANA zone. */
  static named(name: string): Zone | undefined {
    if (!this.#known.has(name)) {
      // Names come from agents, so their number has no other bound.
      if (this.#known.size >= MAX_KNOWN) this.#known.clear();
      this.#known.set(name, this.#find(name));
    }
    return this.#known.get(name);
  }

  static #find(name: string): Zone | undefined {
    if (!ZONE_NAME.test(name)) return undefined;
    try {
      return new Zone(name);
    } catch {
      return undefined;
    }
  }

  /** Local time at an instant, to the second. */
  localAt(instant: number): number {
    const field: Partial<Record<Intl.DateTimeFormatPartTypes, number>> = {};
    for (const { type, value } of this.#format.formatToParts(instant)) field[type] = Number(value);
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = field;
    return Date.UTC(year, month - 1, day, hour, minute, second);
  }

  /** Local time minus UTC, in milliseconds. */
  offsetAt(instant: number): number {
    const whole = Math.floor(instant / 1000) * 1000;
    return this.localAt(whole) - whole;
  }

  /** The instants that have this local time: none if the zone skips it, two if it repeats it; in order. */
  instantsOf(local: number): readonly number[] {
    const offsets = new Set([this.offsetAt(local - DAY_MS), this.offsetAt(local + DAY_MS)]);
    return [...offsets]
      .map((offset) => local - offset)
      .filter((instant) => this.localAt(instant) === local)
      .sort((one, other) => one - other);
  }

  /** The first instant with this local time; for one that the zone skips, the moment of the change. */
  firstInstantOf(local: number): number {
    const [first] = this.instantsOf(local);
    return first ?? this.#changeBefore(local);
  }

  /** The first instant whose local time is later than `local`, which the zone skips. */
  #changeBefore(local: number): number {
    let before = local - this.offsetAt(local - DAY_MS) - DAY_MS;
    let after = before + 2 * DAY_MS;
    while (after - before > 1) {
      const middle = Math.floor((before + after) / 2);
      if (this.localAt(Math.floor(middle / 1000) * 1000) > local) after = middle;
      else before = middle;
    }
    return after;
  }
}

/** Longer than any clock change: no zone is further from UTC. */
const DAY_MS = 86_400_000;
const MAX_KNOWN = 1_000;
