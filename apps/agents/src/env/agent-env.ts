import type { EventCodec } from '@berth/event-store';
import type { Decider } from '@berth/kernel';

/** Changes of variables; only the vault contains their values. */
export type EnvEvent =
  | {
      readonly type: 'EnvVarSet';
      readonly data: {
        readonly agentId: string;
        readonly key: string;
        readonly isSecret: boolean;
        readonly at: string;
      };
    }
  | {
      readonly type: 'EnvVarRemoved';
      readonly data: { readonly agentId: string; readonly key: string; readonly at: string };
    };

export type EnvCommand =
  | {
      readonly type: 'Set';
      readonly agentId: string;
      readonly key: string;
      readonly isSecret: boolean;
      readonly at: string;
    }
  | { readonly type: 'Remove'; readonly agentId: string; readonly key: string; readonly at: string };

export type AgentEnv = { readonly keys: readonly string[] };

export const envDecider: Decider<AgentEnv, EnvCommand, EnvEvent> = {
  initial: { keys: [] },
  decide: (command) => {
    const { agentId, key, at } = command;
    return command.type === 'Set'
      ? [{ type: 'EnvVarSet', data: { agentId, key, isSecret: command.isSecret, at } }]
      : [{ type: 'EnvVarRemoved', data: { agentId, key, at } }];
  },
  evolve: (state, event) => {
    const others = state.keys.filter((key) => key !== event.data.key);
    return { keys: event.type === 'EnvVarSet' ? [...others, event.data.key] : others };
  },
};

const isEnvEvent = (stored: { readonly type: string }): stored is EnvEvent =>
  stored.type === 'EnvVarSet' || stored.type === 'EnvVarRemoved';

/** Codec of the streams `agentEnv-agt_…`. */
export const envCodec: EventCodec<EnvEvent> = {
  category: 'agentEnv',
  toStored: (event) => ({ type: event.type, data: { ...event.data } }),
  fromStored: (stored) => {
    if (!isEnvEvent(stored)) throw new Error(`An env stream holds an event of unknown type ${stored.type}.`);
    return stored;
  },
};
