import type { Writable } from 'node:stream';
import { FILE_LIMIT_BYTES } from '@berth/contracts/files';
import type { OpenedStage, StagedRef } from '@berth/contracts/hosting';
import { isDomainError, type ErrorKind } from '@berth/kernel';
import { payloadTooLarge } from '../http/error-response.js';
import { readText, type AgentTransfers } from './agent-transfer.js';
import { withFreshTicket, type Open } from '../hosts/fresh-ticket.js';
import { OutgoingBytes } from './outgoing-bytes.js';
import { agentUnavailable, transferLost } from '../http/transfer-refusal.js';

/** Kinds of errors over which a 400 takes precedence, although it is known only at the end of the body. */
const AFTER_BAD_REQUEST: ReadonlySet<ErrorKind> = new Set(['payment_required', 'conflict', 'exhausted']);

/** How long to wait for a response after the whole file was sent; includes waking the agent. */
const SILENCE_MS = 90_000;

/** The transfer of one file to its stage at the host, which discards an unfinished file. */
export class UploadStaging {
  readonly #bytes = new OutgoingBytes(() => this.#giveUp());
  readonly #cut = new AbortController();
  readonly #failed = Promise.withResolvers<never>();
  #sent: Promise<StagedRef> | undefined;
  #size = 0;

  constructor(
    private readonly transfers: AgentTransfers,
    private readonly open: Open<OpenedStage>,
  ) {
    this.#failed.promise.catch(() => undefined);
  }

  /** Bytes so far. */
  get size(): number {
    return this.#size;
  }

  /** Rejects as soon as the transfer is known to fail. */
  get failed(): Promise<never> {
    return this.#failed.promise;
  }

  /** Opens the stage; called once, with the first byte or for an empty file. */
  begin(): void {
    this.#sent = this.#send();
    this.#sent.catch((error: Error) => this.#fail(error));
  }

  /**
   * Takes bytes of the file; a returned promise resolves when more may come. With `isLast` nothing else uses the
   * underlying buffer. Throws 413 beyond the cap.
   */
  write(bytes: Uint8Array, isLast = false): Promise<void> | undefined {
    this.#size += bytes.length;
    if (this.#size > FILE_LIMIT_BYTES) throw payloadTooLarge(FILE_LIMIT_BYTES);
    return this.#bytes.write(bytes, isLast);
  }

  /** Ends the file and returns where it is staged, once the host has all of it. */
  async finish(): Promise<StagedRef> {
    if (this.#sent === undefined) this.begin();
    this.#bytes.end();
    const silent = setTimeout(() => this.#giveUp(), SILENCE_MS);
    try {
      return await (this.#sent ?? this.failed);
    } finally {
      clearTimeout(silent);
    }
  }

  /** Cancels the transfer: the host discards the partial file. No effect once the file is complete. */
  abort(reason: Error): void {
    this.#cut.abort(reason);
    this.#bytes.fail(reason);
  }

  /** Resolves with the staged file when the transfer has ended; with undefined if it failed. */
  get staged(): Promise<StagedRef | undefined> {
    return this.#sent?.catch(() => undefined) ?? Promise.resolve(undefined);
  }

  #send(): Promise<StagedRef> {
    return withFreshTicket(
      this.open,
      async (opened) => {
        const send = (body: Writable): void => this.#bytes.sendTo(body);
        const { status, body } = await this.transfers.put(opened, send, this.#cut.signal);
        const stored = storedSize(await readText(body));
        if (status > 299 || stored !== this.#size) {
          throw transferLost(
            new Error(`The host responded ${status} and has ${String(stored)} of ${this.#size} bytes.`),
          );
        }
        return opened.staged;
      },
      () => this.#bytes.rewind(),
    );
  }

  #giveUp(): void {
    this.#cut.abort(agentUnavailable(new Error('The host is silent.')));
  }

  #fail(error: Error): void {
    if (isDomainError(error) && AFTER_BAD_REQUEST.has(error.kind)) {
      this.#bytes.drop();
      return;
    }
    this.#bytes.fail(error);
    this.#failed.reject(error);
  }
}

const storedSize = (text: string): unknown => {
  try {
    const stored: unknown = JSON.parse(text);
    return typeof stored === 'object' && stored !== null && 'size' in stored ? stored.size : undefined;
  } catch {
    return undefined;
  }
};
