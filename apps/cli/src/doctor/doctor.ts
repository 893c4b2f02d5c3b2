import { ConfigError, type Env, type RuntimeDriver } from '@berth/config';
import { assertPortFree } from '@berth/host-requirements';
import { containerChecks } from './container-checks.js';
import { readDoctorSettings, type DoctorSettings } from './doctor-settings.js';
import { failed, ok, type DoctorCheck } from './doctor-check.js';
import { folderChecks } from './folder-checks.js';
import { machineChecks } from './machine-checks.js';
import { partChecks } from './part-checks.js';
import { runningBerth } from './running-berth.js';

/**
 * Checks what Berth needs on this machine, in this environment; starts and changes nothing. `driver` takes the place of
 * BERTH_RUNTIME.
 */
export const examine = async (env: Env, driver?: RuntimeDriver): Promise<readonly DoctorCheck[]> => {
  const settings = settingsOrProblems(driver === undefined ? env : { ...env, BERTH_RUNTIME: driver });
  // Without settings most checks would not know what to look at.
  if ('problems' in settings) return settings.problems;
  const { isRunning, check: health } = await runningBerth(settings.url, settings.mustRun);
  const checks = await Promise.all([
    machineChecks(),
    portChecks(settings, isRunning),
    folderChecks(settings),
    settings.driver === 'nerdctl' ? containerChecks(settings.means) : [],
    partChecks(settings),
  ]);
  return [ok('configuration', `driver ${settings.driver}`), ...checks.flat(), health];
};

const settingsOrProblems = (env: Env): DoctorSettings | { readonly problems: readonly DoctorCheck[] } => {
  try {
    return readDoctorSettings(env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { problems: error.problems.map((problem) => failed('configuration', `${problem}.`)) };
  }
};

/** A running Berth itself has its ports. */
const portChecks = ({ ports }: DoctorSettings, isRunning: boolean): Promise<readonly DoctorCheck[]> =>
  Promise.all(
    ports.map(async ({ variable, host, port }) => {
      if (isRunning) return ok(variable, `${port}, while Berth runs`);
      try {
        await assertPortFree(port, host, variable);
        return ok(variable, `${port} is free`);
      } catch (error) {
        return failed(variable, error instanceof Error ? error.message : String(error));
      }
    }),
  );
