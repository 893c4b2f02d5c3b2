import type { Migration } from '@berth/persistence';
import { createAgentsTables } from './2026-11-21-agents.js';
import { createCreationsTable } from './2026-11-22-creations.js';
import { createEnvWrites } from './2026-11-22-env-writes.js';
import { addHostFigures } from './2026-11-22-hosts.js';
import { createAgentSeats } from './2026-11-23-agent-seats.js';
import { createAccountSuspensions } from './2026-11-23-account-suspensions.js';
import { createPersonalKeys } from './2026-11-23-personal-keys.js';
import { createEndUserSuspensions } from './2026-11-23-end-user-suspensions.js';
import { createNextWakes } from './2026-11-23-next-wakes.js';
import { createPolicies } from './2026-11-23-policies.js';
import { createWakeAdmissions } from './2026-11-23-wake-admissions.js';
import { measureVariables } from './2026-11-22-variable-sizes.js';

/** In the order in which they run. */
export const migrations: readonly Migration[] = [
  createAgentsTables,
  measureVariables,
  createCreationsTable,
  createEnvWrites,
  addHostFigures,
  createAccountSuspensions,
  createPersonalKeys,
  createEndUserSuspensions,
  createPolicies,
  createWakeAdmissions,
  createNextWakes,
  createAgentSeats,
];
