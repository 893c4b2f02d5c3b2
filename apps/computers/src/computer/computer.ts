import type { ComputerEvent, Profile, SleepReason, StartCause, StopReason } from './computer-event.js';

export type {
  ComputerEvent,
  ComputerIdentity,
  Profile,
  SleepReason,
  StartCause,
  StopReason,
} from './computer-event.js';

/** The state of a computer. */
export type Life =
  | {
      readonly state: 'starting';
      readonly cause: StartCause;
      readonly thaw: boolean;
      readonly deadline: string;
    }
  | {
      readonly state: 'running';
      /** The last report of its host, once that is silent. */
      readonly seenAt?: string;
    }
  | { readonly state: 'stopping'; readonly reason: StopReason; readonly deadline: string }
  | { readonly state: 'sleeping'; readonly depth: 'warm' | 'cold'; readonly reason: SleepReason }
  | {
      readonly state: 'failed';
      readonly code: string;
      readonly message: string;
      /** Its state when its host was lost. */
      readonly was?: Life;
    };

export type StartingLife = Extract<Life, { readonly state: 'starting' }>;

export interface LiveComputer {
  readonly status: 'live';
  readonly computerId: string;
  readonly profile: Profile;
  readonly life: Life;
  readonly epoch: number;
  /** The host that holds its home folder. */
  readonly host: string;
  readonly since: string;
}

export type Computer =
  | { readonly status: 'absent' }
  | LiveComputer
  | {
      readonly status: 'deleting';
      readonly computerId: string;
      readonly accountId: string;
      readonly host: string;
    }
  | { readonly status: 'deleted' };

/** Applies one event. Pure: the same history always gives the same computer. */
export const evolve = (computer: Computer, event: ComputerEvent): Computer => {
  if (event.type === 'ComputerCreated') return created(event.data);
  if (event.type === 'ComputerDeleted') return { status: 'deleted' };
  if (computer.status !== 'live') return computer;
  return event.type === 'ComputerDeletionRequested' ? deleting(computer) : lived(computer, event);
};

type LifeEvent = Exclude<
  ComputerEvent,
  { readonly type: 'ComputerCreated' | 'ComputerDeletionRequested' | 'ComputerDeleted' }
>;

const lived = (computer: LiveComputer, event: LifeEvent): LiveComputer => {
  const { at, epoch } = event.data;
  const to = (life: Life): LiveComputer => ({ ...computer, epoch, life, since: at });
  switch (event.type) {
    case 'ComputerStarting': {
      const { host, cause, thaw, deadline } = event.data;
      return { ...to({ state: 'starting', cause, thaw, deadline }), host };
    }
    case 'ComputerStarted':
      return to({ state: 'running' });
    case 'ComputerStopping':
      return to({ state: 'stopping', reason: event.data.reason, deadline: event.data.deadline });
    case 'ComputerFellAsleep':
      return to({ state: 'sleeping', depth: event.data.depth, reason: event.data.reason });
    case 'ComputerFailed':
      return to(failedLife(computer, event.data));
    case 'ComputerUnseen':
      return computer.life.state === 'running'
        ? { ...computer, life: { state: 'running', seenAt: event.data.since } }
        : computer;
    case 'ComputerSleepRequested':
    case 'ComputerRanUnseen':
      return computer;
  }
};

const failedLife = (
  { life: was }: LiveComputer,
  { code, message }: { readonly code: string; readonly message: string },
): Life =>
  code === 'host_lost' ? { state: 'failed', code, message, was } : { state: 'failed', code, message };

const created = ({
  computerId,
  at,
  ...profile
}: Extract<ComputerEvent, { type: 'ComputerCreated' }>['data']): LiveComputer => ({
  status: 'live',
  computerId,
  profile,
  // The first start follows in the same append.
  life: { state: 'sleeping', depth: 'cold', reason: 'requested' },
  epoch: 0,
  host: '',
  since: at,
});

const deleting = ({ computerId, profile, host }: LiveComputer): Computer => ({
  status: 'deleting',
  computerId,
  accountId: profile.accountId,
  host,
});
