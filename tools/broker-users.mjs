// Prints the `authorization` block for your own NATS: one user for each service, with only the permissions it needs.
// node tools/broker-users.mjs [--instance NAME] [--host hst_…]… ; replace the passwords or set the variables.
import { parseArgs } from 'node:util';
import {
  authorizationBlock,
  passwordVariableOf,
  permissionsOf,
} from '../libs/platform/broker-users/src/broker-permissions.ts';
import { SERVICE_ACCESS } from '../libs/platform/broker-users/src/service-access.ts';

const { values } = parseArgs({
  options: {
    instance: { type: 'string', default: 'berth' },
    host: { type: 'string', multiple: true, default: [] },
  },
});
const { instance, host: hosts } = values;
const users = Object.entries(SERVICE_ACCESS).map(([user, access]) => ({
  user,
  password: `$${passwordVariableOf(user)}`,
  permissions: permissionsOf(user, access, { instance, hosts }),
}));
process.stdout.write(`${authorizationBlock(users)}\n`);
