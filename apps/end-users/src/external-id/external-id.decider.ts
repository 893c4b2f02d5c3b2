import { isoTime, type Decider } from '@berth/kernel';

/** The last event of a stream `endUserExternalId-<hash>` shows who has the external id. */
export type ExternalIdEvent =
  | { readonly type: 'ExternalIdTaken'; readonly endUserId: string; readonly takenAt: string }
  | { readonly type: 'ExternalIdReleased'; readonly endUserId: string; readonly releasedAt: string };

export type ExternalId = { readonly kind: 'free' } | { readonly kind: 'taken'; readonly endUserId: string };

/** `now`: milliseconds since the Unix epoch. */
export type ExternalIdCommand =
  /** Has no effect while another end user has it, except the deleted one that is named as `evicted`. */
  | {
      readonly type: 'Take';
      readonly endUserId: string;
      readonly evicted: string | null;
      readonly now: number;
    }
  | { readonly type: 'Release'; readonly endUserId: string; readonly now: number };

const take = (
  { endUserId, evicted, now }: Extract<ExternalIdCommand, { type: 'Take' }>,
  state: ExternalId,
): readonly ExternalIdEvent[] =>
  state.kind === 'taken' && state.endUserId !== evicted
    ? []
    : [{ type: 'ExternalIdTaken', endUserId, takenAt: isoTime(now) }];

export const externalIdDecider: Decider<ExternalId, ExternalIdCommand, ExternalIdEvent> = {
  initial: { kind: 'free' },
  decide: (command, state) => {
    if (command.type === 'Take') return take(command, state);
    const { endUserId, now } = command;
    const holds = state.kind === 'taken' && state.endUserId === endUserId;
    return holds ? [{ type: 'ExternalIdReleased', endUserId, releasedAt: isoTime(now) }] : [];
  },
  evolve: (_state, event) =>
    event.type === 'ExternalIdReleased' ? { kind: 'free' } : { kind: 'taken', endUserId: event.endUserId },
};
