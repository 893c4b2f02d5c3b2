import { join } from 'node:path';
import { decideGiven } from '@berth/kernel';
import { describeGoldenEvents } from '@berth/testing';
import { describe, expect, it } from 'vitest';
import {
  viewerSessionCodec,
  viewerSessionDecider,
  type OpenedSession,
  type SessionEnd,
  type ViewerSessionCommand,
  type ViewerSessionEvent,
} from './viewer-session.js';

describeGoldenEvents(join(import.meta.dirname, '__events__'), viewerSessionCodec, {
  ViewerSessionOpened: true,
  ViewerSessionConnected: true,
  ViewerSessionEnded: true,
});

const at = '2026-11-28T10:00:00.000Z';
const session: OpenedSession = {
  ...{ sessionId: 'vws_1', computerId: 'cmp_1', accountId: 'acc_1', keyId: 'key_1', mode: 'view' },
  ...{ takeover: false, secretHash: 'ab', ttlSeconds: 60, expiresAt: '2026-11-28T10:01:00.000Z', at },
};
const about = { sessionId: 'vws_1', computerId: 'cmp_1', at };
const opened: ViewerSessionEvent = { type: 'ViewerSessionOpened', data: session };
const connected: ViewerSessionEvent = { type: 'ViewerSessionConnected', data: about };
const ended = (reason: SessionEnd): ViewerSessionEvent => ({
  type: 'ViewerSessionEnded',
  data: { ...about, reason },
});
const given = (history: readonly ViewerSessionEvent[], command: ViewerSessionCommand) =>
  decideGiven(viewerSessionDecider, history, command);

describe('a viewer session', () => {
  it('is opened once', () => {
    expect(given([], { type: 'Open', session }).events).toEqual([opened]);
    expect(given([opened], { type: 'Open', session }).events).toEqual([]);
  });

  it('is used up by its first socket', () => {
    expect(given([opened], { type: 'Connect', at }).events).toEqual([connected]);
    const used = { code: 'session_used', kind: 'forbidden' };
    expect(given([opened, connected], { type: 'Connect', at }).refusal).toMatchObject(used);
    expect(given([opened, connected, ended('socket')], { type: 'Connect', at }).refusal).toMatchObject(used);
  });

  it.each<[string, readonly ViewerSessionEvent[], string]>([
    ['was never opened', [], at],
    ['has ended', [opened, ended('closed')], at],
    ['has expired', [opened], session.expiresAt],
  ])('takes no socket when it %s', (_, history, now) => {
    expect(given(history, { type: 'Connect', at: now }).refusal).toMatchObject({ code: 'session_not_found' });
  });

  it('ends once, for the first reason', () => {
    expect(given([opened, connected], { type: 'End', reason: 'key', at }).events).toEqual([ended('key')]);
    expect(given([opened, ended('key')], { type: 'End', reason: 'socket', at }).events).toEqual([]);
    expect(given([], { type: 'End', reason: 'closed', at }).events).toEqual([]);
  });
});
