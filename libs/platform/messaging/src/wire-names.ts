/** The name of an installation on a broker that says nothing else. */
export const DEFAULT_INSTANCE = 'berth';

const INSTANCE = /^[A-Za-z0-9_-]{1,32}$/;
const CONTEXT = /^[a-z][a-z0-9-]*$/;

/**
 * What contracts call by logical names, as the broker knows it: every subject, queue group and stream carries the name
 * of the installation, so that several share one broker. The only place that maps between the two.
 */
export class WireNames {
  readonly #prefix: string;

  constructor(readonly instance: string = DEFAULT_INSTANCE) {
    if (!INSTANCE.test(instance))
      throw new Error('The name of an installation has 1 to 32 letters, digits, - and _.');
    this.#prefix = `${instance}.`;
  }

  /** `cmd.agents.create.v1` → `berth.cmd.agents.create.v1`; also for filters with `*` and `>`. */
  subject(logical: string): string {
    return this.#prefix + logical;
  }

  /** The way back; a subject of no installation, or of another, stays as it is. */
  logical(subject: string): string {
    return subject.startsWith(this.#prefix) ? subject.slice(this.#prefix.length) : subject;
  }

  queue(service: string): string {
    return this.#prefix + service;
  }

  /** The JetStream stream of a context's events. */
  eventStream(context: string): string {
    return `${this.instance}_EVT_${streamPart(context)}`;
  }

  /** The JetStream stream of what a context's consumers could not handle. */
  deadLetterStream(context: string): string {
    return `${this.instance}_DLQ_${streamPart(context)}`;
  }

  /** The JetStream stream of who uses the name right now. */
  get presenceStream(): string {
    return `${this.instance}_PRESENCE`;
  }

  /** What all reply subjects of a service begin with: nobody else may listen there. */
  inboxPrefix(service: string): string {
    return `_INBOX.${this.instance}.${service}`;
  }
}

const streamPart = (context: string): string => {
  if (!CONTEXT.test(context)) throw new Error(`Not a context name: ${context}`);
  return context.replaceAll('-', '_').toUpperCase();
};
