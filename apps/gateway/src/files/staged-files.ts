import { detach } from '@berth/kernel';
import { filesRequests } from '@berth/contracts/files';
import type { OpenedStage, StagedRef } from '@berth/contracts/hosting';
import { asWithoutEffect } from '@berth/kernel';
import { Requester } from '@berth/messaging';
import { Injectable } from '@nestjs/common';
import { CredentialWatch } from '../auth/credential-watch.js';
import type { ApiRequest } from '../http/fastify-types.js';
import { AgentTransfers } from './agent-transfer.js';
import type { Open } from '../hosts/fresh-ticket.js';
import { readIncoming } from './incoming-body.js';
import { UploadStaging } from './upload-staging.js';

/** Reads a body into a stage, piece by piece. */
export interface StageReader<Read> {
  push(chunk: Buffer): Promise<void> | undefined;
  finish(): Promise<Read> | Read;
  readonly failed?: Promise<never>;
}

/** A staged file, and the other parts of its body. */
export interface Received<Read> {
  readonly read: Read;
  readonly staged: StagedRef;
  /** Bytes. */
  readonly size: number;
}

/** The agent or computer that a file is for. */
export interface Receiver {
  readonly id: string;
  readonly openStage: Open<OpenedStage>;
}

/** Stages files while their bodies are read. */
@Injectable()
export class StagedFiles {
  constructor(
    private readonly requester: Requester,
    private readonly transfers: AgentTransfers,
    private readonly credentials: CredentialWatch,
  ) {}

  /**
   * Reads the body and passes the staged file on. Nothing stays staged when `reader` or `put` throws, the client
   * hangs up, `put` returns undefined, or the credential ends before the file is staged: then it throws that refusal.
   */
  async receive<Read, Result>(
    request: ApiRequest,
    { id, openStage }: Receiver,
    reader: (staging: UploadStaging) => StageReader<Read>,
    put: (received: Received<Read>) => Promise<Result | undefined>,
  ): Promise<Result | undefined> {
    const staging = new UploadStaging(this.transfers, openStage);
    const refused = Promise.withResolvers<never>();
    refused.promise.catch(() => undefined);
    using _watched = this.credentials.whileLong(request, refused.reject);
    let result: Result | undefined;
    let isStaged = false;
    try {
      const read = await readInto(request, staging, reader(staging), refused.promise);
      const staged = await Promise.race([staging.finish(), refused.promise]);
      isStaged = true;
      result = await put({ read, staged, size: staging.size });
      return result;
    } catch (error) {
      staging.abort(error instanceof Error ? error : new Error('receiving failed', { cause: error }));
      throw isStaged ? error : asWithoutEffect(error);
    } finally {
      if (result === undefined) detach(this.#discard(id, staging));
    }
  }

  /** The host removes what could not be discarded at the next start of the agent or computer. */
  async #discard(agentId: string, staging: UploadStaging): Promise<void> {
    const staged = await staging.staged;
    if (staged === undefined) return;
    await this.requester.request(filesRequests.discard, { agentId, staged }).catch(() => undefined);
  }
}

const readInto = async <Read>(
  { raw }: ApiRequest,
  staging: UploadStaging,
  reader: StageReader<Read>,
  refused: Promise<never>,
): Promise<Read> => {
  const failed = Promise.race([
    staging.failed,
    refused,
    ...(reader.failed === undefined ? [] : [reader.failed]),
  ]);
  await readIncoming(raw, { onChunk: (chunk) => reader.push(chunk), failed });
  return reader.finish();
};
