import type { Policy } from '@berth/contracts/schema';
import { formatTable } from './table.js';

/** One line for each member that the policy has. */
export const policyTable = (policy: Policy): string =>
  formatTable(
    ['POLICY', 'VALUE'],
    Object.entries(policy).map(([member, value]) => [member, String(value)]),
  );
