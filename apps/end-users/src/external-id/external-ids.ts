import { Clock, stepOf, type CommandEnvelope } from '@berth/kernel';
import { Injectable } from '@nestjs/common';
import { ExternalIdStreams } from './external-id.streams.js';
import { LookupKey } from './lookup-key.js';

/** Which end user has which external id, in all processes. */
@Injectable()
export class ExternalIds {
  constructor(
    private readonly streams: ExternalIdStreams,
    private readonly lookup: LookupKey,
    private readonly clock: Clock,
  ) {}

  /** Returns the id of the end user who has the external id; null if it is free. */
  async find(accountId: string, externalId: string): Promise<string | null> {
    const { state } = await this.streams.load(this.lookup.idOf(accountId, externalId));
    return state.kind === 'taken' ? state.endUserId : null;
  }

  /** Gives the external id to `endUserId` unless somebody other than `evicted` has it; returns who has it then. */
  async take(
    envelope: CommandEnvelope,
    { externalId, endUserId, evicted }: { externalId: string; endUserId: string; evicted: string | null },
  ): Promise<string> {
    const command = { type: 'Take', endUserId, evicted, now: this.clock.now() } as const;
    const id = this.lookup.idOf(envelope.accountId, externalId);
    const { state } = await this.streams.handle(id, command, stepOf(envelope, `take:${evicted ?? ''}`));
    // Released since an earlier attempt of the same command took it.
    return state.kind === 'taken' ? state.endUserId : endUserId;
  }

  /** Releases the external id if `endUserId` has it. */
  async release(envelope: CommandEnvelope, externalId: string, endUserId: string): Promise<void> {
    const id = this.lookup.idOf(envelope.accountId, externalId);
    const command = { type: 'Release', endUserId, now: this.clock.now() } as const;
    await this.streams.handle(id, command, stepOf(envelope, 'release'));
  }
}
