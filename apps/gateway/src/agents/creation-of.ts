import type { CreateAgent, CreateAgentBody, EnvVarBody, ResourcesBody } from '@berth/contracts/agents';
import type { CommandEnvelope } from '@berth/kernel';
import { isSecret } from '../env/is-secret.js';

/** Converts the body of a creation; members that it omits become null or empty. */
export const creationOf = (
  body: Omit<CreateAgentBody, 'externalUserId'>,
): Omit<CreateAgent, keyof CommandEnvelope | 'externalUserId'> => ({
  name: body.name,
  templateId: body.templateId,
  externalId: body.externalId ?? null,
  instructions: body.instructions ?? null,
  idleTtlSeconds: body.idleTtlSeconds ?? null,
  labels: body.labels ?? {},
  env: envOf(body.env),
  resources: withoutNulls(body.resources ?? {}),
});

const envOf = (env: CreateAgentBody['env']): CreateAgent['env'] => {
  if (env === undefined || env === null) return [];
  if (isList(env))
    return env.map((item) => ({ key: item.key, value: item.value, isSecret: isSecret(item) ?? false }));
  return Object.entries(env).map(([key, value]) => ({ key, value, isSecret: false }));
};

const isList = (env: NonNullable<CreateAgentBody['env']>): env is readonly EnvVarBody[] => Array.isArray(env);

const withoutNulls = ({ memMb, vcpus, diskGb }: ResourcesBody): CreateAgent['resources'] => {
  return {
    ...(memMb === undefined || memMb === null ? {} : { memMb }),
    ...(vcpus === undefined || vcpus === null ? {} : { vcpus }),
    ...(diskGb === undefined || diskGb === null ? {} : { diskGb }),
  };
};
