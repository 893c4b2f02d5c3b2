import { randomUUID } from 'node:crypto';
import { pause } from '@berth/supervision';
import type { Logger } from '@berth/telemetry';
import {
  JetStreamApiCodes,
  jetstreamManager,
  RetentionPolicy,
  StorageType,
  type JetStreamManager,
  type JetStreamPublishOptions,
} from '@nats-io/jetstream';
import { holderSubject, readHolder, type InstallationHolder } from './installation-holder.js';
import { isApiError, isNoStreamError } from './jetstream-errors.js';
import type { NatsLink } from './nats-link.js';
import { ensureStream } from './replicated-stream.js';

/** An installation that does not refresh its claim for this long loses its name. */
export const SILENT_MS = 30_000;
const REFRESH_EVERY_MS = 8_000;
const API_TIMEOUT_MS = 4_000;
const PUBLISH_ATTEMPTS = 10;
const PUBLISH_PAUSE_MS = 100;

/** Another installation, with another event log, currently uses the name. */
export class InstanceTaken extends Error {
  override readonly name = 'InstanceTaken';

  constructor(readonly instance: string) {
    super(`The name ${instance} is used on this broker by another installation.`);
  }
}

export interface InstallationClaimOptions {
  readonly link: NatsLink;
  /** The identity of this installation's event log, see `logIdentity`. */
  readonly logId: string;
  readonly log: Logger;
  /** Called when another installation has taken the name and the link is closed. */
  readonly onLost?: () => void;
  readonly silentMs?: number;
  readonly refreshEveryMs?: number;
}

/**
 * Holds the installation's name on the broker against installations with another event log. The record of the owner
 * expires unless one of the owner's processes refreshes it; the last process that stops cleanly removes it. Only the
 * broker's clock counts.
 */
export class InstallationClaim {
  readonly #owner: string;
  readonly #member: string;
  readonly #members: string;
  readonly #stream: string;
  #timer: NodeJS.Timeout | undefined;
  #refreshing: Promise<void> = Promise.resolve();
  #ended = false;

  private constructor(
    private readonly manager: JetStreamManager,
    private readonly options: InstallationClaimOptions,
  ) {
    const { names } = options.link;
    this.#stream = names.presenceStream;
    this.#owner = holderSubject(names);
    this.#members = names.subject(`presence.member.${options.logId}`);
    this.#member = `${this.#members}.${randomUUID()}`;
  }

  /**
   * Takes the name, or joins processes of the same log that hold it, and keeps it until the link closes. Throws
   * `InstanceTaken` when an installation with another log holds it.
   */
  static async take(options: InstallationClaimOptions): Promise<InstallationClaim> {
    const { link, refreshEveryMs = REFRESH_EVERY_MS } = options;
    const manager = await jetstreamManager(link.connection, { checkAPI: false, timeout: API_TIMEOUT_MS });
    const claim = new InstallationClaim(manager, options);
    await claim.#hold().catch(async (error: unknown) => {
      await manager.streams.purge(claim.#stream, { filter: claim.#member }).catch(() => undefined);
      throw error;
    });
    claim.#timer = setInterval(() => claim.#refresh(), refreshEveryMs).unref();
    link.beforeClose(() => claim.release());
    return claim;
  }

  /** Releases the name; it is free immediately if this was the installation's last process. */
  async release(): Promise<void> {
    if (this.#ended) return;
    this.#ended = true;
    clearInterval(this.#timer);
    await this.#refreshing;
    await this.manager.streams.purge(this.#stream, { filter: this.#member });
    const { state } = await this.manager.streams.info(this.#stream, {
      subjects_filter: `${this.#members}.>`,
    });
    const isLast = Object.keys(state.subjects ?? {}).length === 0;
    if (isLast && (await this.#holder())?.logId === this.options.logId)
      await this.manager.streams.purge(this.#stream, { filter: this.#owner });
  }

  #refresh(): void {
    const { log, link, onLost } = this.options;
    this.#refreshing = this.#refreshing
      .then(() => (link.connected && !this.#ended ? this.#hold() : undefined))
      .catch(async (error: unknown) => {
        if (!(error instanceof InstanceTaken)) {
          log.warn({ err: error }, 'Could not refresh the claim on the name of the installation.');
          return;
        }
        // This process was cut off for longer than the claim lasts. Continuing would mix two installations.
        log.fatal({ instance: error.instance }, `${error.message} This one stops using the broker.`);
        this.#ended = true;
        clearInterval(this.#timer);
        await link.close();
        onLost?.();
      });
  }

  async #hold(): Promise<void> {
    const { logId, link } = this.options;
    await this.#ensureStream();
    // Before the owner is read, so that a process that stops in the meantime does not conclude that it is the last.
    await this.#publish(this.#member);
    for (;;) {
      const holder = await this.#holder();
      if (holder !== null && holder.logId !== logId) throw new InstanceTaken(link.names.instance);
      if (await this.#publishAfter(holder?.sequence ?? 0)) return;
    }
  }

  #holder(): Promise<InstallationHolder | null> {
    return readHolder(this.manager, this.options.link.names);
  }

  /** Returns false when another process was faster. */
  async #publishAfter(sequence: number): Promise<boolean> {
    try {
      await this.#publish(this.#owner, { lastSubjectSequence: sequence });
      return true;
    } catch (error) {
      const { StreamWrongLastSequence, StreamWrongLastSequenceUnknown } = JetStreamApiCodes;
      if (isApiError(error, StreamWrongLastSequence, StreamWrongLastSequenceUnknown)) return false;
      throw error;
    }
  }

  // While another process creates the stream, the server already returns it but does not store messages in it yet.
  async #publish(subject: string, expect: JetStreamPublishOptions['expect'] = {}): Promise<void> {
    const options = { expect, timeout: API_TIMEOUT_MS };
    for (let attempt = 1; ; attempt++) {
      try {
        await this.manager.jetstream().publish(subject, this.options.logId, options);
        return;
      } catch (error) {
        if (!isNoStreamError(error) || attempt === PUBLISH_ATTEMPTS) throw error;
        await pause(PUBLISH_PAUSE_MS);
      }
    }
  }

  // A broker that lost its store has no stream.
  async #ensureStream(): Promise<void> {
    await ensureStream(this.manager, this.options.link, {
      name: this.#stream,
      subjects: [this.options.link.names.subject('presence.>')],
      storage: StorageType.File,
      retention: RetentionPolicy.Limits,
      max_msgs_per_subject: 1,
      max_age: (this.options.silentMs ?? SILENT_MS) * 1_000_000,
    });
  }
}
