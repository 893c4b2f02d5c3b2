import type { ProjectionRunner } from '@berth/event-store';
import type { CommandEnvelope } from '@berth/kernel';
import { InjectProjection } from '@berth/service';
import { Injectable } from '@nestjs/common';
import { COMPUTER_LIST } from '../computer-list/computer-list.projection.js';
import type { ViewerSession, ViewerSessionCommand, ViewerSessionEvent } from './viewer-session.js';
import { ViewerSessionStreams } from './viewer-session.streams.js';

/** Executes commands on viewer sessions, and waits (bounded) until the list shows the result. */
@Injectable()
export class ViewerSessionLog {
  constructor(
    private readonly streams: ViewerSessionStreams,
    @InjectProjection(COMPUTER_LIST) private readonly list: Pick<ProjectionRunner, 'waitFor'>,
  ) {}

  async load(sessionId: string): Promise<ViewerSession> {
    return (await this.streams.load(sessionId)).state;
  }

  async handle(
    sessionId: string,
    command: ViewerSessionCommand,
    origin: CommandEnvelope,
  ): Promise<{ readonly state: ViewerSession; readonly events: readonly ViewerSessionEvent[] }> {
    const { state, events, position } = await this.streams.handle(sessionId, command, origin);
    if (position !== null) await this.list.waitFor(position);
    return { state, events };
  }
}
