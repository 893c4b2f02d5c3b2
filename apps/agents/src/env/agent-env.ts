import type { EventCodec, StoredEvent } from '@berth/event-store';
import type { Decider } from '@berth/kernel';
import type { Personal } from '@berth/personal-data';

/** Changes of variables; only the vault contains their values. */
export type EnvEvent =
  | {
      readonly type: 'EnvVarSet.v2';
      readonly data: {
        readonly agentId: string;
        /** Its name. */
        readonly variable: Personal<string>;
        readonly isSecret: boolean;
        readonly at: string;
      };
    }
  | {
      readonly type: 'EnvVarRemoved.v2';
      readonly data: {
        readonly agentId: string;
        readonly variable: Personal<string>;
        readonly at: string;
      };
    };

export type EnvCommand =
  | {
      readonly type: 'Set';
      readonly agentId: string;
      readonly variable: Personal<string>;
      readonly isSecret: boolean;
      readonly at: string;
    }
  | {
      readonly type: 'Remove';
      readonly agentId: string;
      readonly variable: Personal<string>;
      readonly at: string;
    };

/** The vault decides; the stream records. */
export type AgentEnv = { readonly changes: number };

export const envDecider: Decider<AgentEnv, EnvCommand, EnvEvent> = {
  initial: { changes: 0 },
  decide: (command) => {
    const { agentId, variable, at } = command;
    return command.type === 'Set'
      ? [{ type: 'EnvVarSet.v2', data: { agentId, variable, isSecret: command.isSecret, at } }]
      : [{ type: 'EnvVarRemoved.v2', data: { agentId, variable, at } }];
  },
  evolve: ({ changes }) => ({ changes: changes + 1 }),
};

const isEnvEvent = (stored: { readonly type: string }): stored is EnvEvent =>
  stored.type === 'EnvVarSet.v2' || stored.type === 'EnvVarRemoved.v2';

/** Codec of the streams `agentEnv-agt_…`. */
export const envCodec: EventCodec<EnvEvent> = {
  category: 'agentEnv',
  toStored: (event) => ({ type: event.type, data: { ...event.data } }),
  fromStored: (stored) => {
    const current = upcast(stored);
    if (!isEnvEvent(current)) throw new Error(`An env stream holds an event of unknown type ${stored.type}.`);
    return current;
  },
};

/** Before end users had keys, the names of all variables were in plaintext. */
const upcast = (stored: StoredEvent): StoredEvent => {
  if (stored.type !== 'EnvVarSet' && stored.type !== 'EnvVarRemoved') return stored;
  const { key = '', ...data } = stored.data;
  return { type: `${stored.type}.v2`, data: { ...data, variable: { endUserId: null, data: key } } };
};
