import { printable } from '../output/table.js';

/** `failed`: Berth does not start or does not work like this; `warning`: it works, but with less than it could. */
export type CheckResult = 'ok' | 'warning' | 'failed';

/** One thing that was checked. */
export interface DoctorCheck {
  readonly name: string;
  readonly result: CheckResult;
  /** The finding; unless all is well, also the remedy. */
  readonly text: string;
}

export const ok = (name: string, text: string): DoctorCheck => ({ name, result: 'ok', text });
export const warning = (name: string, text: string): DoctorCheck => ({ name, result: 'warning', text });
export const failed = (name: string, text: string): DoctorCheck => ({ name, result: 'failed', text });

const LABELS: Readonly<Record<CheckResult, string>> = { ok: 'ok', warning: 'warning', failed: 'FAILED' };

/** One line for each check. */
export const formatChecks = (checks: readonly DoctorCheck[]): string => {
  const width = Math.max(...checks.map(({ name }) => name.length));
  return checks
    .map(({ name, result, text }) =>
      `${LABELS[result].padEnd(7)}  ${printable(name).padEnd(width)}  ${printable(text)}`.trimEnd(),
    )
    .map((line) => `${line}\n`)
    .join('');
};
