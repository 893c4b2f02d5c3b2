import { DomainError, type Decider } from '@berth/kernel';
import { evolve, type Host, type HostEvent } from './host.js';

/** The commands on a host. `at` is the current time, ISO 8601. */
export type HostCommand =
  | { readonly type: 'Join'; readonly hostId: string; readonly name: string; readonly at: string }
  | { readonly type: 'Drain' | 'Resume' | 'Remove'; readonly at: string };

const decide = (command: HostCommand, host: Host): readonly HostEvent[] => {
  const { at } = command;
  if (command.type === 'Join') {
    if (host.status === 'removed') throw hostRemoved();
    const { hostId, name } = command;
    return host.status === 'unknown' ? [{ type: 'HostJoined', data: { hostId, name, at } }] : [];
  }
  if (!('hostId' in host)) throw hostNotFound();
  const { hostId, status } = host;
  switch (command.type) {
    case 'Drain':
      return status === 'draining' ? [] : [{ type: 'HostDrained', data: { hostId, at } }];
    case 'Resume':
      return status === 'ready' ? [] : [{ type: 'HostResumed', data: { hostId, at } }];
    case 'Remove':
      return [{ type: 'HostRemoved', data: { hostId, at } }];
  }
};

export const hostNotFound = (): DomainError =>
  new DomainError('not_found', 'host_not_found', 'There is no host with this id.');

/** Only the removed host gets it. */
export const hostRemoved = (): DomainError =>
  new DomainError('conflict', 'host_removed', 'An operator has removed this host from the installation.');

/** The rules of a host: it joins once, and a removed one never returns. */
export const hostDecider: Decider<Host, HostCommand, HostEvent> = {
  initial: { status: 'unknown' },
  decide,
  evolve,
};
