import { isoTime, type Decider } from '@berth/kernel';
import { evolveInstallation, type InstallationEvent, type InstallationState } from './installation.js';

export type InstallationCommand =
  | { readonly type: 'Begin'; readonly accountId: string; readonly keyId: string; readonly now: number }
  | { readonly type: 'Finish'; readonly now: number };

export const installationDecider: Decider<InstallationState, InstallationCommand, InstallationEvent> = {
  initial: { kind: 'fresh' },
  decide: (command, state) => {
    if (command.type === 'Begin') {
      if (state.kind !== 'fresh') return [];
      const { accountId, keyId, now } = command;
      return [{ type: 'InstallationBegun', accountId, keyId, begunAt: isoTime(now) }];
    }
    if (state.kind === 'fresh') throw new Error('The installation cannot finish before it has begun.');
    return state.kind === 'finished'
      ? []
      : [{ type: 'InstallationFinished', finishedAt: isoTime(command.now) }];
  },
  evolve: evolveInstallation,
};
