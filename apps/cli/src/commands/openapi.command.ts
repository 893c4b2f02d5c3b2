import { Command } from 'commander';
import type { ApiClient } from '../api-client.js';
import type { Terminal } from '../terminal.js';

/** `berth openapi` */
export const openapiCommand = (api: () => ApiClient, terminal: Terminal): Command =>
  new Command('openapi')
    .description('print the OpenAPI document of the running service (no key required)')
    .action(async () => {
      const document = await api().call<object>({ method: 'GET', path: '/openapi.json', anonymous: true });
      terminal.out.write(`${JSON.stringify(document, null, 2)}\n`);
    });
