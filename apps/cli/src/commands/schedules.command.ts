import type { ScheduleView } from '@berth/contracts/schedules';
import { Command } from 'commander';
import type { ApiClient } from '../api-client.js';
import { findAgent } from '../find-agent.js';
import { scheduleTable } from '../output/schedule-table.js';
import type { Terminal } from '../terminal.js';

/** `berth schedules <agent>` */
export const schedulesCommand = (api: () => ApiClient, terminal: Terminal): Command =>
  new Command('schedules')
    .description('the times at which an agent wants to be woken')
    .argument('<agent>', 'id or name')
    .option('--json', 'print them as JSON, with their prompts')
    .action(async (agent: string, options: { readonly json?: true }) => {
      const client = api();
      const path = `/api/agents/${await findAgent(client, agent)}/schedules`;
      const { items } = await client.call<{ readonly items: readonly ScheduleView[] }>({
        method: 'GET',
        path,
      });
      terminal.out.write(
        options.json === true ? `${JSON.stringify(items, null, 2)}\n` : scheduleTable(items),
      );
    });
