import type { EnvValueBody } from '@berth/contracts/agents';

/** `isSecret` takes precedence over `secret`, the name that client libraries use. Null if both are absent. */
export const isSecret = (body: EnvValueBody): boolean | null => body.isSecret ?? body.secret ?? null;
