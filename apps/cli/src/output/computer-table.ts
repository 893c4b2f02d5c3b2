import type { ComputerUsageReport } from '@berth/contracts/billing';
import type { ComputerView } from '@berth/contracts/computers';
import { formatTable } from './table.js';

/** One line for each computer. */
export const computerTable = (computers: readonly ComputerView[]): string =>
  formatTable(
    ['ID', 'NAME', 'STATUS', 'END USER', 'DISPLAY', 'LAST ACTIVE'],
    computers.map(({ id, name, status, externalUserId, display, lastActiveAt }) => [
      id,
      name ?? '-',
      status,
      externalUserId ?? '-',
      `${display.width}x${display.height}`,
      lastActiveAt,
    ]),
  );

/** The members of a computer. */
export const computerDetail = (computer: ComputerView): string => {
  const { display, resources, idleTtlSeconds } = computer;
  return formatTable(
    ['COMPUTER', computer.id],
    [
      ['name', computer.name ?? '-'],
      ['status', computer.status],
      ['end user', computer.externalUserId ?? '-'],
      ['display', `${display.width}x${display.height}`],
      ['resources', `${resources.memMb} MB, ${resources.vcpus} vCPUs, ${resources.diskGb} GB`],
      ['sleeps after', idleTtlSeconds === 0 ? 'never' : `${idleTtlSeconds} s`],
      ['created', computer.createdAt],
      ['last active', computer.lastActiveAt],
      ['sleeps at', computer.sleepAt ?? '-'],
    ],
  );
};

/** One line for each computer, and the sums. */
export const computerUsageTable = ({ rows, totals }: ComputerUsageReport): string =>
  formatTable(
    [
      ...['COMPUTER', 'NAME', 'END USER', 'ACTIVE SECONDS', 'WAKES', 'ACTIONS', 'SCREENSHOTS'],
      ...['EXECUTIONS', 'TOTAL CENTS'],
    ],
    [
      ...rows.map((row) => [row.computerId, row.name ?? '-', row.externalUserId ?? '-', ...figuresOf(row)]),
      ['together', '-', '-', ...figuresOf(totals)],
    ],
  );

const figuresOf = (figures: ComputerUsageReport['totals']): readonly string[] =>
  [
    figures.activeSeconds,
    figures.wakes,
    figures.actions,
    figures.screenshots,
    figures.executions,
    figures.totalCents,
  ].map(String);
