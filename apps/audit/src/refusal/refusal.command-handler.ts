import { createHash } from 'node:crypto';
import type { RecordRefusal } from '@berth/contracts/audit';
import { isoTime } from '@berth/kernel';
import { Injectable } from '@nestjs/common';
import { RefusalStreams } from './refusal.streams.js';

const MINUTE_MS = 60_000;

@Injectable()
export class RefusalCommandHandler {
  constructor(private readonly streams: RefusalStreams) {}

  /** Any number of gateways may report the same credential, route and minute. */
  async record({ accountId, actor, credentialId, route, code, at }: RecordRefusal): Promise<void> {
    const minute = String(Math.floor(at / MINUTE_MS));
    const id = streamIdOf([accountId, actor.kind, credentialId, route, minute]);
    await this.streams.handle(
      id,
      { route, code, at: isoTime(at) },
      { commandId: `refusal/${id}`, accountId, actor },
      { expectNew: true },
    );
  }
}

const streamIdOf = (parts: readonly string[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 40);
