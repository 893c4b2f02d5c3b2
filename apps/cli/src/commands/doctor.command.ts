import type { Env } from '@berth/config';
import { Command, Option } from 'commander';
import { CliError, EXIT } from '../cli-error.js';
import { examine } from '../doctor/doctor.js';
import { formatChecks } from '../doctor/doctor-check.js';
import type { Terminal } from '../terminal.js';

interface DoctorOptions {
  readonly json?: true;
  readonly driver?: 'process' | 'nerdctl';
}

/** `berth doctor` */
export const doctorCommand = (env: Env, terminal: Terminal): Command =>
  new Command('doctor')
    .description('check what Berth needs on this machine; starts nothing and needs no running Berth')
    .option('--json', 'print the checks as JSON')
    .addOption(new Option('--driver <driver>', 'instead of BERTH_RUNTIME').choices(['process', 'nerdctl']))
    .action(async ({ json, driver }: DoctorOptions) => {
      const checks = await examine(env, driver);
      const failures = checks.filter(({ result }) => result === 'failed').length;
      const report = { ok: failures === 0, checks };
      terminal.out.write(json === true ? `${JSON.stringify(report, null, 2)}\n` : formatChecks(checks));
      if (failures > 0)
        throw new CliError(EXIT.unsuitableHost, `${failures} of ${checks.length} checks failed.`);
    });
