/** The default name of an installation on its broker. */
export const DEFAULT_INSTANCE = 'berth';

const INSTANCE = /^[A-Za-z0-9_-]{1,32}$/;
const CONTEXT = /^[a-z][a-z0-9-]*$/;

/**
 * Maps the logical names of contracts to those on the broker: every subject, queue group and stream name contains the
 * name of the installation, so that several can share one broker. The only place with this mapping.
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

  /** Reverses `subject`; returns a subject of another installation unchanged. */
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

  /** The JetStream stream of a context's dead letters. */
  deadLetterStream(context: string): string {
    return `${this.instance}_DLQ_${streamPart(context)}`;
  }

  /** The JetStream stream with the claims on the installation's name, see `InstallationClaim`. */
  get presenceStream(): string {
    return `${this.instance}_PRESENCE`;
  }

  /** Prefix of all reply subjects of a service; only that service may subscribe there. */
  inboxPrefix(service: string): string {
    return `_INBOX.${this.instance}.${service}`;
  }
}

const streamPart = (context: string): string => {
  if (!CONTEXT.test(context)) throw new Error(`Not a context name: ${context}`);
  return context.replaceAll('-', '_').toUpperCase();
};
