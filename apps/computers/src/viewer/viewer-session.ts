import type { EventCodec } from '@berth/event-store';
import { DomainError, type Decider } from '@berth/kernel';
import type { ViewerMode } from '@berth/contracts/computers';

/** Why a session is over: closed by a request, its socket closed, expired, or with its computer, its key or its owner. */
export type SessionEnd = 'closed' | 'socket' | 'expired' | 'computer' | 'key' | 'suspended';

export interface OpenedSession {
  readonly sessionId: string;
  readonly computerId: string;
  readonly accountId: string;
  /** The key that made it. */
  readonly keyId: string;
  readonly mode: ViewerMode;
  readonly takeover: boolean;
  readonly secretHash: string;
  readonly ttlSeconds: number;
  readonly expiresAt: string;
  readonly at: string;
}

interface About {
  readonly sessionId: string;
  readonly computerId: string;
  readonly at: string;
}

/** The events of a viewer session. Times are ISO 8601. */
export type ViewerSessionEvent =
  | { readonly type: 'ViewerSessionOpened'; readonly data: OpenedSession }
  /** Its first and only socket. */
  | { readonly type: 'ViewerSessionConnected'; readonly data: About }
  | { readonly type: 'ViewerSessionEnded'; readonly data: About & { readonly reason: SessionEnd } };

export type ViewerSession =
  | { readonly status: 'absent' }
  | {
      readonly status: 'waiting' | 'open' | 'ended';
      readonly session: OpenedSession;
      /** Null before its first socket. */
      readonly openedAt: string | null;
    };

export type ViewerSessionCommand =
  | { readonly type: 'Open'; readonly session: OpenedSession }
  | { readonly type: 'Connect'; readonly at: string }
  | { readonly type: 'End'; readonly reason: SessionEnd; readonly at: string };

export const sessionNotFound = (): DomainError =>
  new DomainError('not_found', 'session_not_found', 'The viewer session is over, or never existed.');

/** Errors: forbidden `session_used`; not_found `session_not_found`. `at`: ISO 8601. */
export const requireUnused = (state: ViewerSession, at: string): OpenedSession => {
  if (state.status === 'absent') throw sessionNotFound();
  if (state.openedAt !== null)
    throw new DomainError(
      'forbidden',
      'session_used',
      'A socket of this viewer session was opened before. Create another session.',
    );
  if (state.status === 'ended' || Date.parse(state.session.expiresAt) <= Date.parse(at))
    throw sessionNotFound();
  return state.session;
};

const decide = (command: ViewerSessionCommand, state: ViewerSession): readonly ViewerSessionEvent[] => {
  switch (command.type) {
    case 'Open':
      return state.status === 'absent' ? [{ type: 'ViewerSessionOpened', data: command.session }] : [];
    case 'Connect': {
      const { sessionId, computerId } = requireUnused(state, command.at);
      return [{ type: 'ViewerSessionConnected', data: { sessionId, computerId, at: command.at } }];
    }
    case 'End': {
      if (state.status === 'absent' || state.status === 'ended') return [];
      const { sessionId, computerId } = state.session;
      const { reason, at } = command;
      return [{ type: 'ViewerSessionEnded', data: { sessionId, computerId, reason, at } }];
    }
  }
};

const evolve = (state: ViewerSession, event: ViewerSessionEvent): ViewerSession => {
  if (event.type === 'ViewerSessionOpened') return { status: 'waiting', session: event.data, openedAt: null };
  if (state.status === 'absent') return state;
  return event.type === 'ViewerSessionConnected'
    ? { ...state, status: 'open', openedAt: event.data.at }
    : { ...state, status: 'ended' };
};

/** The rules of a viewer session. */
export const viewerSessionDecider: Decider<ViewerSession, ViewerSessionCommand, ViewerSessionEvent> = {
  initial: { status: 'absent' },
  decide,
  evolve,
};

const TYPES: ReadonlySet<string> = new Set<ViewerSessionEvent['type']>([
  'ViewerSessionOpened',
  'ViewerSessionConnected',
  'ViewerSessionEnded',
]);

const isSessionEvent = (stored: { readonly type: string }): stored is ViewerSessionEvent =>
  TYPES.has(stored.type);

/** Codec of the streams `viewerSession-vws_…`. */
export const viewerSessionCodec: EventCodec<ViewerSessionEvent> = {
  category: 'viewerSession',
  toStored: (event) => ({ type: event.type, data: { ...event.data } }),
  fromStored: (stored) => {
    if (isSessionEvent(stored)) return stored;
    throw new Error(`The stream of a viewer session holds an event of unknown type ${stored.type}.`);
  },
};
