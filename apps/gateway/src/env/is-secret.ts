import type { EnvValueBody } from '@berth/contracts/agents';

/** `isSecret` wins; `secret` is the name client libraries use. Null when neither is given. */
export const isSecret = (body: EnvValueBody): boolean | null => body.isSecret ?? body.secret ?? null;
